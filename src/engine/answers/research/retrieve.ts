import type { QueryBody } from '../../../contract/gateway/queries.js'
import { analyzeQuery } from '../../../lib/text/analyze.js'
import { mentionsLongestWord, mentionsName } from '../../../lib/text/name-mentions.js'
import type { Degradation } from '../../base/degraded.js'
import { type AnalysedPassage, analysePassage } from '../../knowledge/index.js'
import {
  type AdmittedQuery,
  computeAnswerConfidence,
  computeWeightedLength,
  findEvidence,
  judgeRetrieval,
  measureFeatures,
  prepareQuery,
  type RankedPassage,
  type RetrievalResult,
  sumWeights,
} from '../../retrieval/index.js'
import type { PassageRow } from '../../store/rows/queries.js'
import { createBundle } from './bundle.js'
import { findNamedDocuments, type NamedDocuments } from './named-documents.js'
import type { StepScope, TaskRun } from './task-run.js'

/** One retrieval: what is searched, and its question. */
export interface ResearchRetrieval {
  /** index of the question in the plan */
  question: number
  text: string
  /** the question as it is searched: extended by the words of a part that it refers to */
  searched: string
  /** words that lead on from the evidence, for a further retrieval of an open question */
  lead?: string
  /** names that answers must be about, and the other names of the complete question */
  entities?: string[]
  others?: string[]
  /** also searches documents that are not named after them */
  wider?: boolean
}

/** A completed retrieval; its evidence is the partial bundle with this id. */
export interface CompletedRetrieval extends ResearchRetrieval {
  bundleId: string
  /** weights of the question's terms in this space */
  idf: [term: string, weight: number][]
  /** what it had to omit; absent when nothing */
  degraded?: Degradation[]
  /** whether the caller may not read the best passage */
  withheld?: boolean
}

/** Searches in the task's mode, with the publication and profile that were frozen with it. */
export async function runRetrievalStep(
  run: TaskRun,
  retrieval: ResearchRetrieval,
  { signal, remainingPassages }: StepScope,
) {
  const { context } = run
  const { admitted, isAbout } = await scopeRetrieval(run, retrieval, signal)
  const query = retrieval.lead === undefined ? retrieval.searched : `${retrieval.searched}\n\n${retrieval.lead}`
  const body: QueryBody = {
    knowledgeSpaceId: admitted.space.id,
    query,
    mode: admitted.profile.defaultMode,
    activeDocumentIds: [],
    activeEntityIds: [],
  }
  const refine = (all: RetrievalResult): RetrievalResult => {
    signal.throwIfAborted()
    const found = { ...all, ranked: all.ranked.filter(({ passage }) => isAbout(passage)) }
    const ranked = retrieval.lead === undefined ? found : rankByQuestion(retrieval.searched, found)
    return { ...ranked, ranked: ranked.ranked.slice(0, remainingPassages) }
  }
  const options = {
    admitted,
    body,
    route: run.frozen.route,
    signal,
    traceId: run.row.id,
    question: retrieval.text,
    keepsAll: true,
    byRules: true,
    refine,
  }
  const { retrieved, bundle } =
    admitted.docs?.length === 0
      ? await judgeRetrieval(context, options, EMPTY_RESULT)
      : await findEvidence(run.services, options)
  const partial = createBundle(bundle, run.services.context.now())
  const idf = analyzeQuery(retrieval.searched).map((term): [string, number] => [term, retrieved.idf(term)])
  const { degraded } = retrieved
  const done: CompletedRetrieval = {
    ...retrieval,
    bundleId: partial.id,
    idf: [...new Map(idf)],
    ...(degraded.length === 0 ? {} : { degraded }),
    ...(retrieved.withheld !== undefined ? { withheld: true } : {}),
  }
  return { body: done, toolCalls: 1, scanned: retrieved.ranked.length, partial }
}

const EMPTY_RESULT: RetrievalResult = {
  ranked: [],
  terms: [],
  idf: () => 1,
  statistics: { weight: 0, nodes: 0, falloff: 0 },
  metrics: {},
  degraded: [],
}

/**
 * Limits a retrieval with names to the documents for these names. In documents that are also about others, only
 * passages that contain a name count.
 */
async function scopeRetrieval(
  run: TaskRun,
  { entities = [], others = [], wider = false }: ResearchRetrieval,
  signal: AbortSignal,
): Promise<{ admitted: AdmittedQuery; isAbout: (passage: PassageRow) => boolean }> {
  const admitted = await run.admitted()
  if (entities.length === 0) return { admitted, isAbout: () => true }
  const namedDocuments: NamedDocuments[] = []
  for (const name of entities)
    namedDocuments.push(await findNamedDocuments({ context: run.context, admitted, signal }, { name, others, wider }))
  const docs = [...new Set(namedDocuments.flatMap((one) => one.docs))]
  const shared = new Set(others.length === 0 ? [] : namedDocuments.flatMap((one) => one.shared))
  const isAbout = (passage: PassageRow): boolean => {
    if (!shared.has(passage.doc_key)) return true
    const text = `${passage.title}\n${passage.body}`
    return entities.some((name) => mentionsName(text, name) || mentionsLongestWord(text, name))
  }
  return { admitted: { ...admitted, docs }, isAbout }
}

/** Ranks passages that were found with a lead by the question alone: a lead is not evidence. */
function rankByQuestion(question: string, retrieved: RetrievalResult): RetrievalResult {
  const terms = analyzeQuery(question)
  const query = prepareQuery(terms, retrieved.idf)
  const statistics = { ...retrieved.statistics, weight: sumWeights(terms, retrieved.idf) }
  const passages = retrieved.ranked.map(({ passage }): AnalysedPassage => analysePassage(passage))
  const average =
    passages.reduce((sum, passage) => sum + computeWeightedLength(passage), 0) / Math.max(1, passages.length)
  const ranked = retrieved.ranked.flatMap((one, index): RankedPassage[] => {
    const passage = passages[index]
    if (passage === undefined) return []
    const features = measureFeatures(query, passage, average)
    return [{ ...one, features, final: computeAnswerConfidence(features, statistics) }]
  })
  return { ...retrieved, terms, statistics, ranked: ranked.sort((a, b) => b.final - a.final) }
}
