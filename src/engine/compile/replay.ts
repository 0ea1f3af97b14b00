import { setImmediate as turn } from 'node:timers/promises'
import { changeAfter, indexHead, type TextRow, textsBetween, vectorSpaceOf, vectorsAfter } from '../rows/index-rows.js'
import type { IndexBatch, IndexedNode, ReplaySource, VectorBatch } from '../search/ports.js'
import type { Database } from '../storage/database.js'
import { decodeHalfInto } from '../storage/half.js'
import { countedRows, expectedOf } from './expected-counts.js'

const TEXT_BATCH = 500 // nodes a slice: a few milliseconds of the event loop
const VECTOR_BATCH = 1000

/** Rows from which the search indexes are rebuilt. Space ids are those of the API. */
export function createReplaySource(db: Database): ReplaySource {
  return {
    head(space) {
      const row = db.now(indexHead(space))
      const seq = row?.seq ?? 0
      if (row === undefined || row.vector_space === null || row.dimension === null) return { seq }
      return { seq, vectorSpace: row.vector_space, dimension: row.dimension }
    },
    oldest: () => 1, // the log is kept whole; its rows are small
    expected: (space) => expectedOf(db.now(indexHead(space))),
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
    const row = await db.read(changeAfter(space, seq))
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
  const seq = (await db.read(indexHead(space)))?.seq
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
    const rows = await db.read(textsBetween(space, from, last, TEXT_BATCH))
    const done = rows.length < TEXT_BATCH
    yield { seq: done ? seq : before, add: rows.map(toIndexed), remove: [] }
    if (done) return
    from = (rows.at(-1)?.key ?? last) + 1
    await turn()
  }
}

function toIndexed(row: TextRow): IndexedNode {
  return { key: row.key, doc: row.doc_key, title: row.title, body: row.text }
}

async function* vectors(db: Database, space: string, vectorSpace: string): AsyncIterable<VectorBatch> {
  const owner = await db.read(vectorSpaceOf(space, vectorSpace))
  if (owner === undefined) return
  let after = 0
  for (;;) {
    const rows = await db.read(vectorsAfter(owner.key, after, VECTOR_BATCH))
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
