import { analyzeContent } from '../../lib/text/analyze.js'
import type { EngineContext } from '../context.js'
import { loadPassages } from '../rows/queries.js'
import { everydaySynonyms } from './everyday-words.js'
import { type Searched, visibleHits } from './open-hits.js'
import { type Given, type Pointed, pointedTo } from './pointed.js'

/** Maximum distinct terms that are looked up, and maximum passages that are read. */
const MAX_TERMS = 32
const PASSAGES = 5

/**
 * Finds the sentences of the space that a question points to, among its evidence and the hits of one text search for
 * its words and their everyday synonyms: a refused question often has no evidence.
 *
 * @param evidence evidence of the question, best first
 * @throws KsError `unavailable` when the text index cannot be queried
 */
export async function pointedIn(
  context: EngineContext,
  where: Searched,
  query: string,
  evidence: readonly Given[],
): Promise<Pointed> {
  const terms = [...new Set(analyzeContent(query))].slice(0, MAX_TERMS)
  const synonyms = [...new Set(terms.flatMap((term) => everydaySynonyms(term)))]
  const hits = await visibleHits(context, where, { terms: [...terms, ...synonyms], textK: PASSAGES, vectorK: 1 })
  const found = hits
    .filter(({ bm25 }) => bm25 !== undefined)
    .sort((a, b) => (b.bm25 ?? 0) - (a.bm25 ?? 0) || a.key - b.key)
  const loaded = await context.db.read(
    loadPassages(
      where.space.key,
      found.map(({ key }) => key),
    ),
  )
  const most = found[0]?.bm25 ?? 1
  const inOtherWords = found.flatMap(({ key, bm25 }): Given[] => {
    const passage = loaded.get(key)
    return passage === undefined ? [] : [{ id: passage.id, text: passage.body, score: (bm25 ?? 0) / most }]
  })
  return pointedTo(query, merged(evidence.slice(0, PASSAGES), inOtherWords))
}

/** Merges passages, each with the better of its scores, which are relative to the best of either list. */
function merged(evidence: readonly Given[], found: readonly Given[]): Given[] {
  const most = Math.max(...evidence.map(({ score }) => score), 0) || 1
  const byId = new Map(evidence.map((one) => [one.id, { ...one, score: one.score / most }]))
  for (const one of found) {
    const known = byId.get(one.id)
    if (known === undefined || known.score < one.score) byId.set(one.id, one)
  }
  return [...byId.values()]
}
