import { defined } from '../../lib/defined.js'
import { analyzeQuery } from '../../lib/text/analyze.js'
import { mentionsName } from '../../lib/text/name-mentions.js'
import { namesIn } from '../../lib/text/names.js'
import { termWeights } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import { reckonedFrom } from '../derived/page-index/measures.js'
import { readRanges } from '../derived/page-index/store.js'
import { askedTerms, asksForFigures, coreOf, sequenceOf } from '../derived/page-index/terms.js'
import { type AnalysedPassage, type PassageCache, termHash, termsHeld } from '../derived/passage.js'
import { deniedDocuments } from '../rows/permissions.js'
import { loadPassages, type PassageRow, visibleKeys } from '../rows/queries.js'
import { usageOf } from '../rows/space-usage.js'
import type { Read } from '../storage/program.js'
import type { Admitted } from './admission.js'
import { type AskedOf, answerConfidence, USUAL_FALLOFF, weightOf } from './confidence.js'
import { withoutCopiedRows } from './copies.js'
import type { RankedPassage } from './evidence.js'
import type { Retrieved } from './fast.js'
import { type ChosenDocument, chooseDocuments } from './page-index/choose.js'
import { SCORE_VERSION, type ScoredRange, scoreRanges } from './page-index/navigate.js'
import { type Features, measure, prepareQuery, type RerankQuery, weighedLength } from './rerank.js'
import { countShown } from './shown.js'
import { countedWeights } from './term-weights.js'
import { JUDGED, judgedQuestion, judgeWithheld, type Withheld } from './withheld.js'

export const RESEARCH_STRATEGY_VERSION = 'research-1'

/** Maximum ranges whose nodes are read, and maximum nodes that are read. */
const OPENED_RANGES = 48
const OPENED_NODES = 200

/** Minimum confidence of a page that covers this fraction of the question, in a document that the question names. */
const NEAR = 0.3
const NEAR_COVERAGE = 0.2

/**
 * Weights of a node's features that are added to its range's summary score; found together with those of `scoreRanges`.
 */
const TEXT_WEIGHTS = { pairs: 1.6, sentenceCoverage: 0.6, strength: 0.6 }

interface ReadNode {
  passage: PassageRow
  /** features for the question without the document's name, if that matches better */
  features: Features
  /** probability that it answers, 0 to 1 */
  confidence: number
  score: number
}

/** A question for the page index, and the documents (row keys) to skip. */
interface Navigated {
  terms: ReturnType<typeof askedTerms>
  names: string[]
  known: ReadonlyMap<string, number> | undefined
  query: string
  except: ReadonlySet<number>
}

interface Opened extends ScoredRange {
  /** best first */
  nodes: ReadNode[]
  total: number
}

/**
 * Page-index navigation: chooses documents by their summaries, walks their section trees down to ranges (a page of a
 * section), opens the best ranges, and takes the best node of each. Uses no search index, vectors, graph or rerank.
 */
export async function retrieveResearch(
  context: EngineContext,
  cache: PassageCache,
  admitted: Admitted,
  query: string,
  signal: AbortSignal,
): Promise<Retrieved> {
  const { space, profile, subject } = admitted
  const started = performance.now()
  const terms = askedTerms(query)
  const names = sequenceOf(query)
  const denied = await context.db.read(deniedDocuments(space.key, { subject }))
  // A trained model weighs words by all documents of the space, so it is not used for a reader with a scope.
  const known = denied.size === 0 ? await termWeights(context, space, names) : undefined
  signal.throwIfAborted()
  const { choice, idf, asked, scanned, scored, ranges, opened, passages, ...at } = await navigate(
    context,
    cache,
    admitted,
    { terms, names, known, query, except: denied },
    signal,
  )
  const kept = passages.filter(({ final }) => final >= profile.scoreThreshold)
  const shown = withoutCopiedRows(kept).slice(0, profile.topK)
  const ranked = shown.map((one): RankedPassage => {
    const { key, title, body } = one.passage
    return { ...one, held: termsHeld(cache.of({ key, title, body }), names) }
  })
  const withheld =
    denied.size === 0 ? undefined : await lookBeyond(context, cache, admitted, { query, idf, denied, passages }, signal)
  return {
    ranked,
    terms: names,
    idf,
    asked,
    ...defined({ withheld }),
    degraded: [],
    metrics: {
      ...noLegs(),
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
      summaryMs: round(at.chosen - started),
      navigationMs: round(at.navigated - at.chosen),
      readingMs: round(at.read - at.navigated),
      finalCandidateCount: ranked.length,
      permissionFilteredCount: withheld === undefined ? 0 : 1,
      metadataFilteredCount: 0,
      projectionFilteredCount: opened.hidden,
      scoreThresholdFilteredCount: passages.length - kept.length,
      thresholdFilteredCandidateCount: passages.length - kept.length,
      ...countShown(opened.ranges.flatMap(({ nodes }) => nodes.map(({ passage }) => passage))),
      totalMs: round(performance.now() - started),
    },
  }
}

