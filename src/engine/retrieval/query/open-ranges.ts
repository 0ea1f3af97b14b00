import { roundHundredths } from '../../../lib/round.js'
import { analyzeQuery } from '../../../lib/text/analyze.js'
import { mentionsName } from '../../../lib/text/name-mentions.js'
import { findNames } from '../../../lib/text/names.js'
import {
  type AnalysedPassage,
  measureComponents,
  type PassageCache,
  termHash,
  toCoreTerms,
} from '../../knowledge/index.js'
import type { Read } from '../../store/program.js'
import { filterVisibleKeys, loadPassages, type PassageRow } from '../../store/rows/queries.js'
import type { AdmittedQuery } from './admission.js'
import { computeAnswerConfidence, type QuestionStatistics, sumWeights } from './confidence.js'
import type { RankedPassage } from './evidence.js'
import type { ChosenDocument } from './page-index/choose.js'
import type { ScoredRange } from './page-index/navigate.js'
import {
  computeWeightedLength,
  measureFeatures,
  type PassageFeatures,
  prepareQuery,
  type RerankQuery,
} from './rerank.js'

/** Maximum ranges whose nodes are read, and maximum nodes that are read. */
const MAX_OPENED_RANGES = 48
const MAX_OPENED_NODES = 200

/** Minimum confidence of a page that covers this fraction of the question, in a document that the question names. */
const NAMED_DOCUMENT_CONFIDENCE = 0.3
const MIN_NAMED_DOCUMENT_COVERAGE = 0.2

/**
 * Weights of a node's features that are added to its range's summary score; found together with those of `scoreRanges`.
 */
const TEXT_WEIGHTS = { pairs: 1.6, sentenceCoverage: 0.6, strength: 0.6 }

interface ComparedNode {
  passage: PassageRow
  /** features for the question without the document's name, if that matches better */
  features: PassageFeatures
  /** probability that it answers, 0 to 1 */
  confidence: number
  score: number
}

interface OpenedRange extends ScoredRange {
  /** best first */
  nodes: ComparedNode[]
  total: number
}

export function selectRanges(scored: readonly ScoredRange[]): ScoredRange[] {
  const selected: ScoredRange[] = []
  let nodes = 0
  for (const one of scored.slice(0, MAX_OPENED_RANGES)) {
    nodes += one.range.count
    if (selected.length > 0 && nodes > MAX_OPENED_NODES) break
    selected.push(one)
  }
  return selected
}

/** Creates a test whether the document of a passage is named after a name in the question. */
export function createNameTest(query: string) {
  const names = findNames(query).map(({ text }) => text)
  const known = new Map<number, boolean>()
  return ({ doc_key, filename, document_title }: PassageRow): boolean => {
    const isNamed =
      known.get(doc_key) ??
      names.some((name) => mentionsName(`${filename.replaceAll('_', ' ')}\n${document_title}`, name))
    known.set(doc_key, isNamed)
    return isNamed
  }
}

/**
 * Variants of the question that a page can answer: without the name of its document, which occurs on no page; without
 * sentences that state how to answer; and for a ratio, the figures that it is computed from.
 */
export function createQuestionVariants(query: string, idf: (term: string) => number, statistics: QuestionStatistics) {
  const core = toCoreTerms(query)
  const parts = analyzeQuery(measureComponents(query))
  const prepare = (terms: readonly string[]) => ({
    query: prepareQuery(terms, idf),
    statistics: { ...statistics, weight: sumWeights(terms, idf) },
  })
  const known = new Map<number, ReturnType<typeof prepare>[]>()
  return ({ docKey, named }: ChosenDocument) => {
    const variants =
      known.get(docKey) ??
      [core.filter((term) => !named.has(termHash(term))), core, parts].filter(({ length }) => length > 0).map(prepare)
    known.set(docKey, variants)
    return variants
  }
}

