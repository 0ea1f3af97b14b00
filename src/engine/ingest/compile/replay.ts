import { setImmediate as turn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { runInSpace, streamInSpace } from '../../library/index.js'
import type { IndexBatch, IndexedNode, ReplaySource, VectorBatch, VectorSums } from '../../search/index.js'
import type { Driver } from '../../store/driver.js'
import { listLogEntries } from '../../store/rows/projection-log.js'
import {
  findIndexHead,
  findVectorSpaceById,
  type IndexTextRow,
  listTextsBetween,
  listVectorsAfter,
  listVectorsOfNodes,
  type StoredVectorRow,
} from '../rows/index-rows.js'
import { countExpectedRows, toExpectedCounts } from './expected-counts.js'

const TEXT_BATCH = 500 // nodes of one slice: a few milliseconds of the event loop
const VECTOR_BATCH = 1000
/** log entries of one slice, which contain only numbers */
const ENTRIES = 200

/** Rows from which the search indexes are rebuilt. Space ids are those of the API. */
export function createReplaySource(db: Driver): ReplaySource {
  return {
    inSpace: (space, work) => runInSpace(db, space, work),
    async head(space) {
      const row = await runInSpace(db, space, () => db.read(findIndexHead(space)))
      const seq = row?.seq ?? 0
      if (row === undefined || row.vector_space === null || row.dimension === null) return { seq }
      return { seq, vectorSpace: row.vector_space, dimension: row.dimension }
    },
    oldestEntry: async () => 1, // the log is complete; its rows are small
    expectedCounts: async (space) => toExpectedCounts(await runInSpace(db, space, () => db.read(findIndexHead(space)))),
    countRows: (space) => runInSpace(db, space, () => countExpectedRows(db, space)),
    changes: (space, after, to) => streamInSpace(db, space, () => readChanges(db, space, after, to)),
    vectors: (space, vectorSpace) => streamInSpace(db, space, () => readVectors(db, space, vectorSpace)),
    vectorSums: (space, vectorSpace) => streamInSpace(db, space, () => readSums(db, space, vectorSpace)),
    vectorsOfNodes: (space, vectorSpace, keys) =>
      streamInSpace(db, space, () => readVectorsOf(db, space, vectorSpace, keys)),
  }
}

async function* readChanges(db: Driver, space: string, after: number, to: number): AsyncIterable<IndexBatch> {
  if (after === 0) {
    yield* readAllNodes(db, space)
    return
  }
  let seq = after
  for (;;) {
    const entries = await db.read(listLogEntries(space, seq, to, ENTRIES))
    let remove: number[] = []
    for (const [index, entry] of entries.entries()) {
      if (entry.op < 0) {
        for (let key = entry.first_node; key <= entry.last_node; key++) remove.push(key)
        if ((entries[index + 1]?.op ?? 0) < 0) continue
        yield { seq: entry.seq, add: [], remove }
        remove = []
      } else
        yield* readNodeSlices(db, space, {
          first: entry.first_node,
          last: entry.last_node,
          before: seq,
          seq: entry.seq,
        })
      seq = entry.seq
      await turn()
    }
    if (entries.length < ENTRIES) return
  }
}

/** Every node that is or will be visible; the last batch reaches the log's newest entry. */
async function* readAllNodes(db: Driver, space: string): AsyncIterable<IndexBatch> {
  const seq = (await db.read(findIndexHead(space)))?.seq
  if (seq === null || seq === undefined) return
  yield* readNodeSlices(db, space, { first: 0, last: Number.MAX_SAFE_INTEGER, before: 0, seq })
}

interface NodeKeyRange {
  first: number
  last: number
  /** sequence of all batches but the last, so that a crash in between repeats them */
  before: number
  seq: number
}

async function* readNodeSlices(
  db: Driver,
  space: string,
  { first, last, before, seq }: NodeKeyRange,
): AsyncIterable<IndexBatch> {
  let start = first
  for (;;) {
    const rows = await db.read(listTextsBetween(space, start, last, TEXT_BATCH))
    const done = rows.length < TEXT_BATCH
    yield { seq: done ? seq : before, add: rows.map(toIndexedNode), remove: [] }
    if (done) return
    start = (rows.at(-1)?.key ?? last) + 1
    await turn()
  }
}

function toIndexedNode(row: IndexTextRow): IndexedNode {
  return { key: row.key, doc: row.doc_key, title: row.title, body: row.text }
}

async function* readVectors(db: Driver, space: string, vectorSpace: string): AsyncIterable<VectorBatch> {
  for await (const { dimension, rows } of readVectorRows(db, space, vectorSpace))
    yield toVectorBatch(vectorSpace, dimension, rows)
}

async function* readSums(db: Driver, space: string, vectorSpace: string): AsyncIterable<VectorSums> {
  for await (const { dimension, rows } of readVectorRows(db, space, vectorSpace))
    yield {
      dimension,
      keys: Float64Array.from(rows, (row) => row.node_key),
      docs: Float64Array.from(rows, (row) => row.doc_key),
      sums: Uint32Array.from(rows, (row) => crc32(row.vector)),
    }
}

async function* readVectorsOf(
  db: Driver,
  space: string,
  vectorSpace: string,
  keys: readonly number[],
): AsyncIterable<VectorBatch> {
  const owner = await db.read(findVectorSpaceById(space, vectorSpace))
  if (owner === undefined) return
  for (let start = 0; start < keys.length; start += VECTOR_BATCH) {
    const rows = await db.read(listVectorsOfNodes(owner.key, keys.slice(start, start + VECTOR_BATCH)))
    yield toVectorBatch(vectorSpace, owner.dimension, rows)
    await turn()
  }
}

/** Every live vector as it is stored, in batches. */
async function* readVectorRows(
  db: Driver,
  space: string,
  vectorSpace: string,
): AsyncIterable<{ dimension: number; rows: StoredVectorRow[] }> {
  const owner = await db.read(findVectorSpaceById(space, vectorSpace))
  if (owner === undefined) return
  let after = 0
  for (;;) {
    const rows = await db.read(listVectorsAfter(owner.key, after, VECTOR_BATCH))
    if (rows.length === 0) return
    yield { dimension: owner.dimension, rows }
    after = rows.at(-1)?.node_key ?? after
    await turn()
  }
}

/** Vectors as they are stored: the index stores half-precision floats too. */
function toVectorBatch(vectorSpace: string, dimension: number, rows: readonly StoredVectorRow[]): VectorBatch {
  const halves = new Uint16Array(rows.length * dimension)
  const bytes = new Uint8Array(halves.buffer)
  const size = dimension * Uint16Array.BYTES_PER_ELEMENT
  for (const [index, row] of rows.entries()) bytes.set(row.vector.subarray(0, size), index * size)
  return {
    vectorSpace,
    dimension,
    keys: rows.map((row) => row.node_key),
    docs: rows.map((row) => row.doc_key),
    vectors: halves,
  }
}