/** Goes from the summaries of documents down to passages, best first; skips the documents in `except`. */
async function navigate(
  context: EngineContext,
  cache: PassageCache,
  admitted: Admitted,
  { terms, names, known, query, except }: Navigated,
  signal: AbortSignal,
) {
  const { db } = context
  const { space, snapshot, docs } = admitted
  const request = { terms, known, except, ...defined({ docs }) }
  const choice = await chooseDocuments(db, space.key, snapshot, request, signal)
  const chosen = performance.now()
  const trees = await Promise.all(
    choice.chosen.map(async (document) => ({ document, ranges: await readRanges(db, document.versionKey) })),
  )
  const { scored, scanned } = scoreRanges(trees, { terms, weights: choice.weights, figures: asksForFigures(query) })
  const frequencies = new Map(terms.map(({ term }, index) => [term, choice.frequencies[index] ?? 0]))
  const counted = countedWeights((term) => frequencies.get(term) ?? 0, choice.scanned)
  const idf = (term: string): number => (frequencies.has(term) ? (known?.get(term) ?? counted(term)) : 1)
  const navigated = performance.now()
  const ranges = toOpen(scored)
  const nodes = known === undefined ? choice.scanned : (await db.read(usageOf(space.key))).nodes
  const asked = { weight: weightOf(names, idf), nodes, falloff: USUAL_FALLOFF }
  const opened = await db.read(
    open(cache, admitted, ranges, {
      whole: prepareQuery(names, idf),
      cores: coresOf(query, idf, asked),
      isNamed: namedBy(query),
    }),
  )
  const passages = pick(opened.ranges)
  return { choice, idf, asked, scanned, scored, ranges, opened, passages, chosen, navigated, read: performance.now() }
}

/** Navigates all documents, and judges the best passage if the reader may not read it. */
async function lookBeyond(
  context: EngineContext,
  cache: PassageCache,
  admitted: Admitted,
  own: {
    query: string
    idf: (term: string) => number
    denied: ReadonlySet<number>
    passages: readonly RankedPassage[]
  },
  signal: AbortSignal,
): Promise<Withheld | undefined> {
  const question = judgedQuestion(own.query)
  if (question === undefined) return undefined
  const names = sequenceOf(question)
  const known = await termWeights(context, admitted.space, names)
  const everything = { terms: askedTerms(question), names, known, query: question, except: new Set<number>() }
  const { idf, asked, passages } = await navigate(context, cache, admitted, everything, signal)
  const heldIn = ({ passage: { key, title, body } }: RankedPassage) => termsHeld(cache.of({ key, title, body }), names)
  return judgeWithheld({
    ...{ question, terms: names, idf, ownIdf: own.idf, asked, scoreThreshold: admitted.profile.scoreThreshold },
    ranked: passages.map((one) => ({ ...one, held: heldIn(one) })),
    permitted: own.passages.slice(0, JUDGED).map((one) => ({ text: one.passage.body, held: heldIn(one) })),
    isWithheld: ({ passage }) => own.denied.has(passage.doc_key),
  })
}

