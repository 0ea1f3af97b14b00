import { type Bindable, type Read, sql } from '../../storage/program.js'
import { BACKGROUND_SAMPLES, type Background, backgroundOf } from '../background.js'
import type { ScopeMessage, SearchMessage } from '../protocol.js'
import { halfvec, isInScope, numberArray } from './literals.js'
import { IN, sampleOf } from './schema.js'
import type { VectorSpaceRow } from './vector-rows.js'

/** Vectors up to which all of a vector space, or those of a filter's documents, are compared. */
export const EXACT_VECTORS = 20_000
/** Bounds of the candidates that a graph search keeps. */
const LEAST_WALKED = 100
const MOST_WALKED = 1_000

export interface VectorAnswer {
  /** keys of the nearest vectors */
  keys: number[]
  method: 'exact' | 'hnsw'
  /** of these and of the other requested nodes */
  cosines: Map<number, number>
  background: Background | undefined
}

/**
 * Finds the nearest vectors, exactly or by a graph, and the cosines of other nodes.
 *
 * @param others further nodes whose cosines to return
 * @param minGraphVectors minimal number of vectors for using a graph
 */
export function* searchVectors(
  row: VectorSpaceRow,
  { vectorK, docs, scope, wantsBackground }: Pick<SearchMessage, 'vectorK' | 'docs' | 'scope' | 'wantsBackground'>,
  vector: Float32Array,
  others: readonly number[],
  graphFrom: number,
): Read<VectorAnswer> {
  const query = halfvec(vector)
  const limits = limitsOf(docs, scope)
  const byGraph = row.has_graph === 1 && (yield* isLarge(row, limits, graphFrom))
  if (byGraph) yield* walkFar(vectorK)
  const nearest = byGraph ? nearestByGraph(row, query, vectorK, limits) : nearestOfAll(row, query, vectorK, limits)
  const rows = [...(docs?.length === 0 ? [] : yield* asked(nearest))]
  const keys = rows.map(({ node }) => node)
  const known = new Set(keys)
  const lacking = others.filter((node) => !known.has(node))
  if (lacking.length > 0) rows.push(...(yield* asked(cosinesOf(row, query, lacking))))
  return {
    keys,
    method: byGraph ? 'hnsw' : 'exact',
    cosines: new Map(rows.map(({ node, cosine }) => [node, clamped(cosine)])),
    background: wantsBackground === true ? yield* background(row, query, limitsOf(undefined, scope)) : undefined,
  }
}

/** SQL conditions on the documents of vectors, with their parameters. */
interface Limits {
  text: string
  values: Bindable[]
}

function limitsOf(docs: Float64Array | undefined, scope: ScopeMessage | undefined): Limits {
  const all = [...(docs === undefined ? [] : [{ docs, isExcluded: false }]), ...(scope === undefined ? [] : [scope])]
  return {
    text: all.map((one) => ` AND ${isInScope('doc', one)}`).join(''),
    values: all.map((one) => numberArray(one.docs)),
  }
}

interface Cosine {
  node: number
  cosine: number
}

interface Asked {
  text: string
  values: Bindable[]
}

function* asked({ text, values }: Asked): Read<Cosine[]> {
  return yield* sql.all<Cosine>(text, values)
}

/** Whether so many vectors match that a graph is faster. */
function* isLarge({ key, vectors }: VectorSpaceRow, { text, values }: Limits, graphFrom: number): Read<boolean> {
  if (vectors < graphFrom) return false
  if (values.length === 0) return true
  const row = yield* sql.get<{ n: number }>(
    `SELECT count(*) n FROM (SELECT 1 FROM ${IN}.vectors WHERE vector_space = ?${text} LIMIT ${graphFrom}) counted`,
    [key, ...values],
  )
  return (row?.n ?? 0) >= graphFrom
}

/** Makes the graph search continue until there are enough hits despite filters; until the end of the transaction. */
function* walkFar(k: number): Read<void> {
  const walked = Math.min(MOST_WALKED, Math.max(LEAST_WALKED, k))
  yield* sql.get(
    "SELECT set_config('hnsw.ef_search', ?, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)",
    [String(walked)],
  )
}

/** The indexed expression of a vector space's graph; a query must use the same expression. */
export function indexedAs({ dimension }: Pick<VectorSpaceRow, 'dimension'>): string {
  return `v::halfvec(${dimension})`
}

function nearestByGraph(row: VectorSpaceRow, query: Buffer, k: number, limits: Limits): Asked {
  const distance = `(${indexedAs(row)}) <#> ?::halfvec(${row.dimension})`
  // the key is part of the text: PostgreSQL uses a partial index only where the condition is a constant
  return {
    text: `SELECT node, -(${distance}) cosine FROM ${IN}.vectors WHERE vector_space = ${row.key}
       ${limits.text} ORDER BY ${distance} LIMIT ${k}`,
    values: [query, ...limits.values, query],
  }
}

function nearestOfAll({ key }: VectorSpaceRow, query: Buffer, k: number, limits: Limits): Asked {
  return {
    text: `SELECT node, -distance cosine FROM (SELECT node, v <#> ?::halfvec distance FROM ${IN}.vectors WHERE vector_space = ?
       ${limits.text} ORDER BY distance, node LIMIT ${k}) nearest`,
    values: [query, key, ...limits.values],
  }
}

function cosinesOf({ key }: VectorSpaceRow, query: Buffer, nodes: readonly number[]): Asked {
  return {
    text: `SELECT node, -(v <#> ?::halfvec) cosine FROM ${IN}.vectors WHERE vector_space = ? AND node = ANY(?::bigint[])`,
    values: [query, key, numberArray(nodes)],
  }
}

/** Cosines with a sample of vectors: the first ones in an index over hashed keys. */
function* background({ key }: VectorSpaceRow, query: Buffer, { text, values }: Limits): Read<Background | undefined> {
  const rows = yield* sql.all<{ cosine: number }>(
    `SELECT -(v <#> ?::halfvec) cosine FROM ${IN}.vectors
     WHERE vector_space = ?${text} ORDER BY ${sampleOf('node')} LIMIT ${BACKGROUND_SAMPLES}`,
    [query, key, ...values],
  )
  return backgroundOf(rows.map(({ cosine }) => cosine))
}

/** Rounding to float16 can make a unit vector longer than 1 by a ten-thousandth. */
function clamped(cosine: number): number {
  return Math.max(-1, Math.min(1, cosine))
}
