import type { Driver } from '../../storage/driver.js'
import type { Read } from '../../storage/program.js'
import { notHere, otherLength } from '../notes.js'
import type { SearchHit, SearchHits } from '../ports.js'
import type { SearchMessage } from '../protocol.js'
import type { TextHits } from '../text-index.js'
import { spaceRow } from './space-rows.js'
import { searchText } from './text-search.js'
import { type VectorSpaceRow, vectorSpacesOf } from './vector-rows.js'
import { searchVectors, type VectorAnswer } from './vector-search.js'
import type { Shelf } from './writing.js'

/**
 * Searches the rows of a space; also returns their watermark. @param minGraphVectors vectors from which a graph is used
 */
export async function answer(
  db: Driver,
  { space, key }: Shelf,
  message: SearchMessage,
  graphFrom: number,
): Promise<SearchHits & { watermark: number }> {
  const began = performance.now()
  const { text, watermark } = await db.read(textOf(space, message))
  const between = performance.now()
  const degraded: string[] = []
  const { vector } = message
  const row = vector === undefined ? undefined : pick(await db.read(vectorSpacesOf(key)), message, vector, degraded)
  const found =
    row === undefined || vector === undefined
      ? undefined
      : await db.read(searchVectors(row, message, vector, text.keys, graphFrom))
  const ended = performance.now()
  return {
    hits: unite(text, found),
    textCount: text.keys.length,
    frequencies: text.frequencies,
    rewordings: text.rewordings,
    vectorCount: found?.keys.length ?? 0,
    ...(found?.background === undefined ? {} : { background: found.background }),
    textMs: between - began,
    vectorMs: found === undefined ? 0 : ended - between,
    textEngine: 'postgres',
    vectorMethod: found?.method ?? 'none',
    degraded,
    watermark,
  }
}

function* textOf(space: string, message: SearchMessage): Read<{ text: TextHits; watermark: number }> {
  const row = yield* spaceRow(space)
  const none: TextHits = { keys: [], scores: [], frequencies: new Map(), rewordings: [] }
  if (row === undefined || message.terms.length === 0) return { text: none, watermark: row?.watermark ?? 0 }
  return { text: yield* searchText(row, message), watermark: row.watermark }
}

/** Selects the vector space of a query. @param degraded receives the reason if there is none */
function pick(
  rows: readonly VectorSpaceRow[],
  { vectorSpace }: SearchMessage,
  vector: Float32Array,
  degraded: string[],
): VectorSpaceRow | undefined {
  if (vectorSpace === undefined) return undefined
  const row = rows.find(({ name }) => name === vectorSpace)
  if (row === undefined) {
    if (rows.length > 0) degraded.push(notHere(vectorSpace))
    return undefined
  }
  if (row.dimension === vector.length) return row
  degraded.push(otherLength(vector.length, row.dimension))
  return undefined
}

function unite(text: TextHits, vectors: VectorAnswer | undefined): SearchHit[] {
  const hits = new Map<number, SearchHit>(text.keys.map((key, place) => [key, { key, bm25: text.scores[place] ?? 0 }]))
  for (const key of vectors?.keys ?? []) if (!hits.has(key)) hits.set(key, { key })
  for (const hit of hits.values()) {
    const cosine = vectors?.cosines.get(hit.key)
    if (cosine !== undefined) hit.cosine = cosine
  }
  return [...hits.values()]
}