/** Metrics that all modes report, for the parts that this mode does not use. */
function noLegs(): Record<string, unknown> {
  return {
    denseCandidateCount: 0,
    denseMs: 0,
    ftsCandidateCount: 0,
    ftsMs: 0,
    fusionCandidateCount: 0,
    rerankCandidateCount: 0,
  }
}

function toOpen(scored: readonly ScoredRange[]): ScoredRange[] {
  const kept: ScoredRange[] = []
  let nodes = 0
  for (const one of scored.slice(0, OPENED_RANGES)) {
    nodes += one.range.count
    if (kept.length > 0 && nodes > OPENED_NODES) break
    kept.push(one)
  }
  return kept
}

/** Creates a test whether the document of a passage is named after a name in the question. */
function namedBy(query: string) {
  const names = namesIn(query).map(({ text }) => text)
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
function coresOf(query: string, idf: (term: string) => number, asked: AskedOf) {
  const core = coreOf(query)
  const parts = analyzeQuery(reckonedFrom(query))
  const isAsked = (terms: readonly string[]): boolean => terms.length > 0
  const prepared = (terms: readonly string[]) => ({
    query: prepareQuery(terms, idf),
    asked: { ...asked, weight: weightOf(terms, idf) },
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
function* open(
  cache: PassageCache,
  { space, snapshot }: Admitted,
  ranges: readonly ScoredRange[],
  {
    whole,
    cores,
    isNamed,
  }: { whole: RerankQuery; cores: ReturnType<typeof coresOf>; isNamed: ReturnType<typeof namedBy> },
): Read<{ ranges: Opened[]; nodes: number; hidden: number }> {
  const keys = ranges.flatMap(({ range }) => keysOf(range))
  const visible = yield* visibleKeys(space.key, snapshot, keys)
  const rows = yield* loadPassages(
    space.key,
    keys.filter((key) => visible.has(key)),
  )
  const analysed = new Map<number, AnalysedPassage>()
  for (const [key, { title, body }] of rows) analysed.set(key, cache.of({ key, title, body }))
  let lengths = 0
  for (const passage of analysed.values()) lengths += weighedLength(passage)
  const average = lengths / Math.max(1, analysed.size)
  const opened = ranges.flatMap((one): Opened[] => {
    const nodes = keysOf(one.range).flatMap((key): ReadNode[] => {
      const passage = rows.get(key)
      const text = analysed.get(key)
      if (passage === undefined || text === undefined) return []
      const told = measure(whole, text, average)
      const { pairs, sentenceCoverage, strength } = TEXT_WEIGHTS
      const score = pairs * told.pairs + sentenceCoverage * told.sentenceCoverage + strength * told.strength
      const [best = { features: told, confidence: 0 }] = cores(one.document)
        .map(({ query, asked }) => {
          const features = measure(query, text, average)
          const least = isNamed(passage) && features.coverage >= NEAR_COVERAGE ? NEAR : 0
          return { features, confidence: Math.max(least, answerConfidence(features, asked)) }
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

function keysOf({ first, count }: { first: number; count: number }): number[] {
  return Array.from({ length: count }, (_, place) => first + place)
}

/**
 * Picks one node of each page, in the order of the ranges, then the other nodes of the ranges. The answer may be on any
 * of the pages, and a second passage of the same page adds little.
 */
function pick(opened: readonly Opened[]): RankedPassage[] {
  const pages = new Set<string>()
  const first: { range: Opened; node: ReadNode }[] = []
  const rest: { range: Opened; node: ReadNode }[] = []
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
  const shareOf = ({ total }: Opened): number => (top > 0 ? total / top : 0)
  return [
    ...first.map(({ range, node }) => ranked(range, node, confidence, shareOf(range), top)),
    ...rest.map(({ range, node }) => ranked(range, node, confidence, lowest * shareOf(range), top)),
  ]
}

function ranked(range: Opened, node: ReadNode, confidence: number, share: number, top: number): RankedPassage {
  return {
    passage: node.passage,
    final: confidence * share,
    retrieval: top > 0 ? range.total / top : 0,
    features: node.features,
    alone: node.confidence,
    navigation: {
      section: range.range.section,
      summaryScore: round(range.score),
      documentScore: round(range.document.score),
    },
  }
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
