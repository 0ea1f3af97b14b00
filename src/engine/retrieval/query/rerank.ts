import type { Rewording } from '../../../lib/text/compounds.js'
import { type AnalysedPassage, termHash } from '../../knowledge/index.js'

/** Match of a passage with one query; every feature is 0 to 1. */
export interface PassageFeatures {
  /** fraction of the query's distinct terms that occur, weighted by their rarity */
  coverage: number
  titleCoverage: number
  bodyCoverage: number
  /** largest coverage of one sentence */
  sentenceCoverage: number
  /** coverage in which frequent terms count more, relative to the passage's length (BM25's curve) */
  strength: number
  /** adjacent query terms that are adjacent here too; equal to the coverage for a query without adjacent terms */
  pairs: number
  /** how early the first query term occurs */
  earliness: number
}

/** A query prepared for comparison with many passages. */
export interface RerankQuery {
  /** index in `weights` of each distinct term, by hash */
  termIndexes: Map<number, number>
  /** weight of each distinct term: rare terms weigh more */
  weights: Float64Array
  total: number
  /** adjacent distinct terms: `left * size + right` to the pair's weight */
  pairs: Map<number, number>
  pairTotal: number
  /**
   * indexes of query terms that are replaced when all of the document terms occur; terms outside the query follow those
   * of `weights`
   */
  rewordings: { queryTerms: number[]; documentTerms: number[] }[]
  /** number of indexes */
  size: number
}

/** BM25's usual parameters, as in the text index. */
const K1 = 1.2
const B = 0.75
/** A term in the title counts as two in the body, as in the text index. */
const TITLE_WEIGHT = 2
/** Number of terms from the start after which the first match counts half. */
const HALF_EARLINESS_TERMS = 20
/** A frequent pair counts up to this multiple of its weight before the sum is limited to 1. */
const MAX_PAIR_FACTOR = 1.5
/** Weight of a replaced term, as a fraction of the term itself. */
const REWORDED_WEIGHT = 0.75

/**
 * Prepares a query.
 *
 * @param terms of `analyzeQuery`
 * @param idf weight of a term in the space
 * @param rewordings replacements of terms of the query
 */
export function prepareQuery(
  terms: readonly string[],
  idf: (term: string) => number,
  rewordings: readonly Rewording[] = [],
): RerankQuery {
  const termIndexes = new Map<number, number>()
  const weights: number[] = []
  const sequence = terms.map((term) => {
    const hash = termHash(term)
    const known = termIndexes.get(hash)
    if (known !== undefined) return known
    termIndexes.set(hash, weights.length)
    weights.push(Math.max(0, idf(term)))
    return weights.length - 1
  })
  const pairs = new Map<number, number>()
  for (let i = 1; i < sequence.length; i++) {
    const left = sequence[i - 1] ?? 0
    const right = sequence[i] ?? 0
    if (left !== right) pairs.set(left * weights.length + right, Math.min(weights[left] ?? 0, weights[right] ?? 0))
  }
  let size = weights.length
  const getTermIndex = (term: string): number => {
    const hash = termHash(term)
    const index = termIndexes.get(hash) ?? size++
    termIndexes.set(hash, index)
    return index
  }
  return {
    rewordings: rewordings.map(({ queryTerms, documentTerms }) => ({
      queryTerms: queryTerms.map(getTermIndex),
      documentTerms: documentTerms.map(getTermIndex),
    })),
    size,
    termIndexes,
    weights: Float64Array.from(weights),
    total: weights.reduce((sum, weight) => sum + weight, 0),
    pairs,
    pairTotal: [...pairs.values()].reduce((sum, weight) => sum + weight, 0),
  }
}

/** Adds occurrences of replacements to the counts of the terms that they replace. */
function creditRewordings({ rewordings }: RerankQuery, counts: Float64Array): void {
  if (rewordings.length === 0) return
  const found = rewordings.map(({ documentTerms }) => Math.min(...documentTerms.map((index) => counts[index] ?? 0)))
  for (const [i, { queryTerms }] of rewordings.entries())
    for (const index of queryTerms) counts[index] = (counts[index] ?? 0) + REWORDED_WEIGHT * (found[i] ?? 0)
}

/** Fraction of the query's weight that the counted terms have. */
function computeCoverage(query: RerankQuery, counts: Float64Array): number {
  if (query.total === 0) return 0
  let sum = 0
  for (let i = 0; i < query.weights.length; i++) sum += Math.min(1, counts[i] ?? 0) * (query.weights[i] ?? 0)
  return sum / query.total
}

