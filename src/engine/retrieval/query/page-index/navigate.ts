import type { IndexedRange, WeightedQueryTerm } from '../../../knowledge/index.js'
import type { ChosenDocument } from './choose.js'

export const SCORE_VERSION = 'page-index-1'

/** Documents with fewer ranges use the space's term weights: in them a term is rare by chance. */
const MIN_OWN_WEIGHT_RANGES = 20
/** A term of the document's name occurs on every page, so it does not distinguish pages. */
const NAME_WEIGHT = 0.1
/** BM25's usual parameters. */
const K1 = 1.2
const B = 0.6
/** Minimum numbers on a page of figures, and their fraction of its terms. */
const MIN_FIGURES = 80
const MIN_FIGURE_FRACTION = 0.5

/**
 * Weights of the parts of a summary. Found by random search on the 25 questions of FinanceBench's sample
 * (bench/research.ts) and rounded; titles weigh more than the search found, since those filings have few.
 */
const SUMMARY_WEIGHTS = { document: 0.8, density: 0.6, coverage: 0.3, lead: 0.6, title: 0.8, figures: 0.75 }

export interface ScoredRange {
  document: ChosenDocument
  range: IndexedRange
  /** score of its summary */
  score: number
}

/**
 * Walks the section trees of the chosen documents. Every range (a page of a section) is scored by its summary: its
 * section titles, its first line, its terms, and its figures if the question asks for figures.
 *
 * @param weights weight of each term in the space (rare terms weigh more), in the order of the terms
 * @returns ranges that contain a term of the question, best first, and the number of ranges that were scored
 */
export function scoreRanges(
  trees: readonly { document: ChosenDocument; ranges: readonly IndexedRange[] }[],
  request: { terms: readonly WeightedQueryTerm[]; weights: readonly number[]; figures: boolean },
): { scored: ScoredRange[]; scanned: number } {
  const scored: ScoredRange[] = []
  let scanned = 0
  for (const { document, ranges } of trees) {
    scanned += ranges.length
    const termIndexes = new Map(request.terms.map(({ hash }, index) => [hash, index]))
    const found = ranges.map((range) => countTerms(range, termIndexes))
    const weights = weighTerms(document, found, request)
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const length = ranges.reduce((sum, range) => sum + range.length, 0) / Math.max(1, ranges.length)
    for (const [index, range] of ranges.entries()) {
      const counts = found[index]
      if (counts === undefined || counts.every((count) => count === 0)) continue
      const score = computeSummaryScore({
        document,
        range,
        counts,
        termIndexes,
        weights,
        total,
        length,
        figures: request.figures,
      })
      scored.push({ document, range, score })
    }
  }
  scored.sort((a, b) => b.score - a.score || a.range.first - b.range.first)
  return { scored, scanned }
}

function weighTerms(
  document: ChosenDocument,
  found: readonly number[][],
  request: { terms: readonly WeightedQueryTerm[]; weights: readonly number[] },
): number[] {
  return request.terms.map(({ hash, weight }, index) => {
    if (document.named.has(hash)) return weight * NAME_WEIGHT
    if (found.length < MIN_OWN_WEIGHT_RANGES) return weight * (request.weights[index] ?? 1)
    const containing = found.filter((counts) => (counts[index] ?? 0) > 0).length
    return weight * Math.log(1 + (found.length - containing + 0.5) / (containing + 0.5))
  })
}

/** Counts each term in a range; terms of its titles and first line count at least once. */
function countTerms(range: IndexedRange, termIndexes: ReadonlyMap<number, number>): number[] {
  const counts = new Array<number>(termIndexes.size).fill(0)
  for (const [index, hash] of range.terms.entries()) {
    const termIndex = termIndexes.get(hash)
    if (termIndex !== undefined) counts[termIndex] = range.counts[index] ?? 0
  }
  for (const hash of [...range.title, ...range.lead]) {
    const termIndex = termIndexes.get(hash)
    if (termIndex !== undefined) counts[termIndex] = Math.max(1, counts[termIndex] ?? 0)
  }
  return counts
}

function computeSummaryScore(input: {
  document: ChosenDocument
  range: IndexedRange
  counts: readonly number[]
  termIndexes: ReadonlyMap<number, number>
  weights: readonly number[]
  total: number
  length: number
  figures: boolean
}): number {
  const { document, range, counts, termIndexes, weights } = input
  const total = Math.max(input.total, Number.EPSILON)
  const damping = K1 * (1 - B + (B * range.length) / Math.max(1, input.length))
  let density = 0
  let coverage = 0
  for (const [index, count] of counts.entries()) {
    if (count === 0) continue
    const weight = weights[index] ?? 0
    density += (weight * count * (K1 + 1)) / (count + damping)
    coverage += weight
  }
  const computeFraction = (hashes: readonly number[], skipped?: ReadonlySet<number>): number => {
    let sum = 0
    for (const hash of hashes) if (skipped?.has(hash) !== true) sum += weights[termIndexes.get(hash) ?? -1] ?? 0
    return sum / total
  }
  return (
    SUMMARY_WEIGHTS.document * document.score +
    (SUMMARY_WEIGHTS.density * density) / total +
    (SUMMARY_WEIGHTS.coverage * coverage) / total +
    SUMMARY_WEIGHTS.lead * computeFraction(range.lead) +
    SUMMARY_WEIGHTS.title * computeFraction(range.title, document.named) +
    (input.figures ? SUMMARY_WEIGHTS.figures * computeFigureFraction(range) : 0)
  )
}

/** How much a range is a page of figures, 0 to 1. */
function computeFigureFraction({ figures, length }: IndexedRange): number {
  return Math.min(1, figures / MIN_FIGURES) * Math.min(1, figures / Math.max(1, length) / MIN_FIGURE_FRACTION)
}
