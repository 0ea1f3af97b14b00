import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Rewording } from '../../../lib/text/compounds.js'
import { type AnalysedPassage, PassageCache } from '../../knowledge/index.js'
import type { SearchHit } from '../../search/index.js'
import {
  type CosineCalibration,
  computeAnswerConfidence,
  computeDenseConfidence,
  computeDenseWeights,
  computeFalloff,
  computeSpreadsAboveChance,
  type DenseWeights,
  maxFeatures,
  type QuestionStatistics,
  sumWeights,
} from './confidence.js'
import { computeSimilarity, type FusedHit, fuse, scaleMinMax } from './fuse.js'
import { computeWeightedLength, measureFeatures, type PassageFeatures, prepareQuery } from './rerank.js'

/** Maximum candidates of each index (docs/retrieval-internals.md). */
export const MAX_INDEX_CANDIDATES = 200
/** Fused candidates whose text is loaded and compared with the query; 20 to 100 give the same nDCG@10 within .0004. */
export const MAX_RERANK_CANDIDATES = 30
/** Without reranking, the texts of the best few are still compared, to make the scores absolute. */
const MAX_SCORED_CANDIDATES = 5
/** Position between the worst candidate's cosine and the best one's. */
const NEAR_BEST_FRACTION = 0.5

/** Weight of each part of a candidate's rank score; both index scores are min-max scaled over the candidates. */
export interface RankWeights {
  text: number
  dense: number
  titleCoverage: number
  pairs: number
  sentenceCoverage: number
  earliness: number
  likeness: number
}

/**
 * Found by random search on SciFact's training queries, SQuAD, Cranfield and CMRC, as complete documents and in chunks,
 * then rounded: the rounded weights hold on both halves of the queries (bench/retrieval-offline.ts). The weight of
 * likeness was chosen afterwards on one half for the best mean.
 */
export const RANK_WEIGHTS: RankWeights = {
  text: 1,
  dense: 0.4,
  titleCoverage: 0.7,
  pairs: 0.2,
  sentenceCoverage: 0.8,
  earliness: 0.2,
  likeness: 0.5,
}

/** When less of the question is unmatched, likeness hardly changes the order, and vectors are not read. */
const MIN_OPEN_FRACTION = 0.1

export interface RankRequest {
  /** analysed query (`analyzeQuery`) */
  terms: readonly string[]
  /** replacements of some terms in the space */
  rewordings?: readonly Rewording[]
  hits: readonly SearchHit[]
  /** weight of a term in the space: rare terms weigh more */
  idf: (term: string) => number
  cache?: PassageCache
  /** false keeps the order of fusion */
  rerank?: boolean
  weights?: RankWeights
  /** passages of the space */
  nodes: number
  /** how to interpret cosines of a model that is not built in; the weights of the built-in model were measured */
  calibration?: CosineCalibration
}

/** Texts of nodes by key; deleted nodes are missing. */
type RankingTexts = ReadonlyMap<number, { title: string; body: string }>
/** Vectors of nodes by key, of unit length, from the built-in model: likeness was measured with that model only. */
type RankingVectors = ReadonlyMap<number, Float32Array>

export interface RankedCandidate {
  key: number
  /** 0 to 1, descending; comparable between queries: the first one's is the confidence that the space answers */
  final: number
  /** 0 to 1 within the query: the fused score of both indexes */
  retrieval: number
  /** 0 to 1 within the query: the rank score of the text comparison */
  rerank?: number
  features?: PassageFeatures
  /** whether only its vector matches the question */
  byMeaning?: boolean
}

/** Result of ranking, and the statistics that it used. */
export interface Ranking {
  /** best first */
  ranked: RankedCandidate[]
  /** the candidates whose texts were compared, best first */
  compared: readonly ComparedCandidate[]
  statistics: QuestionStatistics
}

/** A candidate whose text was compared with the query. */
export interface ComparedCandidate extends FusedHit {
  features: PassageFeatures
  /** both index scores, scaled to 0 to 1 over the compared candidates */
  indexScores: { text: number; dense: number }
  /** similarity to the best candidates, 0 to 1, smaller the more of the question is matched; 0 without vectors */
  likeness: number
  /** sum of `RANK_WEIGHTS` times the index scores, the features and the likeness */
  score: number
}

