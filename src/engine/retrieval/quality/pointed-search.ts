import { analyzeContent } from '../../../lib/text/analyze.js'
import type { EngineContext } from '../../library/index.js'
import { loadPassages } from '../../store/rows/queries.js'
import { findEverydaySynonyms } from './everyday-words.js'
import { findVisibleHits, type TriageScope } from './open-hits.js'
import { computePointedSentences, type EvidenceText, type PointedSentences } from './pointed.js'

/** Maximum distinct terms that are looked up, and maximum passages that are read. */
const MAX_TERMS = 32
const MAX_PASSAGES = 5

/**
 * Finds the sentences of the space that a question points to, among its evidence and the hits of one text search for
 * its words and their everyday synonyms: a refused question often has no evidence.
 *
 * @param evidence evidence of the question, best first
 * @throws KsError `unavailable` when the text index cannot be queried
 */
export async function findPointedSentences(
  context: EngineContext,
  scope: TriageScope,
  query: string,
  evidence: readonly EvidenceText[],
): Promise<PointedSentences> {
  const terms = [...new Set(analyzeContent(query))].slice(0, MAX_TERMS)
  const synonyms = [...new Set(terms.flatMap((term) => findEverydaySynonyms(term)))]
  const hits = await findVisibleHits(context, scope, {
    terms: [...terms, ...synonyms],
    textK: MAX_PASSAGES,
    vectorK: 1,
  })
  const found = hits
    .filter(({ bm25 }) => bm25 !== undefined)
    .sort((a, b) => (b.bm25 ?? 0) - (a.bm25 ?? 0) || a.key - b.key)
  const loaded = await context.db.read(
    loadPassages(
      scope.space.key,
      found.map(({ key }) => key),
    ),
  )
  const maxScore = found[0]?.bm25 ?? 1
  const inOtherWords = found.flatMap(({ key, bm25 }): EvidenceText[] => {
    const passage = loaded.get(key)
    return passage === undefined ? [] : [{ id: passage.id, text: passage.body, score: (bm25 ?? 0) / maxScore }]
  })
  return computePointedSentences(query, mergeEvidence(evidence.slice(0, MAX_PASSAGES), inOtherWords))
}

/** Merges passages, each with the better of its scores, which are relative to the best of either list. */
function mergeEvidence(evidence: readonly EvidenceText[], found: readonly EvidenceText[]): EvidenceText[] {
  const maxScore = Math.max(...evidence.map(({ score }) => score), 0) || 1
  const byId = new Map(evidence.map((one) => [one.id, { ...one, score: one.score / maxScore }]))
  for (const one of found) {
    const existing = byId.get(one.id)
    if (existing === undefined || existing.score < one.score) byId.set(one.id, one)
  }
  return [...byId.values()]
}
