import { setImmediate as turn } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import {
  indexHead,
  type TextRow,
  textsBetween,
  type VectorRow,
  vectorSpaceOf,
  vectorsAfter,
  vectorsOfNodes,
} from '../rows/index-rows.js'
import { changesBetween, type LoggedChange } from '../rows/projection-log.js'
import type { IndexBatch, IndexedNode, ReplaySource, VectorBatch, VectorSums } from '../search/ports.js'
import { eachInSpace, inSpace } from '../spaces/in-space.js'
import type { Driver } from '../storage/driver.js'
import { countedRows, expectedOf } from './expected-counts.js'

const TEXT_BATCH = 500 // nodes of one slice: a few milliseconds of the event loop
const VECTOR_BATCH = 1000
/** log entries of one slice, which contain only numbers */
const ENTRIES = 200

/** Rows from which the search indexes are rebuilt. Space ids are those of the API. */
export function createReplaySource(db: Driver): ReplaySource {
  return {
    inSpace: (space, work) => inSpace(db, space, work),
    async head(space) {
      const row = await inSpace(db, space, () => db.read(indexHead(space)))
      const seq = row?.seq ?? 0
      if (row === undefined || row.vector_space === null || row.dimension === null) return { seq }
      return { seq, vectorSpace: row.vector_space, dimension: row.dimension }
    },
    oldest: async () => 1, // the log is complete; its rows are small
    expected: async (space) => expectedOf(await inSpace(db, space, () => db.read(indexHead(space)))),
    counted: (space) => inSpace(db, space, () => countedRows(db, space)),
    changes: (space, after, to) => eachInSpace(db, space, () => changes(db, space, after, to)),
    vectors: (space, vectorSpace) => eachInSpace(db, space, () => vectors(db, space, vectorSpace)),
    sums: (space, vectorSpace) => eachInSpace(db, space, () => sums(db, space, vectorSpace)),
    vectorsOf: (space, vectorSpace, keys) => eachInSpace(db, space, () => vectorsOf(db, space, vectorSpace, keys)),
  }
}

async function* changes(db: Driver, space: string, after: number, to: number): AsyncIterable<IndexBatch> {
  if (after === 0) {
    yield* everything(db, space)
    return
  }
  let seq = after
  for (;;) {
    const entries = await db.read(changesBetween(space, seq, to, ENTRIES))
    let remove: number[] = []
    for (const [place, entry] of entries.entries()) {
      if (entry.op < 0) {
        for (let key = entry.first_node; key <= entry.last_node; key++) remove.push(key)
        if (isRemoval(entries[place + 1])) continue
        yield { seq: entry.seq, add: [], remove }
        remove = []
      } else yield* slices(db, space, entry.first_node, entry.last_node, seq, entry.seq)
      seq = entry.seq
      await turn()
    }
    if (entries.length < ENTRIES) return
  }
}

function isRemoval(entry: LoggedChange | undefined): boolean {
  return entry !== undefined && entry.op < 0
}

/** Every node that is or will be visible; the last batch reaches the log's newest entry. */
async function* everything(db: Driver, space: string): AsyncIterable<IndexBatch> {
  const seq = (await db.read(indexHead(space)))?.seq
  if (seq === null || seq === undefined) return
  yield* slices(db, space, 0, Number.MAX_SAFE_INTEGER, 0, seq)
}

/**
 * Nodes of a key range. All batches but the last have the previous sequence, so that a crash in between repeats them.
 */
async function* slices(
  db: Driver,
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

async function* vectors(db: Driver, space: string, vectorSpace: string): AsyncIterable<VectorBatch> {
  for await (const { dimension, rows } of vectorRows(db, space, vectorSpace))
    yield batchOf(vectorSpace, dimension, rows)
}

async function* sums(db: Driver, space: string, vectorSpace: string): AsyncIterable<VectorSums> {
  for await (const { dimension, rows } of vectorRows(db, space, vectorSpace))
    yield {
      dimension,
      keys: Float64Array.from(rows, (row) => row.node_key),
      docs: Float64Array.from(rows, (row) => row.doc_key),
      sums: Uint32Array.from(rows, (row) => crc32(row.vector)),
    }
}

async function* vectorsOf(
  db: Driver,
  space: string,
  vectorSpace: string,
  keys: readonly number[],
): AsyncIterable<VectorBatch> {
  const owner = await db.read(vectorSpaceOf(space, vectorSpace))
  if (owner === undefined) return
  for (let from = 0; from < keys.length; from += VECTOR_BATCH) {
    const rows = await db.read(vectorsOfNodes(owner.key, keys.slice(from, from + VECTOR_BATCH)))
    yield batchOf(vectorSpace, owner.dimension, rows)
    await turn()
  }
}

/** Every live vector as it is stored, in batches. */
async function* vectorRows(
  db: Driver,
  space: string,
  vectorSpace: string,
): AsyncIterable<{ dimension: number; rows: VectorRow[] }> {
  const owner = await db.read(vectorSpaceOf(space, vectorSpace))
  if (owner === undefined) return
  let after = 0
  for (;;) {
    const rows = await db.read(vectorsAfter(owner.key, after, VECTOR_BATCH))
    if (rows.length === 0) return
    yield { dimension: owner.dimension, rows }
    after = rows.at(-1)?.node_key ?? after
    await turn()
  }
}

/** Vectors as they are stored: the index stores half-precision floats too. */
function batchOf(vectorSpace: string, dimension: number, rows: readonly VectorRow[]): VectorBatch {
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
