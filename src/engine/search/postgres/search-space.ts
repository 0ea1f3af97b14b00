import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { describeDimensionMismatch, describeMissingVectorSpace } from '../degraded-reasons.js'
import type { SearchHit, SearchHits } from '../ports.js'
import type { SearchMessage } from '../protocol.js'
import type { TextHits } from '../text-index.js'
import { findSpaceRow } from './space-rows.js'
import type { SpaceTables } from './space-tables.js'
import { searchText } from './text-search.js'
import { listVectorSpaces, type VectorSpaceRow } from './vector-rows.js'
import { searchVectors, type VectorSearchResult } from './vector-search.js'

/**
 * Searches the rows of a space; also returns their watermark. @param minGraphVectors vectors from which a graph is used
 */
export async function searchSpace(
  db: Driver,
  { space, key }: SpaceTables,
  message: SearchMessage,
  minGraphVectors: number,
): Promise<SearchHits & { watermark: number }> {
  const began = performance.now()
  const { text, watermark } = await db.read(searchTextRows(space, message))
  const between = performance.now()
  const degraded: string[] = []
  const { vector } = message
  const row =
    vector === undefined ? undefined : pickVectorSpace(await db.read(listVectorSpaces(key)), message, vector, degraded)
  const vectors =
    row === undefined || vector === undefined
      ? undefined
      : await db.read(searchVectors(row, { ...message, vector, others: text.keys }, minGraphVectors))
  const ended = performance.now()
  return {
    hits: mergeHits(text, vectors),
    textCount: text.keys.length,
    frequencies: text.frequencies,
    rewordings: text.rewordings,
    vectorCount: vectors?.keys.length ?? 0,
    ...(vectors?.background === undefined ? {} : { background: vectors.background }),
    textMs: between - began,
    vectorMs: vectors === undefined ? 0 : ended - between,
    textEngine: 'postgres',
    vectorMethod: vectors?.method ?? 'none',
    degraded,
    watermark,
  }
}

function* searchTextRows(space: string, message: SearchMessage): Read<{ text: TextHits; watermark: number }> {
  const row = yield* findSpaceRow(space)
  const none: TextHits = { keys: [], scores: [], frequencies: new Map(), rewordings: [] }
  if (row === undefined || message.terms.length === 0) return { text: none, watermark: row?.watermark ?? 0 }
  return { text: yield* searchText(row, message), watermark: row.watermark }
}

/** Selects the vector space of a query. @param degraded receives the reason if there is none */
function pickVectorSpace(
  rows: readonly VectorSpaceRow[],
  { vectorSpace }: SearchMessage,
  vector: Float32Array,
  degraded: string[],
): VectorSpaceRow | undefined {
  if (vectorSpace === undefined) return undefined
  const row = rows.find(({ name }) => name === vectorSpace)
  if (row === undefined) {
    if (rows.length > 0) degraded.push(describeMissingVectorSpace(vectorSpace))
    return undefined
  }
  if (row.dimension === vector.length) return row
  degraded.push(describeDimensionMismatch(vector.length, row.dimension))
  return undefined
}

function mergeHits(text: TextHits, vectors: VectorSearchResult | undefined): SearchHit[] {
  const hits = new Map<number, SearchHit>(text.keys.map((key, index) => [key, { key, bm25: text.scores[index] ?? 0 }]))
  for (const key of vectors?.keys ?? []) if (!hits.has(key)) hits.set(key, { key })
  for (const hit of hits.values()) {
    const cosine = vectors?.cosines.get(hit.key)
    if (cosine !== undefined) hit.cosine = cosine
  }
  return [...hits.values()]
}
