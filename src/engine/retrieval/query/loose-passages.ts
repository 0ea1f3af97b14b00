import { analyzeQuery } from '../../../lib/text/analyze.js'
import { ReadClock } from '../../base/clock.js'
import { type PassageCache, termHash } from '../../knowledge/index.js'
import type { SearchHit } from '../../search/index.js'
import type { PassageRow } from '../../store/rows/queries.js'
import { removeCopiedRows } from './copies.js'
import type { RankedPassage } from './evidence.js'
import { findQuestionTerms } from './fast.js'
import { preferDays, preferNamed } from './prefer.js'
import { beginRanking, MAX_INDEX_CANDIDATES } from './rank.js'
import { computeWeightedLength } from './rerank.js'
import type { RetrievalResult } from './retrieval.js'
import { createQuestionWeights } from './term-weights.js'

/** BM25's usual parameters and the weight of a title, as in the text index. */
const K1 = 1.2
const B = 0.75
const TITLE_WEIGHT = 2

interface LooseSearch {
  /** the text to search for */
  query: string
  topK: number
  scoreThreshold: number
  cache: PassageCache
  signal: AbortSignal
}

/**
 * Ranks passages that are in no space and no index, such as those of a file in a chat, by their words, as mode `fast`
 * ranks those of a space without vectors. Yields to other work.
 */
export async function rankLoosePassages(
  passages: readonly PassageRow[],
  { query, topK, scoreThreshold, cache, signal }: LooseSearch,
): Promise<RetrievalResult> {
  const terms = analyzeQuery(query)
  const { frequencies, counts, averageLength } = await countTerms(passages, terms, cache, signal)
  const idf = createQuestionWeights(query, frequencies, passages.length)
  const hits = counts
    .map(({ key, length, byTerm }): Required<Pick<SearchHit, 'key' | 'bm25'>> => {
      const damping = K1 * (1 - B + (B * length) / Math.max(1, averageLength))
      let bm25 = 0
      for (const [term, count] of byTerm) bm25 += (idf(term) * count * (K1 + 1)) / (count + damping)
      return { key, bm25 }
    })
    .filter(({ bm25 }) => bm25 > 0)
    .sort((a, b) => b.bm25 - a.bm25)
    .slice(0, MAX_INDEX_CANDIDATES)
  const loaded = new Map(passages.map((passage) => [passage.key, passage]))
  const ranking = beginRanking({ terms, hits, idf, cache, nodes: passages.length })
  const texts = new Map<number, PassageRow>()
  for (const key of ranking.texts) {
    const passage = loaded.get(key)
    if (passage !== undefined) texts.set(key, passage)
  }
  const { ranked, statistics } = ranking.compared(texts).finish(undefined)
  const found = preferNamed(query, ranked, loaded).flatMap(({ key, ...scores }): RankedPassage[] => {
    const passage = loaded.get(key)
    if (passage === undefined || scores.final < scoreThreshold) return []
    return [{ passage, ...scores, containedTerms: findQuestionTerms(cache.get(passage), terms) }]
  })
  return {
    ranked: preferDays(query, removeCopiedRows(found, terms).slice(0, topK)),
    terms,
    idf,
    statistics,
    metrics: {},
    degraded: [],
  }
}

interface TermCounts {
  key: number
  /** number of terms, those of the title counted twice */
  length: number
  byTerm: Map<string, number>
}

/** Counts the terms of a question in each passage, and the passages that contain each of them. */
async function countTerms(
  passages: readonly PassageRow[],
  terms: readonly string[],
  cache: PassageCache,
  signal: AbortSignal,
): Promise<{ frequencies: Map<string, number>; counts: TermCounts[]; averageLength: number }> {
  const clock = new ReadClock()
  const termByHash = new Map(terms.map((term) => [termHash(term), term]))
  const frequencies = new Map<string, number>()
  const counts: TermCounts[] = []
  let totalLength = 0
  for (const passage of passages) {
    const analysed = cache.get(passage)
    const byTerm = new Map<string, number>()
    for (let index = analysed.title; index < analysed.ends; index++) {
      const term = termByHash.get(analysed.words[index] ?? 0)
      if (term !== undefined) byTerm.set(term, (byTerm.get(term) ?? 0) + (index < analysed.body ? TITLE_WEIGHT : 1))
    }
    for (const term of byTerm.keys()) frequencies.set(term, (frequencies.get(term) ?? 0) + 1)
    const length = computeWeightedLength(analysed)
    totalLength += length
    counts.push({ key: passage.key, length, byTerm })
    await clock.yieldIfDue()
    signal.throwIfAborted()
  }
  return { frequencies, counts, averageLength: totalLength / Math.max(1, passages.length) }
}
