import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import type { IndexBatch, ReplaySource, SearchHit } from '../../../src/engine/search/ports.js'
import { decodeHalfInto, encodeHalf } from '../../../src/engine/store/half.js'
import { analyzeQuery } from '../../../src/lib/text/analyze.js'
import { ROOT } from '../daemon.js'
import { CANDIDATES, fuse, type PeerEngine, TOP } from './engine.js'
import { BATCH, type BenchDocument, DIMENSION } from './workload.js'

const SPACE = 'bench'
const VECTOR_SPACE = 'bench/given'
/** Batches whose index work may be under way while the next is stored. */
const MAX_CONCURRENT_BATCHES = 4
/** Below this an index works without a graph. */
const MIN_GRAPH_VECTORS = 40_000

/** Rows in SQLite as the product keeps them (WAL, FULL, vectors as half precision), indexes in the index process. */
export async function openOurs(folder: string): Promise<PeerEngine> {
  const db = openDatabase(join(folder, 'main.sqlite'))
  const insertNode = db.prepare('INSERT INTO nodes(key, title, text) VALUES (?, ?, ?)')
  const insertVector = db.prepare('INSERT INTO vectors(key, vector) VALUES (?, ?)')
  const readNode = db.prepare<[number], { title: string; text: string }>('SELECT title, text FROM nodes WHERE key = ?')
  const store = db.transaction((documents: BenchDocument[]) => {
    for (const { key, title, text, vector } of documents) {
      insertNode.run(key, title, text)
      insertVector.run(key, encodeHalf(vector))
    }
  })
  let seq = 0
  const source = createReplaySource(db, () => seq)
  // The compiled product, because its processes and threads start files beside it.
  const url = pathToFileURL(join(ROOT, 'dist', 'engine', 'search', 'indexes.js')).href
  const { createSearchIndexes }: typeof import('../../../src/engine/search/indexes.js') = await import(url)
  const indexes = createSearchIndexes({ dir: join(folder, 'indexes'), source })
  const running: Promise<void>[] = []
  let stored = 0

  return {
    async add(documents) {
      store(documents)
      stored += documents.length
      seq++
      const add = documents.map(({ key, title, text, vector }) => ({ key, doc: key, title, body: text, vector }))
      running.push(indexes.follow(SPACE, seq, { first: seq, seq, add, remove: [], vectorSpace: VECTOR_SPACE }))
      if (running.length > MAX_CONCURRENT_BATCHES) await running.shift()
    },
    async waitUntilSearchable() {
      await Promise.all(running.splice(0))
      await indexes.settle(SPACE)
      const status = await indexes.status(SPACE)
      if (status.textCount !== stored || status.vectorCount !== stored) throw new Error(JSON.stringify(status))
    },
    async waitUntilSettled() {
      while (stored >= MIN_GRAPH_VECTORS && (await indexes.status(SPACE)).graphCount < stored) await sleep(20)
    },
    async searchHybrid({ text, vector }) {
      const { hits } = await indexes.search(SPACE, {
        terms: analyzeQuery(text),
        vector,
        vectorSpace: VECTOR_SPACE,
        textK: CANDIDATES,
        vectorK: CANDIDATES,
      })
      const keys = fuse(sortKeysByScore(hits, 'bm25'), sortKeysByScore(hits, 'cosine').slice(0, CANDIDATES))
      for (const key of keys) if (readNode.get(key) === undefined) throw new Error(`node ${key} is gone`)
      return keys
    },
    async searchNearest(vector) {
      const legs = { terms: [], vector, vectorSpace: VECTOR_SPACE, textK: 1, vectorK: TOP }
      return sortKeysByScore((await indexes.search(SPACE, legs)).hits, 'cosine')
    },
    childPid: () => indexes.pid(),
    async close() {
      await indexes.close()
      db.close()
    },
  }
}

function sortKeysByScore(hits: readonly SearchHit[], score: 'bm25' | 'cosine'): number[] {
  return hits
    .filter((hit) => hit[score] !== undefined)
    .sort((a, b) => (b[score] ?? 0) - (a[score] ?? 0))
    .map(({ key }) => key)
}

function openDatabase(path: string): Database.Database {
  const db = new Database(path)
  db.pragma('page_size = 8192')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec(`
    CREATE TABLE nodes(key INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL);
    CREATE TABLE vectors(key INTEGER PRIMARY KEY, vector BLOB NOT NULL);`)
  return db
}

/** Batch n holds the keys after (n - 1) x 500. */
function createReplaySource(db: Database.Database, getHead: () => number): ReplaySource {
  const nodes = db.prepare<[number, number], { key: number; title: string; text: string }>(
    'SELECT key, title, text FROM nodes WHERE key > ? AND key <= ?',
  )
  const vectors = db.prepare<[number, number], { key: number; vector: Uint8Array }>(
    'SELECT key, vector FROM vectors WHERE key > ? AND key <= ?',
  )
  const count = (table: 'nodes' | 'vectors'): number =>
    Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get())
  return {
    inSpace: (_space, work) => work(),
    head: async () => ({ seq: getHead(), vectorSpace: VECTOR_SPACE, dimension: DIMENSION }),
    oldestEntry: async () => 1,
    expectedCounts: async () => ({
      seq: getHead(),
      nodes: getHead() * BATCH,
      vectorSpace: VECTOR_SPACE,
      vectors: getHead() * BATCH,
    }),
    countRows: async () => ({
      seq: getHead(),
      nodes: count('nodes'),
      vectorSpace: VECTOR_SPACE,
      vectors: count('vectors'),
    }),
    async *changes(_space, after, to): AsyncIterable<IndexBatch> {
      for (let seq = after + 1; seq <= (after === 0 ? getHead() : to); seq++) {
        const rows = nodes.all((seq - 1) * BATCH, seq * BATCH)
        yield { seq, add: rows.map(({ key, title, text }) => ({ key, doc: key, title, body: text })), remove: [] }
      }
    },
    async *vectors(_space, vectorSpace) {
      for (let seq = 1; seq <= getHead(); seq++) {
        const rows = vectors.all((seq - 1) * BATCH, seq * BATCH)
        const block = new Float32Array(rows.length * DIMENSION)
        rows.forEach(({ vector }, index) => {
          decodeHalfInto(vector, block, index * DIMENSION)
        })
        const keys = rows.map(({ key }) => key)
        yield { vectorSpace, dimension: DIMENSION, keys, docs: keys, vectors: block }
      }
    },
    // its indexes are filled and asked in one run: no file of a graph is opened again
    async *vectorSums() {},
    async *vectorsOfNodes() {},
  }
}
