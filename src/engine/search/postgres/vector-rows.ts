import { type Read, sql, type Write } from '../../store/program.js'
import type { VectorBatch } from '../ports.js'
import { toHalfvecArray, toNumberArray } from './literals.js'
import { SEARCH_SCHEMA } from './schema.js'

/** Bytes of vectors per INSERT statement. */
const MAX_SLICE_BYTES = 512 * 1024
/** Rows per DELETE statement of a complete removal. */
const MAX_DELETED_ROWS = 2_000
/** Keys compared at once. */
const MAX_COMPARED_KEYS = 10_000

export interface VectorSpaceRow {
  key: number
  name: string
  dimension: number
  vectors: number
  /** 1 where a separate index of its vectors is complete */
  has_graph: number
}

const COLUMNS = 'key, name, dimension, vectors, has_graph'

export function* findVectorSpaceRow(space: number, name: string): Read<VectorSpaceRow | undefined> {
  return yield* sql.get<VectorSpaceRow>(
    `SELECT ${COLUMNS} FROM ${SEARCH_SCHEMA}.vector_spaces WHERE space = ? AND name = ?`,
    [space, name],
  )
}

export function* listVectorSpaces(space: number): Read<VectorSpaceRow[]> {
  return yield* sql.all<VectorSpaceRow>(
    `SELECT ${COLUMNS} FROM ${SEARCH_SCHEMA}.vector_spaces WHERE space = ? ORDER BY key`,
    [space],
  )
}

/** The row of a vector space; created if missing. @throws RangeError where it has another dimension */
export function* ensureVectorSpaceRow(space: number, name: string, dimension: number): Write<VectorSpaceRow> {
  yield* sql.run(
    `INSERT INTO ${SEARCH_SCHEMA}.vector_spaces (space, name, dimension) VALUES (?, ?, ?) ON CONFLICT (space, name) DO NOTHING`,
    [space, name, dimension],
  )
  const row = yield* findVectorSpaceRow(space, name)
  if (row?.dimension === dimension) return row
  throw new RangeError(`vectors of ${name} have ${row?.dimension} dimensions, not ${dimension}`)
}

/** Vectors as parameters of one statement. */
export interface VectorRowSlice {
  nodes: string
  docs: string
  vectors: Buffer
}

/** @param type object id of `halfvec` */
export function* toVectorRowSlices(
  type: number,
  { dimension, keys, docs, vectors }: VectorBatch,
): Iterable<VectorRowSlice> {
  // the last vector of a key wins
  const rows = [...new Map(keys.map((key, row) => [key, row])).values()]
  const maxRows = Math.max(1, Math.floor(MAX_SLICE_BYTES / (2 * dimension)))
  for (let start = 0; start < rows.length; start += maxRows) {
    const slice = rows.slice(start, start + maxRows)
    yield {
      nodes: toNumberArray(slice.map((row) => keys[row] ?? 0)),
      docs: toNumberArray(slice.map((row) => docs[row] ?? 0)),
      vectors: toHalfvecArray(type, vectors, dimension, slice),
    }
  }
}

export function* upsertVectors(vectorSpace: number, { nodes, docs, vectors }: VectorRowSlice): Write<void> {
  yield* sql.run(
    `WITH put AS (INSERT INTO ${SEARCH_SCHEMA}.vectors (vector_space, node, doc, v)
       SELECT ?::bigint, node, doc, v FROM unnest(?::bigint[], ?::bigint[], ?::halfvec[]) AS g(node, doc, v)
       ON CONFLICT (vector_space, node) DO UPDATE SET doc = excluded.doc, v = excluded.v RETURNING xmax = 0 is_new)
     UPDATE ${SEARCH_SCHEMA}.vector_spaces SET vectors = vectors + (SELECT count(*) FROM put WHERE is_new) WHERE key = ?`,
    [vectorSpace, nodes, docs, vectors, vectorSpace],
  )
}

/** Removes the vectors of some nodes from all vector spaces of a space. */
export function* removeVectors(space: number, nodes: string): Write<void> {
  for (const { key } of yield* listVectorSpaces(space)) yield* removeVectorsFrom(key, nodes)
}

export function* removeVectorsFrom(vectorSpace: number, nodes: string): Write<void> {
  yield* sql.run(
    `WITH gone AS (DELETE FROM ${SEARCH_SCHEMA}.vectors WHERE vector_space = ? AND node = ANY(?::bigint[]) RETURNING node)
     UPDATE ${SEARCH_SCHEMA}.vector_spaces SET vectors = vectors - (SELECT count(*) FROM gone)
     WHERE key = ? AND EXISTS (SELECT 1 FROM gone)`,
    [vectorSpace, nodes, vectorSpace],
  )
}

/** Removes some vectors of a vector space, and its row with the last ones. @returns whether more are left */
export function* removeSomeVectors(vectorSpace: number): Write<boolean> {
  const { changes } = yield* sql.run(
    `DELETE FROM ${SEARCH_SCHEMA}.vectors WHERE vector_space = ? AND node IN
       (SELECT node FROM ${SEARCH_SCHEMA}.vectors WHERE vector_space = ? ORDER BY node LIMIT ?)`,
    [vectorSpace, vectorSpace, MAX_DELETED_ROWS],
  )
  if (changes === MAX_DELETED_ROWS) return true
  yield* sql.run(`DELETE FROM ${SEARCH_SCHEMA}.vector_spaces WHERE key = ?`, [vectorSpace])
  return false
}

/** Keys of nodes with a vector, in ascending order. */
export function* listVectorKeysAfter(vectorSpace: number, after: number): Read<number[]> {
  const rows = yield* sql.all<{ node: number }>(
    `SELECT node FROM ${SEARCH_SCHEMA}.vectors WHERE vector_space = ? AND node > ? ORDER BY node LIMIT ${MAX_COMPARED_KEYS}`,
    [vectorSpace, after],
  )
  return rows.map(({ node }) => node)
}

/** Counts the vectors row by row and corrects the total. */
export function* recountVectors(vectorSpace: number): Write<void> {
  yield* sql.run(
    `UPDATE ${SEARCH_SCHEMA}.vector_spaces SET vectors = (SELECT count(*) FROM ${SEARCH_SCHEMA}.vectors WHERE vector_space = ?) WHERE key = ?`,
    [vectorSpace, vectorSpace],
  )
}

export function* countVectors(vectorSpace: number): Read<number> {
  return (
    (yield* sql.get<{ n: number }>(`SELECT count(*) n FROM ${SEARCH_SCHEMA}.vectors WHERE vector_space = ?`, [
      vectorSpace,
    ]))?.n ?? 0
  )
}

/** Marks the vector space as having a graph. @returns whether it still exists */
export function* markGraphBuilt(vectorSpace: number): Write<boolean> {
  const { changes } = yield* sql.run(`UPDATE ${SEARCH_SCHEMA}.vector_spaces SET has_graph = true WHERE key = ?`, [
    vectorSpace,
  ])
  return changes > 0
}
