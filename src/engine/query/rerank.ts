import { type AnalysedPassage, termHash } from './passage.js'

/** What ranking knows of a passage for one query; every feature is 0 to 1. */
export interface Features {
  /** share of the query's distinct terms found, weighted by how telling they are */
  coverage: number
  titleCoverage: number
  bodyCoverage: number
  /** the largest coverage of one sentence */
  sentenceCoverage: number
  /** coverage where each term counts the more, the more often it occurs for the passage's length (BM25's curve) */
  strength: number
  /** neighbouring query terms that are neighbours here too; a query without neighbours takes its coverage */
  pairs: number
  /** how early the first query term comes */
  earliness: number
}

/** A query prepared for comparison with many passages. */
export interface RerankQuery {
  /** distinct terms by hash, to their place in `weights` */
  places: Map<number, number>
  /** how telling each distinct term is */
  weights: Float64Array
  total: number
  /** neighbouring distinct terms: `left * size + right` to the pair's weight */
  pairs: Map<number, number>
  pairTotal: number
}

/** BM25's usual parameters, as in the text index. */
const K1 = 1.2
const B = 0.75
/** A term in the title counts as two in the body, as in the text index. */
const TITLE_WEIGHT = 2
/** Terms from the start after which the first match counts half. */
const EARLY_TERMS = 20
/** A neighbouring pair found often counts up to this much of its weight before it is cut at 1. */
const PAIR_CEILING = 1.5

/**
 * Prepares a query.
 *
 * @param terms of `analyzeQuery`
 * @param idf weight of a term in the space
 */
export function prepareQuery(terms: readonly string[], idf: (term: string) => number): RerankQuery {
  const places = new Map<number, number>()
  const weights: number[] = []
  const sequence = terms.map((term) => {
    const hash = termHash(term)
    const known = places.get(hash)
    if (known !== undefined) return known
    places.set(hash, weights.length)
    weights.push(Math.max(0, idf(term)))
    return weights.length - 1
  })
  const pairs = new Map<number, number>()
  for (let i = 1; i < sequence.length; i++) {
    const left = sequence[i - 1] ?? 0
    const right = sequence[i] ?? 0
    if (left !== right) pairs.set(left * weights.length + right, Math.min(weights[left] ?? 0, weights[right] ?? 0))
  }
  return {
    places,
    weights: Float64Array.from(weights),
    total: weights.reduce((sum, weight) => sum + weight, 0),
    pairs,
    pairTotal: [...pairs.values()].reduce((sum, weight) => sum + weight, 0),
  }
}

/** Share of the query's weight that the counted terms carry. */
function share(query: RerankQuery, counts: Uint16Array): number {
  if (query.total === 0) return 0
  let sum = 0
  for (let i = 0; i < counts.length; i++) if (counts[i] !== 0) sum += query.weights[i] ?? 0
  return sum / query.total
}

interface Walk {
  counts: Uint16Array
  best: number
  first: number
  pairCounts: Map<number, number>
}

/** One pass over the body: matches, sentences and pairs. */
function walkBody(query: RerankQuery, { words, body, ends, end: last }: AnalysedPassage): Walk {
  const size = query.weights.length
  const walk: Walk = { counts: new Uint16Array(size), best: 0, first: -1, pairCounts: new Map() }
  const inSentence = new Uint16Array(size)
  let previous = -1
  let start = body
  for (let sentence = ends; sentence < last; sentence++) {
    const end = body + (words[sentence] ?? 0)
    let matched = 0
    for (let i = start; i < end; i++) {
      const place = query.places.get(words[i] ?? 0) ?? -1
      if (place >= 0) {
        if (matched++ === 0) inSentence.fill(0)
        if (walk.first < 0) walk.first = i - body
        walk.counts[place] = (walk.counts[place] ?? 0) + 1
        inSentence[place] = 1
        const pair = previous * size + place
        if (previous >= 0 && query.pairs.has(pair)) walk.pairCounts.set(pair, (walk.pairCounts.get(pair) ?? 0) + 1)
      }
      previous = place
    }
    if (matched > 0) walk.best = Math.max(walk.best, share(query, inSentence))
    start = end
  }
  return walk
}

function pairShare(query: RerankQuery, counts: Map<number, number>): number {
  let sum = 0
  for (const [pair, count] of counts) sum += (query.pairs.get(pair) ?? 0) * (1 + Math.log(count))
  return Math.min(1, sum / (query.pairTotal * PAIR_CEILING))
}

function strength(query: RerankQuery, counts: Uint16Array, relativeLength: number): number {
  if (query.total === 0) return 0
  const damping = K1 * (1 - B + B * relativeLength)
  let sum = 0
  for (let i = 0; i < counts.length; i++) {
    const count = counts[i] ?? 0
    sum += ((query.weights[i] ?? 0) * count) / (count + damping)
  }
  return sum / query.total
}

/** Length of a passage in terms as `strength` counts it. */
export function weighedLength({ title, body, ends }: AnalysedPassage): number {
  return TITLE_WEIGHT * (body - title) + (ends - body)
}

/**
 * Compares one passage with the query.
 *
 * @param averageLength mean `weighedLength` of the candidates
 */
export function measure(query: RerankQuery, passage: AnalysedPassage, averageLength: number): Features {
  const walk = walkBody(query, passage)
  const inTitle = new Uint16Array(query.weights.length)
  for (let at = passage.title; at < passage.body; at++) {
    const place = query.places.get(passage.words[at] ?? 0)
    if (place !== undefined) inTitle[place] = (inTitle[place] ?? 0) + TITLE_WEIGHT
  }
  const counts = inTitle.map((count, i) => count + (walk.counts[i] ?? 0))
  const coverage = share(query, counts)
  return {
    coverage,
    titleCoverage: share(query, inTitle),
    bodyCoverage: share(query, walk.counts),
    sentenceCoverage: walk.best,
    strength: strength(query, counts, weighedLength(passage) / Math.max(1, averageLength)),
    pairs: query.pairTotal === 0 ? coverage : pairShare(query, walk.pairCounts),
    earliness: walk.first < 0 ? 0 : 1 / (1 + walk.first / EARLY_TERMS),
  }
}
