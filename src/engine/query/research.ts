import { omitUndefined } from '../../lib/omit-undefined.js'
import { analyzeQuery } from '../../lib/text/analyze.js'
import { mentionsName } from '../../lib/text/name-mentions.js'
import { findNames } from '../../lib/text/names.js'
import { termWeights } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import { measureComponents } from '../derived/page-index/measures.js'
import { readRanges } from '../derived/page-index/store.js'
import { asksForFigures, toCoreTerms, toQueryTerms, toTermSequence } from '../derived/page-index/terms.js'
import { type AnalysedPassage, findContainedTerms, type PassageCache, termHash } from '../derived/passage.js'
import { listDeniedDocuments } from '../rows/permissions.js'
import { filterVisibleKeys, loadPassages, type PassageRow } from '../rows/queries.js'
import { getSpaceUsage } from '../rows/space-usage.js'
import type { Read } from '../storage/program.js'
import type { AdmittedQuery } from './admission.js'
import { computeAnswerConfidence, DEFAULT_FALLOFF, type QuestionStatistics, sumWeights } from './confidence.js'
import { removeCopiedRows } from './copies.js'
import type { RankedPassage } from './evidence.js'
import type { RetrievalResult } from './fast.js'
import { type ChosenDocument, chooseDocuments } from './page-index/choose.js'
import { SCORE_VERSION, type ScoredRange, scoreRanges } from './page-index/navigate.js'
import {
  computeWeightedLength,
  measureFeatures,
  type PassageFeatures,
  prepareQuery,
  type RerankQuery,
} from './rerank.js'
import { countShownItems } from './shown-items.js'
import { createTermWeights } from './term-weights.js'
import { judgeWithheld, MAX_COMPARED_PERMITTED, toJudgedQuestion, type WithheldPassage } from './withheld.js'

export const RESEARCH_STRATEGY_VERSION = 'research-1'

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

/** A question for the page index, and the documents (row keys) to skip. */
interface NavigationRequest {
  terms: ReturnType<typeof toQueryTerms>
  names: string[]
  known: ReadonlyMap<string, number> | undefined
  query: string
  except: ReadonlySet<number>
}

interface OpenedRange extends ScoredRange {
  /** best first */
  nodes: ComparedNode[]
  total: number
}

/**
 * Page-index navigation: chooses documents by their summaries, walks their section trees down to ranges (a page of a
 * section), opens the best ranges, and takes the best node of each. Uses no search index, vectors, graph or rerank.
 */
export async function retrieveResearch(
  context: EngineContext,
  cache: PassageCache,
  admitted: AdmittedQuery,
  query: string,
  signal: AbortSignal,
): Promise<RetrievalResult> {
  const { space, profile, subject } = admitted
  const started = performance.now()
  const terms = toQueryTerms(query)
  const names = toTermSequence(query)
  const denied = await context.db.read(listDeniedDocuments(space.key, { subject }))
  // A trained model weighs words by all documents of the space, so it is not used for a reader with a scope.
  const known = denied.size === 0 ? await termWeights(context, space, names) : undefined
  signal.throwIfAborted()
  const {
    choice,
    idf,
    asked: statistics,
    scanned,
    scored,
    ranges,
    opened,
    passages,
    ...at
  } = await navigate(context, cache, admitted, { terms, names, known, query, except: denied }, signal)
  const aboveThreshold = passages.filter(({ final }) => final >= profile.scoreThreshold)
  const shown = removeCopiedRows(aboveThreshold).slice(0, profile.topK)
  const rankedPassages = shown.map((one): RankedPassage => {
    const { key, title, body } = one.passage
    return { ...one, held: findContainedTerms(cache.get({ key, title, body }), names) }
  })
  const withheld =
    denied.size === 0
      ? undefined
      : await judgeAllDocuments(context, cache, admitted, { query, idf, denied, passages }, signal)
  return {
    ranked: rankedPassages,
    terms: names,
    idf,
    asked: statistics,
    ...omitUndefined({ withheld }),
    degraded: [],
    metrics: {
      ...toEmptyIndexMetrics(),
      pageIndexScoreVersion: SCORE_VERSION,
      pageIndexScannedOutlines: choice.scanned,
      pageIndexScannedNodes: scanned,
      pageIndexMatchedNodes: scored.length,
      pageIndexOpenedRanges: opened.ranges.length,
      pageIndexOpenedNodes: opened.nodes,
      pageIndexCandidateTruncated: choice.truncated || ranges.length < scored.length,
      pageIndexPendingDocuments: 0,
      summaryCandidateCount: choice.matched,
      selectedDocumentCount: choice.chosen.length,
      selectedSectionCount: new Set(opened.ranges.map(({ document, range }) => `${document.docKey}/${range.section}`))
        .size,
      summaryMs: roundHundredths(at.chosen - started),
      navigationMs: roundHundredths(at.navigated - at.chosen),
      readingMs: roundHundredths(at.read - at.navigated),
      finalCandidateCount: rankedPassages.length,
      permissionFilteredCount: withheld === undefined ? 0 : 1,
      metadataFilteredCount: 0,
      projectionFilteredCount: opened.hidden,
      scoreThresholdFilteredCount: passages.length - aboveThreshold.length,
      thresholdFilteredCandidateCount: passages.length - aboveThreshold.length,
      ...countShownItems(opened.ranges.flatMap(({ nodes }) => nodes.map(({ passage }) => passage))),
      totalMs: roundHundredths(performance.now() - started),
    },
  }
}

