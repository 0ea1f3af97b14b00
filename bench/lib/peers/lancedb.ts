import { join } from 'node:path'
import { type PeerEngine, TOP } from './engine.js'
import { requirePeer } from './install.js'
import type { BenchDocument } from './workload.js'

/** The part of `@lancedb/lancedb` that is used here; its own types are not there before it is installed. */
interface Lance {
  connect(path: string): Promise<{ createTable(name: string, data: unknown): Promise<Table> }>
  makeArrowTable(rows: unknown[], options: unknown): unknown
  Index: { hnswSq(options: object): unknown; fts(options?: object): unknown }
  rerankers: { RRFReranker: { create(): Promise<unknown> } }
}

interface Table {
  add(data: unknown): Promise<unknown>
  createIndex(column: string, options: { config: unknown }): Promise<void>
  optimize(): Promise<unknown>
  query(): Query
}

interface Query {
  nearestTo(vector: Float32Array): Query
  ef(width: number): Query
  distanceType(type: string): Query
  fullTextSearch(text: string, options: { columns: string[] }): Query
  rerank(reranker: unknown): Query
  select(columns: string[]): Query
  limit(count: number): Query
  toArray(): Promise<{ key: number }[]>
}

interface Row {
  key: number
  title: string
  text: string
  vector: number[]
}

const SEARCH_WIDTH = 64

/**
 * HNSW-SQ for vectors, its own full-text index, reciprocal rank fusion, everything in one process.
 *
 * @param width what the graph is built with: `ours` = the same links and width as our graph, `default` = the library's,
 *   `none` = there is none, all vectors are compared
 */
export async function openLance(folder: string, width: 'ours' | 'default' | 'none'): Promise<PeerEngine> {
  const lance: Lance = requirePeer('@lancedb/lancedb')
  const connection = await lance.connect(join(folder, 'lance'))
  const reranker = await lance.rerankers.RRFReranker.create()
  let table: Table | undefined
  const getTable = (): Table => {
    if (table === undefined) throw new Error('nothing was stored')
    return table
  }

  return {
    async add(documents) {
      const rows = documents.map(toRow)
      if (table === undefined) table = await connection.createTable('docs', rows)
      else await table.add(rows)
    },
    async waitUntilSearchable() {
      const graph = { distanceType: 'dot', numPartitions: 1 }
      const options = width === 'ours' ? { ...graph, m: 16, efConstruction: 100 } : graph
      if (width !== 'none') await getTable().createIndex('vector', { config: lance.Index.hnswSq(options) })
      await getTable().createIndex('text', { config: lance.Index.fts({ withPosition: false }) })
    },
    async waitUntilSettled() {
      await getTable().optimize()
    },
    async searchHybrid({ text, vector }, top = TOP) {
      const rows = await getTable()
        .query()
        .nearestTo(vector)
        .distanceType('dot')
        .ef(Math.max(SEARCH_WIDTH, top))
        .fullTextSearch(text, { columns: ['text'] })
        .rerank(reranker)
        .select(['key', 'title', 'text'])
        .limit(top)
        .toArray()
      return rows.map(({ key }) => Number(key))
    },
    async searchNearest(vector) {
      const query = getTable().query().nearestTo(vector).distanceType('dot').ef(SEARCH_WIDTH)
      return (await query.select(['key']).limit(TOP).toArray()).map(({ key }) => Number(key))
    },
    childPid: () => undefined,
    async close() {},
  }
}

function toRow({ key, title, text, vector }: BenchDocument): Row {
  return { key, title, text: `${title} ${text}`, vector: Array.from(vector) }
}