/** Reads the nodes of ranges and compares each with the question. */
export function* openRanges(
  cache: PassageCache,
  { space, snapshot }: AdmittedQuery,
  ranges: readonly ScoredRange[],
  {
    fullQuery,
    listVariants,
    isNamed,
  }: {
    fullQuery: RerankQuery
    listVariants: ReturnType<typeof createQuestionVariants>
    isNamed: ReturnType<typeof createNameTest>
  },
): Read<{ ranges: OpenedRange[]; nodes: number; hidden: number }> {
  const keys = ranges.flatMap(({ range }) => toKeys(range))
  const visible = yield* filterVisibleKeys(space.key, snapshot, keys)
  const rows = yield* loadPassages(
    space.key,
    keys.filter((key) => visible.has(key)),
  )
  const analysed = new Map<number, AnalysedPassage>()
  for (const [key, { title, body }] of rows) analysed.set(key, cache.get({ key, title, body }))
  let lengths = 0
  for (const passage of analysed.values()) lengths += computeWeightedLength(passage)
  const average = lengths / Math.max(1, analysed.size)
  const opened = ranges.flatMap((one): OpenedRange[] => {
    const nodes = toKeys(one.range).flatMap((key): ComparedNode[] => {
      const passage = rows.get(key)
      const text = analysed.get(key)
      if (passage === undefined || text === undefined) return []
      const fullFeatures = measureFeatures(fullQuery, text, average)
      const { pairs, sentenceCoverage, strength } = TEXT_WEIGHTS
      const score =
        pairs * fullFeatures.pairs + sentenceCoverage * fullFeatures.sentenceCoverage + strength * fullFeatures.strength
      const [best = { features: fullFeatures, confidence: 0 }] = listVariants(one.document)
        .map(({ query, statistics }) => {
          const features = measureFeatures(query, text, average)
          const minConfidence =
            isNamed(passage) && features.coverage >= MIN_NAMED_DOCUMENT_COVERAGE ? NAMED_DOCUMENT_CONFIDENCE : 0
          return { features, confidence: Math.max(minConfidence, computeAnswerConfidence(features, statistics)) }
        })
        .sort((a, b) => b.confidence - a.confidence)
      return [{ passage, ...best, score }]
    })
    nodes.sort((a, b) => b.score - a.score || a.passage.key - b.passage.key)
    return nodes.length === 0 ? [] : [{ ...one, nodes, total: one.score + (nodes[0]?.score ?? 0) }]
  })
  opened.sort((a, b) => b.total - a.total || a.range.first - b.range.first)
  return { ranges: opened, nodes: rows.size, hidden: keys.length - rows.size }
}

function toKeys({ first, count }: { first: number; count: number }): number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

/**
 * Picks one node of each page, in the order of the ranges, then the other nodes of the ranges. The answer may be on any
 * of the pages, and a second passage of the same page adds little.
 */
export function pickPassages(opened: readonly OpenedRange[]): RankedPassage[] {
  const pages = new Set<string>()
  const first: { range: OpenedRange; node: ComparedNode }[] = []
  const rest: { range: OpenedRange; node: ComparedNode }[] = []
  for (const range of opened) {
    const page = range.range.page === null ? `${range.range.first}` : `p${range.range.page}`
    const id = `${range.document.docKey}/${page}`
    for (const [index, node] of range.nodes.entries())
      (index === 0 && !pages.has(id) ? first : rest).push({ range, node })
    pages.add(id)
  }
  const confidence = Math.max(0, ...first.map(({ node }) => node.confidence))
  const top = first[0]?.range.total ?? 0
  const lowest = top > 0 ? (first.at(-1)?.range.total ?? 0) / top : 0
  const computeFraction = ({ total }: OpenedRange): number => (top > 0 ? total / top : 0)
  return [
    ...first.map(({ range, node }) => toRankedPassage({ range, node }, confidence * computeFraction(range), top)),
    ...rest.map(({ range, node }) =>
      toRankedPassage({ range, node }, confidence * (lowest * computeFraction(range)), top),
    ),
  ]
}

function toRankedPassage(
  { range, node }: { range: OpenedRange; node: ComparedNode },
  final: number,
  top: number,
): RankedPassage {
  return {
    passage: node.passage,
    final,
    retrieval: top > 0 ? range.total / top : 0,
    features: node.features,
    alone: node.confidence,
    navigation: {
      section: range.range.section,
      summaryScore: roundHundredths(range.score),
      documentScore: roundHundredths(range.document.score),
    },
  }
}
