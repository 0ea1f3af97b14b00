import type { EvidenceBundle, QueryBody } from '../../contract/gateway/queries.js'
import { analyzeQuery } from '../../lib/text/analyze.js'

import { mentionsLongestWord, mentionsName } from '../../lib/text/name-mentions.js'
import type { Degradation } from '../base/degraded.js'
import { type AnalysedPassage, analysePassage } from '../derived/passage.js'

import type { Admitted } from '../query/admission.js'
import { assembleEvidence } from '../query/assemble-evidence.js'
import { answerConfidence, weightOf } from '../query/confidence.js'
import type { RankedPassage } from '../query/evidence.js'
import type { Retrieved } from '../query/fast.js'
import { freshnessNow } from '../query/freshness.js'
import { measure, prepareQuery, weighedLength } from '../query/rerank.js'
import { retrieveInMode } from '../query/stages.js'
import type { PassageRow } from '../rows/queries.js'
import { TraceRecorder } from '../traces/recorder.js'
import { bundleOf } from './bundle.js'
import { documentsNamed, type NamedDocuments } from './named-documents.js'
import type { StepScope, TaskRun } from './task-run.js'

/** One retrieval: what is searched, and its question. */
export interface Look {
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
export interface LookDone extends Look {
  bundleId: string
  /** weights of the question's terms in this space */
  idf: [term: string, weight: number][]
  /** what it had to omit; absent when nothing */
  degraded?: Degradation[]
  /** whether the caller may not read the best passage */
  withheld?: boolean
}

/** Searches in the task's mode, with the publication and profile that were frozen with it. */
export async function look(run: TaskRun, asked: Look, { signal, room }: StepScope) {
  const { context } = run
  const { admitted, isAbout } = await whereOf(run, asked, signal)
  const query = asked.lead === undefined ? asked.searched : `${asked.searched}\n\n${asked.lead}`
  const body: QueryBody = {
    knowledgeSpaceId: admitted.space.id,
    query,
    mode: admitted.profile.defaultMode,
    activeDocumentIds: [],
    activeEntityIds: [],
  }
  const recorder = new TraceRecorder()
  const request = { body, query, admitted, route: run.frozen.route, recorder, signal }
  const found = admitted.docs?.length === 0 ? NOTHING : (await retrieveInMode(context, run.shared, request)).retrieved
  const retrieved = { ...found, ranked: found.ranked.filter(({ passage }) => isAbout(passage)) }
  signal.throwIfAborted()
  const judged = asked.lead === undefined ? retrieved : seenFrom(asked.searched, retrieved)
  const cut = { ...judged, ranked: judged.ranked.slice(0, room) }
  const passages = cut.ranked.map(({ passage }) => passage)
  const freshness = await freshnessNow(context, passages)
  const partial: EvidenceBundle = bundleOf(assembleEvidence({ query: asked.text, traceId: run.row.id, freshness }, cut))
  const idf = analyzeQuery(asked.searched).map((term): [string, number] => [term, cut.idf(term)])
  const { degraded } = retrieved
  const done: LookDone = {
    ...asked,
    bundleId: partial.id,
    idf: [...new Map(idf)],
    ...(degraded.length === 0 ? {} : { degraded }),
    ...(retrieved.withheld !== undefined ? { withheld: true } : {}),
  }
  return { body: done, toolCalls: 1, scanned: cut.ranked.length, partial }
}

const NOTHING: Retrieved = {
  ranked: [],
  terms: [],
  idf: () => 1,
  asked: { weight: 0, nodes: 0, falloff: 0 },
  metrics: {},
  degraded: [],
}

/**
 * Limits a retrieval with names to the documents for these names. In documents that are also about others, only
 * passages that contain a name count.
 */
async function whereOf(
  run: TaskRun,
  { entities = [], others = [], wider = false }: Look,
  signal: AbortSignal,
): Promise<{ admitted: Admitted; isAbout: (passage: PassageRow) => boolean }> {
  const admitted = await run.admitted()
  if (entities.length === 0) return { admitted, isAbout: () => true }
  const bearers: NamedDocuments[] = []
  for (const name of entities)
    bearers.push(await documentsNamed(run.context, admitted, { name, others, wider }, signal))
  const docs = [...new Set(bearers.flatMap((one) => one.docs))]
  const shared = new Set(others.length === 0 ? [] : bearers.flatMap((one) => one.shared))
  const isAbout = (passage: PassageRow): boolean => {
    if (!shared.has(passage.doc_key)) return true
    const told = `${passage.title}\n${passage.body}`
    return entities.some((name) => mentionsName(told, name) || mentionsLongestWord(told, name))
  }
  return { admitted: { ...admitted, docs }, isAbout }
}

/** Ranks passages that were found with a lead by the question alone: a lead is not evidence. */
function seenFrom(question: string, retrieved: Retrieved): Retrieved {
  const terms = analyzeQuery(question)
  const query = prepareQuery(terms, retrieved.idf)
  const asked = { ...retrieved.asked, weight: weightOf(terms, retrieved.idf) }
  const analysed = retrieved.ranked.map(({ passage }): AnalysedPassage => analysePassage(passage))
  const average = analysed.reduce((sum, passage) => sum + weighedLength(passage), 0) / Math.max(1, analysed.length)
  const ranked = retrieved.ranked.flatMap((one, place): RankedPassage[] => {
    const passage = analysed[place]
    if (passage === undefined) return []
    const features = measure(query, passage, average)
    return [{ ...one, features, final: answerConfidence(features, asked) }]
  })
  return { ...retrieved, terms, asked, ranked: ranked.sort((a, b) => b.final - a.final) }
}
