import { setImmediate as turn } from 'node:timers/promises'
import type { IndexBatch, IndexedNode, ReplaySource, VectorBatch } from '../search/ports.js'
import type { Database } from '../storage/database.js'
import { decodeHalfInto } from '../storage/half.js'
import { sql } from '../storage/program.js'
import { countedRows, expectedCounts } from './expected-counts.js'

const TEXT_BATCH = 500 // nodes a slice: a few milliseconds of the event loop
const VECTOR_BATCH = 1000

interface NodeText {
  key: number
  doc_key: number
  title: string
  text: string
}

/** Rows from which the search indexes are rebuilt. Space ids are those of the API. */
export function createReplaySource(db: Database): ReplaySource {
  return {
    head(space) {
      const row = db.now(
        sql.get<{ seq: number | null; id: string | null; dimension: number | null }>(
          `SELECT (SELECT max(seq) FROM projection_log WHERE space_key = spaces.key) seq, vector_spaces.id, vector_spaces.dimension
         FROM spaces LEFT JOIN vector_spaces ON vector_spaces.id = spaces.vector_space AND vector_spaces.state = 'active'
         WHERE spaces.id = ?`,
          [space],
        ),
      )
      const seq = row?.seq ?? 0
      if (row === undefined || row.id === null || row.dimension === null) return { seq }
      return { seq, vectorSpace: row.id, dimension: row.dimension }
    },
    oldest: () => 1, // the log is kept whole; its rows are small
    expected: (space) => db.now(expectedCounts(space)),
    counted: (space) => countedRows(db, space),
    changes: (space, afterSeq) => changes(db, space, afterSeq),
    vectors: (space, vectorSpace) => vectors(db, space, vectorSpace),
  }
}

async function* changes(db: Database, space: string, afterSeq: number): AsyncIterable<IndexBatch> {
  if (afterSeq === 0) {
    yield* everything(db, space)
    return
  }
  let seq = afterSeq
  for (;;) {
    const row = db.now(
      sql.get<{ seq: number; op: number; first_node: number; last_node: number }>(
        `SELECT seq, op, first_node, last_node FROM projection_log
       WHERE space_key = (SELECT key FROM spaces WHERE id = ?) AND seq > ? ORDER BY seq LIMIT 1`,
        [space, seq],
      ),
    )
    if (row === undefined) return
    const previous = seq
    seq = row.seq
    if (row.op < 0) {
      const remove: number[] = []
      for (let key = row.first_node; key <= row.last_node; key++) remove.push(key)
      yield { seq, add: [], remove }
    } else {
      yield* slices(db, space, row.first_node, row.last_node, previous, seq)
    }
    await turn()
  }
}

/** Every node that is or will be visible; the log's newest entry is reached with the last batch. */
async function* everything(db: Database, space: string): AsyncIterable<IndexBatch> {
  const seq = db.now(
    sql.get<{ seq: number | null }>(
      'SELECT max(seq) seq FROM projection_log WHERE space_key = (SELECT key FROM spaces WHERE id = ?)',
      [space],
    ),
  )?.seq
  if (seq === null || seq === undefined) return
  yield* slices(db, space, 0, Number.MAX_SAFE_INTEGER, 0, seq)
}

/** Nodes of a key range; all but the last batch carry the sequence before, so that a crash in between repeats them. */
async function* slices(
  db: Database,
  space: string,
  first: number,
  last: number,
  before: number,
  seq: number,
): AsyncIterable<IndexBatch> {
  let from = first
  for (;;) {
    const rows = db.now(
      sql.all<NodeText>(
        `SELECT nodes.key, nodes.doc_key, nodes.title, nodes.text FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       WHERE nodes.key BETWEEN ? AND ? AND nodes.space_key = (SELECT key FROM spaces WHERE id = ?) AND versions.until_revision IS NULL
       ORDER BY nodes.key LIMIT ?`,
        [from, last, space, TEXT_BATCH],
      ),
    )
    const done = rows.length < TEXT_BATCH
    yield { seq: done ? seq : before, add: rows.map(toIndexed), remove: [] }
    if (done) return
    from = (rows.at(-1)?.key ?? last) + 1
    await turn()
  }
}

function toIndexed(row: NodeText): IndexedNode {
  return { key: row.key, doc: row.doc_key, title: row.title, body: row.text }
}

async function* vectors(db: Database, space: string, vectorSpace: string): AsyncIterable<VectorBatch> {
  const owner = db.now(
    sql.get<{ key: number; dimension: number; space_key: number }>(
      'SELECT key, dimension, space_key FROM vector_spaces WHERE id = ? AND space_key = (SELECT key FROM spaces WHERE id = ?)',
      [vectorSpace, space],
    ),
  )
  if (owner === undefined) return
  let after = 0
  for (;;) {
    const rows = db.now(
      sql.all<{ node_key: number; doc_key: number; vector: Uint8Array }>(
        `SELECT vectors.node_key, nodes.doc_key, vectors.vector FROM vectors
       JOIN nodes ON nodes.key = vectors.node_key JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       WHERE vectors.vector_space = ? AND vectors.node_key > ? AND versions.until_revision IS NULL
       ORDER BY vectors.node_key LIMIT ?`,
        [owner.key, after, VECTOR_BATCH],
      ),
    )
    if (rows.length === 0) return
    const block = new Float32Array(rows.length * owner.dimension)
    rows.forEach((row, index) => {
      decodeHalfInto(row.vector, block, index * owner.dimension)
    })
    yield {
      vectorSpace,
      dimension: owner.dimension,
      keys: rows.map((row) => row.node_key),
      docs: rows.map((row) => row.doc_key),
      vectors: block,
    }
    after = rows.at(-1)?.node_key ?? after
    await turn()
  }
}