/** Goes from the summaries of documents down to passages, best first; skips the documents in `except`. */
async function navigate(
  context: EngineContext,
  cache: PassageCache,
  admitted: AdmittedQuery,
  { terms, names, known, query, except }: NavigationRequest,
  signal: AbortSignal,
) {
  const { db } = context
  const { space, snapshot, docs } = admitted
  const request = { terms, known, except, ...omitUndefined({ docs }) }
  const choice = await chooseDocuments(db, space.key, snapshot, request, signal)
  const chosen = performance.now()
  const trees = await Promise.all(
    choice.chosen.map(async (document) => ({ document, ranges: await readRanges(db, document.versionKey) })),
  )
  const { scored, scanned } = scoreRanges(trees, { terms, weights: choice.weights, figures: asksForFigures(query) })
  const frequencies = new Map(terms.map(({ term }, index) => [term, choice.frequencies[index] ?? 0]))
  const counted = createTermWeights((term) => frequencies.get(term) ?? 0, choice.scanned)
  const idf = (term: string): number => (frequencies.has(term) ? (known?.get(term) ?? counted(term)) : 1)
  const navigated = performance.now()
  const ranges = selectRanges(scored)
  const nodes = known === undefined ? choice.scanned : (await db.read(getSpaceUsage(space.key))).nodes
  const statistics = { weight: sumWeights(names, idf), nodes, falloff: DEFAULT_FALLOFF }
  const opened = await db.read(
    openRanges(cache, admitted, ranges, {
      whole: prepareQuery(names, idf),
      cores: createQuestionVariants(query, idf, statistics),
      isNamed: createNameTest(query),
    }),
  )
  const passages = pickPassages(opened.ranges)
  return {
    choice,
    idf,
    asked: statistics,
    scanned,
    scored,
    ranges,
    opened,
    passages,
    chosen,
    navigated,
    read: performance.now(),
  }
}

/** Navigates all documents, and judges the best passage if the reader may not read it. */
async function judgeAllDocuments(
  context: EngineContext,
  cache: PassageCache,
  admitted: AdmittedQuery,
  own: {
    query: string
    idf: (term: string) => number
    denied: ReadonlySet<number>
    passages: readonly RankedPassage[]
  },
  signal: AbortSignal,
): Promise<WithheldPassage | undefined> {
  const question = toJudgedQuestion(own.query)
  if (question === undefined) return undefined
  const names = toTermSequence(question)
  const known = await termWeights(context, admitted.space, names)
  const everything = { terms: toQueryTerms(question), names, known, query: question, except: new Set<number>() }
  const { idf, asked: statistics, passages } = await navigate(context, cache, admitted, everything, signal)
  const heldIn = ({ passage: { key, title, body } }: RankedPassage) =>
    findContainedTerms(cache.get({ key, title, body }), names)
  return judgeWithheld({
    ...{
      question,
      terms: names,
      idf,
      ownIdf: own.idf,
      asked: statistics,
      scoreThreshold: admitted.profile.scoreThreshold,
    },
    ranked: passages.map((one) => ({ ...one, held: heldIn(one) })),
    permitted: own.passages
      .slice(0, MAX_COMPARED_PERMITTED)
      .map((one) => ({ text: one.passage.body, held: heldIn(one) })),
    isWithheld: ({ passage }) => own.denied.has(passage.doc_key),
  })
}

/** Metrics that all modes report, for the parts that this mode does not use. */
function toEmptyIndexMetrics(): Record<string, unknown> {
  return {
    denseCandidateCount: 0,
    denseMs: 0,
    ftsCandidateCount: 0,
    ftsMs: 0,
    fusionCandidateCount: 0,
    rerankCandidateCount: 0,
  }
}

function selectRanges(scored: readonly ScoredRange[]): ScoredRange[] {
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
function createNameTest(query: string) {
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
function createQuestionVariants(query: string, idf: (term: string) => number, statistics: QuestionStatistics) {
  const core = toCoreTerms(query)
  const parts = analyzeQuery(measureComponents(query))
  const isAsked = (terms: readonly string[]): boolean => terms.length > 0
  const prepared = (terms: readonly string[]) => ({
    query: prepareQuery(terms, idf),
    asked: { ...statistics, weight: sumWeights(terms, idf) },
  })
  const known = new Map<number, ReturnType<typeof prepared>[]>()
  return ({ docKey, named }: ChosenDocument) => {
    const cores =
      known.get(docKey) ??
      [core.filter((term) => !named.has(termHash(term))), core, parts].filter(isAsked).map(prepared)
    known.set(docKey, cores)
    return cores
  }
}

/** Reads the nodes of ranges and compares each with the question. */
function* openRanges(
  cache: PassageCache,
  { space, snapshot }: AdmittedQuery,
  ranges: readonly ScoredRange[],
  {
    whole,
    cores,
    isNamed,
  }: {
    whole: RerankQuery
    cores: ReturnType<typeof createQuestionVariants>
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
      const fullFeatures = measureFeatures(whole, text, average)
      const { pairs, sentenceCoverage, strength } = TEXT_WEIGHTS
      const score =
        pairs * fullFeatures.pairs + sentenceCoverage * fullFeatures.sentenceCoverage + strength * fullFeatures.strength
      const [best = { features: fullFeatures, confidence: 0 }] = cores(one.document)
        .map(({ query, asked: statistics }) => {
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
function pickPassages(opened: readonly OpenedRange[]): RankedPassage[] {
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
    ...first.map(({ range, node }) => toRankedPassage(range, node, confidence, computeFraction(range), top)),
    ...rest.map(({ range, node }) => toRankedPassage(range, node, confidence, lowest * computeFraction(range), top)),
  ]
}

function toRankedPassage(
  range: OpenedRange,
  node: ComparedNode,
  confidence: number,
  fraction: number,
  top: number,
): RankedPassage {
  return {
    passage: node.passage,
    final: confidence * fraction,
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

function roundHundredths(value: number): number {
  return Math.round(value * 100) / 100
}
