import { omitUndefined } from '../../../lib/omit-undefined.js'
import { roundHundredths } from '../../../lib/round.js'
import { asksForFigures, findContainedTerms, readRanges, toQueryTerms, toTermSequence } from '../../knowledge/index.js'
import { termWeights } from '../../library/index.js'
import { listDeniedDocuments } from '../../store/rows/permissions.js'
import { getSpaceUsage } from '../../store/rows/space-usage.js'
import { DEFAULT_FALLOFF, sumWeights } from './confidence.js'
import { removeCopiedRows } from './copies.js'
import { countShownItems, type RankedPassage } from './evidence.js'
import { createNameTest, createQuestionVariants, openRanges, pickPassages, selectRanges } from './open-ranges.js'
import { chooseDocuments } from './page-index/choose.js'
import { SCORE_VERSION, scoreRanges } from './page-index/navigate.js'
import { prepareQuery } from './rerank.js'
import type { PassageScope, RetrievalResult } from './retrieval.js'
import { createTermWeights } from './term-weights.js'
import { judgeWithheld, MAX_COMPARED_PERMITTED, toJudgedQuestion, type WithheldPassage } from './withheld.js'

export const RESEARCH_STRATEGY_VERSION = 'research-1'

/** A question for the page index, and the documents (row keys) to skip. */
interface NavigationRequest {
  terms: ReturnType<typeof toQueryTerms>
  names: string[]
  known: ReadonlyMap<string, number> | undefined
  except: ReadonlySet<number>
}

/**
 * Page-index navigation: chooses documents by their summaries, walks their section trees down to ranges (a page of a
 * section), opens the best ranges, and takes the best node of each. Uses no search index, vectors, graph or rerank.
 */
export async function retrieveResearch(retrieval: PassageScope): Promise<RetrievalResult> {
  const { context, cache, admitted, query, signal } = retrieval
  const { space, profile, subject } = admitted
  const started = performance.now()
  const terms = toQueryTerms(query)
  const names = toTermSequence(query)
  const denied = await context.db.read(listDeniedDocuments(space.key, { subject }))
  // A trained model weighs words by all documents of the space, so it is not used for a reader with a scope.
  const known = denied.size === 0 ? await termWeights(context, space, names) : undefined
  signal.throwIfAborted()
  const { choice, idf, statistics, scanned, scored, ranges, opened, passages, ...times } = await navigate(retrieval, {
    terms,
    names,
    known,
    except: denied,
  })
  const aboveThreshold = passages.filter(({ final }) => final >= profile.scoreThreshold)
  const shown = removeCopiedRows<RankedPassage>(aboveThreshold, names).slice(0, profile.topK)
  const rankedPassages = shown.map((one): RankedPassage => {
    const { key, title, body } = one.passage
    return { ...one, containedTerms: findContainedTerms(cache.get({ key, title, body }), names) }
  })
  const withheld = denied.size === 0 ? undefined : await judgeAllDocuments(retrieval, { idf, denied, passages })
  return {
    ranked: rankedPassages,
    terms: names,
    idf,
    statistics,
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
      summaryMs: roundHundredths(times.chosen - started),
      navigationMs: roundHundredths(times.navigated - times.chosen),
      readingMs: roundHundredths(times.read - times.navigated),
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
async function navigate(retrieval: PassageScope, { terms, names, known, except }: NavigationRequest) {
  const { context, cache, admitted, query } = retrieval
  const { db } = context
  const { space } = admitted
  const choice = await chooseDocuments(retrieval, { terms, known, except })
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
      fullQuery: prepareQuery(names, idf),
      listVariants: createQuestionVariants(query, idf, statistics),
      isNamed: createNameTest(query),
    }),
  )
  const passages = pickPassages(opened.ranges)
  return {
    choice,
    idf,
    statistics,
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
  retrieval: PassageScope,
  own: {
    idf: (term: string) => number
    denied: ReadonlySet<number>
    passages: readonly RankedPassage[]
  },
): Promise<WithheldPassage | undefined> {
  const { context, cache, admitted, query } = retrieval
  const question = toJudgedQuestion(query)
  if (question === undefined) return undefined
  const names = toTermSequence(question)
  const known = await termWeights(context, admitted.space, names)
  const everything = { terms: toQueryTerms(question), names, known, except: new Set<number>() }
  const { idf, statistics, passages } = await navigate({ ...retrieval, query: question }, everything)
  const findTermsIn = ({ passage: { key, title, body } }: RankedPassage) =>
    findContainedTerms(cache.get({ key, title, body }), names)
  return judgeWithheld({
    ...{
      question,
      terms: names,
      idf,
      ownIdf: own.idf,
      statistics,
      scoreThreshold: admitted.profile.scoreThreshold,
    },
    ranked: passages.map((one) => ({ ...one, containedTerms: findTermsIn(one) })),
    permitted: own.passages
      .slice(0, MAX_COMPARED_PERMITTED)
      .map((one) => ({ text: one.passage.body, containedTerms: findTermsIn(one) })),
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