/**
 * Ranks the hits of both indexes: fusion, then a comparison of the best candidates' texts with the query. Without
 * vectors the text index ranks alone, and vice versa. Works in steps, since the caller reads in between: `texts` are
 * the keys of the nodes whose texts are needed, `open` of those whose vectors are needed.
 */
export function beginRanking(request: RankRequest): {
  texts: number[]
  compared(texts: RankingTexts): { open: number[]; finish(vectors: RankingVectors | undefined): Ranking }
} {
  const statistics = computeQuestionStatistics(request)
  const dense = getDenseWeights(request)
  const fused = dense === undefined ? fuse(request.hits) : fuse(request.hits, dense.fused)
  const reranking = request.rerank ?? true
  const head = fused.slice(0, reranking ? MAX_RERANK_CANDIDATES : MAX_SCORED_CANDIDATES)
  return {
    // All of them: the caller decides which are visible, and a cached node may have been deleted.
    texts: head.map(({ key }) => key),
    compared(texts) {
      const passages = analysePassages(request, texts)
      const present = head.filter(({ key }) => passages.has(key))
      const compared = compareCandidates(request, present, passages, dense)
      const open = reranking ? sortByScore(compared) : 0
      return {
        open: open < MIN_OPEN_FRACTION ? [] : compared.map(({ key }) => key),
        finish(vectors) {
          if (vectors !== undefined) sortByLikeness(request, compared, open, vectors)
          const tail = fused.slice(head.length)
          const confidence = computeConfidence(request, compared, statistics)
          const finished = reranking
            ? assignScores(compared, tail, confidence)
            : assignFusedScores(compared, tail, confidence)
          return { ranked: markVectorMatches(request, compared, finished), compared, statistics }
        },
      }
    },
  }
}

function analysePassages(request: RankRequest, texts: RankingTexts): Map<number, AnalysedPassage> {
  const cache = request.cache ?? new PassageCache()
  const found = new Map<number, AnalysedPassage>()
  for (const [key, { title, body }] of texts) found.set(key, cache.get({ key, title, body }))
  return found
}

function compareCandidates(
  request: RankRequest,
  head: readonly FusedHit[],
  texts: ReadonlyMap<number, AnalysedPassage>,
  denseWeight: DenseWeights | undefined,
): ComparedCandidate[] {
  const base = request.weights ?? RANK_WEIGHTS
  const weights = denseWeight === undefined ? base : { ...base, dense: denseWeight.rank }
  const query = prepareQuery(request.terms, request.idf, request.rewordings)
  let lengths = 0
  for (const passage of texts.values()) lengths += computeWeightedLength(passage)
  const average = lengths / Math.max(1, texts.size)
  const text = scaleMinMax(head.map((candidate) => candidate.bm25))
  const dense = scaleMinMax(head.map((candidate) => candidate.cosine))
  return head.flatMap((candidate, i): ComparedCandidate[] => {
    const passage = texts.get(candidate.key)
    if (passage === undefined) return []
    const features = measureFeatures(query, passage, average)
    const indexScores = { text: text[i] ?? 0, dense: dense[i] ?? 0 }
    const score =
      weights.text * indexScores.text +
      weights.dense * indexScores.dense +
      weights.titleCoverage * features.titleCoverage +
      weights.pairs * features.pairs +
      weights.sentenceCoverage * features.sentenceCoverage +
      weights.earliness * features.earliness
    return [{ ...candidate, features, indexScores, likeness: 0, score }]
  })
}

const compareByScore = (a: ComparedCandidate, b: ComparedCandidate): number => b.score - a.score || a.key - b.key

/** Sorts by score, best first. @returns fraction of the question that even the best candidates do not match, 0 to 1 */
function sortByScore(compared: ComparedCandidate[]): number {
  compared.sort(compareByScore)
  // When one passage contains all terms, similarity to it adds no information.
  return 1 - Math.max(0, ...compared.map(({ features }) => features.coverage))
}

/** Also sorts by similarity to the best candidates. */
function sortByLikeness(
  { weights = RANK_WEIGHTS }: RankRequest,
  compared: ComparedCandidate[],
  open: number,
  vectors: RankingVectors,
): void {
  if (vectors.size === 0) return
  const likeness = computeSimilarity(compared.map(({ key, score }) => ({ score, vector: vectors.get(key) })))
  for (const [index, one] of compared.entries()) {
    one.likeness = open * (likeness[index] ?? 0)
    one.score += weights.likeness * one.likeness
  }
  compared.sort(compareByScore)
}

