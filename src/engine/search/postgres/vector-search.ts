import { type Bindable, type Read, sql } from '../../store/program.js'
import { BACKGROUND_SAMPLES, type CosineBackground, clampCosine, computeBackground } from '../background.js'
import type { ScopeMessage, SearchMessage } from '../protocol.js'
import { buildScopeCondition, toHalfvec, toNumberArray } from './literals.js'
import { SAMPLE_GROUP_SQL, SEARCH_SCHEMA } from './schema.js'
import type { VectorSpaceRow } from './vector-rows.js'

/** Vectors up to which all of a vector space, or those of a filter's documents, are compared. */
export const MAX_EXACT_VECTORS = 20_000
/** Bounds of the candidates that a graph search keeps. */
const MIN_GRAPH_CANDIDATES = 100
const MAX_GRAPH_CANDIDATES = 1_000

export interface VectorSearchResult {
  /** keys of the nearest vectors */
  keys: number[]
  method: 'exact' | 'hnsw'
  /** of these and of the other requested nodes */
  cosines: Map<number, number>
  background: CosineBackground | undefined
}

interface VectorRequest extends Pick<SearchMessage, 'vectorK' | 'docs' | 'scope' | 'wantsBackground'> {
  vector: Float32Array
  /** further nodes whose cosines to return */
  others: readonly number[]
}

/**
 * Finds the nearest vectors, exactly or by a graph, and the cosines of other nodes.
 *
 * @param minGraphVectors minimal number of vectors for using a graph
 */
export function* searchVectors(
  row: VectorSpaceRow,
  { vector, others, vectorK, docs, scope, wantsBackground }: VectorRequest,
  minGraphVectors: number,
): Read<VectorSearchResult> {
  const query = toHalfvec(vector)
  const conditions = toConditions(docs, scope)
  const byGraph = row.has_graph === 1 && (yield* hasManyMatches(row, conditions, minGraphVectors))
  if (byGraph) yield* setGraphSearchWidth(vectorK)
  const nearest = byGraph
    ? buildGraphQuery(row, query, vectorK, conditions)
    : buildExactQuery(row, query, vectorK, conditions)
  const rows = [...(docs?.length === 0 ? [] : yield* runQuery(nearest))]
  const keys = rows.map(({ node }) => node)
  const returned = new Set(keys)
  const missing = others.filter((node) => !returned.has(node))
  if (missing.length > 0) rows.push(...(yield* runQuery(buildCosineQuery(row, query, missing))))
  return {
    keys,
    method: byGraph ? 'hnsw' : 'exact',
    cosines: new Map(rows.map(({ node, cosine }) => [node, clampCosine(cosine)])),
    background:
      wantsBackground === true ? yield* sampleBackground(row, query, toConditions(undefined, scope)) : undefined,
  }
}

/** An SQL text with its parameters: a query, or conditions on the documents of vectors. */
interface VectorSql {
  text: string
  values: Bindable[]
}

function toConditions(docs: Float64Array | undefined, scope: ScopeMessage | undefined): VectorSql {
  const scopes = [...(docs === undefined ? [] : [{ docs, isExcluded: false }]), ...(scope === undefined ? [] : [scope])]
  return {
    text: scopes.map((one) => ` AND ${buildScopeCondition(one)}`).join(''),
    values: scopes.map(({ docs: keys }) => toNumberArray(keys)),
  }
}

interface NodeCosine {
  node: number
  cosine: number
}

function* runQuery({ text, values }: VectorSql): Read<NodeCosine[]> {
  return yield* sql.all<NodeCosine>(text, values)
}

/** Whether enough vectors match for a graph to be faster. */
function* hasManyMatches(
  { key, vectors }: VectorSpaceRow,
  { text, values }: VectorSql,
  minGraphVectors: number,
): Read<boolean> {
  if (vectors < minGraphVectors) return false
  if (values.length === 0) return true
  const row = yield* sql.get<{ n: number }>(
    `SELECT count(*) n FROM (SELECT 1 FROM ${SEARCH_SCHEMA}.vectors WHERE vector_space = ?${text} LIMIT ${minGraphVectors}) counted`,
    [key, ...values],
  )
  return (row?.n ?? 0) >= minGraphVectors
}

/** Makes the graph search continue until there are enough hits despite filters; until the end of the transaction. */
function* setGraphSearchWidth(k: number): Read<void> {
  const width = Math.min(MAX_GRAPH_CANDIDATES, Math.max(MIN_GRAPH_CANDIDATES, k))
  yield* sql.get(
    "SELECT set_config('hnsw.ef_search', ?, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)",
    [String(width)],
  )
}

/** The indexed expression of a vector space's graph; a query must use the same expression. */
export function indexedExpression({ dimension }: Pick<VectorSpaceRow, 'dimension'>): string {
  return `v::halfvec(${dimension})`
}

function buildGraphQuery(row: VectorSpaceRow, query: Buffer, k: number, conditions: VectorSql): VectorSql {
  const distance = `(${indexedExpression(row)}) <#> ?::halfvec(${row.dimension})`
  // the key is part of the text: PostgreSQL uses a partial index only where the condition is a constant
  return {
    text: `SELECT node, -(${distance}) cosine FROM ${SEARCH_SCHEMA}.vectors WHERE vector_space = ${row.key}
       ${conditions.text} ORDER BY ${distance} LIMIT ${k}`,
    values: [query, ...conditions.values, query],
  }
}

function buildExactQuery({ key }: VectorSpaceRow, query: Buffer, k: number, conditions: VectorSql): VectorSql {
  return {
    text: `SELECT node, -distance cosine FROM (SELECT node, v <#> ?::halfvec distance FROM ${SEARCH_SCHEMA}.vectors WHERE vector_space = ?
       ${conditions.text} ORDER BY distance, node LIMIT ${k}) nearest`,
    values: [query, key, ...conditions.values],
  }
}

function buildCosineQuery({ key }: VectorSpaceRow, query: Buffer, nodes: readonly number[]): VectorSql {
  return {
    text: `SELECT node, -(v <#> ?::halfvec) cosine FROM ${SEARCH_SCHEMA}.vectors WHERE vector_space = ? AND node = ANY(?::bigint[])`,
    values: [query, key, toNumberArray(nodes)],
  }
}

/** Cosines with a sample of vectors: the first ones in an index over hashed keys. */
function* sampleBackground(
  { key }: VectorSpaceRow,
  query: Buffer,
  { text, values }: VectorSql,
): Read<CosineBackground | undefined> {
  const rows = yield* sql.all<{ cosine: number }>(
    `SELECT -(v <#> ?::halfvec) cosine FROM ${SEARCH_SCHEMA}.vectors
     WHERE vector_space = ?${text} ORDER BY ${SAMPLE_GROUP_SQL} LIMIT ${BACKGROUND_SAMPLES}`,
    [query, key, ...values],
  )
  return computeBackground(rows.map(({ cosine }) => cosine))
}