interface BodyMatches {
  counts: Float64Array
  best: number
  first: number
  pairCounts: Map<number, number>
}

/** Counts matches, sentences and pairs in one pass over the body. */
function walkBody(query: RerankQuery, { words, body, ends, end: last }: AnalysedPassage): BodyMatches {
  const size = query.weights.length
  const matches: BodyMatches = { counts: new Float64Array(query.size), best: 0, first: -1, pairCounts: new Map() }
  const inSentence = new Float64Array(query.size)
  let previous = -1
  let start = body
  for (let sentence = ends; sentence < last; sentence++) {
    const end = body + (words[sentence] ?? 0)
    let matched = 0
    for (let i = start; i < end; i++) {
      const index = query.termIndexes.get(words[i] ?? 0) ?? -1
      if (index >= 0) {
        if (matched++ === 0) inSentence.fill(0)
        if (matches.first < 0) matches.first = i - body
        matches.counts[index] = (matches.counts[index] ?? 0) + 1
        inSentence[index] = 1
        const pair = previous * size + index
        if (previous >= 0 && index < size && query.pairs.has(pair))
          matches.pairCounts.set(pair, (matches.pairCounts.get(pair) ?? 0) + 1)
      }
      previous = index < size ? index : -1
    }
    if (matched > 0) {
      creditRewordings(query, inSentence)
      matches.best = Math.max(matches.best, computeCoverage(query, inSentence))
    }
    start = end
  }
  countCompounds(query, matches)
  return matches
}

/** A compound contains both of its parts next to each other. */
function countCompounds({ rewordings, pairs, weights }: RerankQuery, { counts, pairCounts }: BodyMatches): void {
  for (const { queryTerms, documentTerms } of rewordings) {
    const [one, other, third] = queryTerms
    const [compound] = documentTerms
    if (one === undefined || other === undefined || third !== undefined || compound === undefined) continue
    const found = counts[compound] ?? 0
    for (const pair of [one * weights.length + other, other * weights.length + one])
      if (found > 0 && pairs.has(pair)) pairCounts.set(pair, (pairCounts.get(pair) ?? 0) + found)
  }
}

function computePairs(query: RerankQuery, counts: Map<number, number>): number {
  let sum = 0
  for (const [pair, count] of counts) sum += (query.pairs.get(pair) ?? 0) * (1 + Math.log(count))
  return Math.min(1, sum / (query.pairTotal * MAX_PAIR_FACTOR))
}

function computeStrength(query: RerankQuery, counts: Float64Array, relativeLength: number): number {
  if (query.total === 0) return 0
  const damping = K1 * (1 - B + B * relativeLength)
  let sum = 0
  for (let i = 0; i < query.weights.length; i++) {
    const count = counts[i] ?? 0
    sum += ((query.weights[i] ?? 0) * count) / (count + damping)
  }
  return sum / query.total
}

/** Length of a passage in terms, as `computeStrength` counts it. */
export function computeWeightedLength({ title, body, ends }: AnalysedPassage): number {
  return TITLE_WEIGHT * (body - title) + (ends - body)
}

/**
 * Compares one passage with the query.
 *
 * @param averageLength mean `computeWeightedLength` of the candidates
 */
export function measureFeatures(query: RerankQuery, passage: AnalysedPassage, averageLength: number): PassageFeatures {
  const walk = walkBody(query, passage)
  const inTitle = new Float64Array(query.size)
  for (let position = passage.title; position < passage.body; position++) {
    const index = query.termIndexes.get(passage.words[position] ?? 0)
    if (index !== undefined) inTitle[index] = (inTitle[index] ?? 0) + TITLE_WEIGHT
  }
  const counts = inTitle.map((count, i) => count + (walk.counts[i] ?? 0))
  for (const some of [counts, inTitle, walk.counts]) creditRewordings(query, some)
  const coverage = computeCoverage(query, counts)
  return {
    coverage,
    titleCoverage: computeCoverage(query, inTitle),
    bodyCoverage: computeCoverage(query, walk.counts),
    sentenceCoverage: walk.best,
    strength: computeStrength(query, counts, computeWeightedLength(passage) / Math.max(1, averageLength)),
    pairs: query.pairTotal === 0 ? coverage : computePairs(query, walk.pairCounts),
    earliness: walk.first < 0 ? 0 : 1 / (1 + walk.first / HALF_EARLINESS_TERMS),
  }
}