/** Statistics of the question before texts are compared. */
function computeQuestionStatistics(request: RankRequest): QuestionStatistics {
  const { terms, idf, nodes, hits } = request
  const bm25 = hits.flatMap((hit) => hit.bm25 ?? [])
  const byVectors = computeVectorConfidence(request)
  return {
    weight: sumWeights(terms, idf),
    nodes,
    falloff: computeFalloff(bm25, MAX_INDEX_CANDIDATES),
    ...omitUndefined({ byVectors }),
  }
}

/** Probability, by a provider's vectors, that a candidate answers. */
function computeVectorConfidence({ hits, calibration }: Pick<RankRequest, 'hits' | 'calibration'>): number | undefined {
  if (calibration === undefined) return undefined
  const best = findBestCosine(hits)
  return best === undefined ? undefined : computeDenseConfidence(best, calibration)
}

/** Best cosine of all candidates. */
function findBestCosine(hits: readonly { cosine?: number }[]): number | undefined {
  const cosines = hits.flatMap(({ cosine }) => cosine ?? [])
  return cosines.length === 0 ? undefined : Math.max(...cosines)
}

function getDenseWeights({ hits, calibration }: RankRequest): DenseWeights | undefined {
  if (calibration === undefined) return undefined
  const best = findBestCosine(hits)
  return best === undefined ? undefined : computeDenseWeights(best, calibration)
}

/**
 * Probability that the candidates answer, 0 to 1: by words or by vectors, whichever is higher. Without text hits, the
 * cosine of the built-in model is used.
 */
function computeConfidence(
  { hits, calibration }: RankRequest,
  compared: readonly ComparedCandidate[],
  statistics: QuestionStatistics,
): number {
  if (compared.length === 0) return 0
  const { byVectors = 0 } = statistics
  if (hits.every((hit) => hit.bm25 === undefined))
    return calibration === undefined ? Math.min(1, Math.max(0, findBestCosine(compared) ?? 0)) : byVectors
  return Math.max(byVectors, computeAnswerConfidence(maxFeatures(compared.map(({ features }) => features)), statistics))
}

/**
 * Marks each compared passage that matches by its vector: with a calibrated model when its cosine is above chance, with
 * the built-in model when its cosine is nearer to the best candidate's than to the worst's.
 */
function markVectorMatches(
  { calibration }: RankRequest,
  compared: readonly ComparedCandidate[],
  ranked: readonly RankedCandidate[],
): RankedCandidate[] {
  const near = new Set(
    compared.flatMap(({ key, cosine, indexScores }) => {
      if (cosine === undefined) return []
      const isNear =
        calibration === undefined
          ? indexScores.dense >= NEAR_BEST_FRACTION
          : computeSpreadsAboveChance(cosine, calibration) > 0
      return isNear ? [key] : []
    }),
  )
  return ranked.map((one) => (near.has(one.key) ? { ...one, byMeaning: true } : one))
}

function assignScores(
  compared: readonly ComparedCandidate[],
  tail: readonly FusedHit[],
  confidence: number,
): RankedCandidate[] {
  const top = compared[0]?.score ?? 0
  const ranked = compared.map(({ key, fused, features, score }): RankedCandidate => {
    const rerank = top > 0 ? score / top : 1
    return { key, final: confidence * rerank, retrieval: fused, rerank, features }
  })
  // The other candidates follow in the order of fusion, with scores below those of the compared ones.
  const lowest = ranked.at(-1)?.final ?? 0
  const highest = tail[0]?.fused ?? 0
  const rest = tail.map(({ key, fused }): RankedCandidate => {
    return { key, final: highest > 0 ? (lowest * fused) / highest : 0, retrieval: fused }
  })
  return [...ranked, ...rest]
}

function assignFusedScores(
  compared: readonly ComparedCandidate[],
  tail: readonly FusedHit[],
  confidence: number,
): RankedCandidate[] {
  const top = compared[0]?.fused ?? 0
  const scored = (fused: number): number => (top > 0 ? confidence * Math.min(1, fused / top) : confidence)
  const ranked = compared.map(({ key, fused, features }) => ({ key, final: scored(fused), retrieval: fused, features }))
  return [...ranked, ...tail.map(({ key, fused }) => ({ key, final: scored(fused), retrieval: fused }))]
}
