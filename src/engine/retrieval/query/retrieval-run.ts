import type { EvidenceBundle, QueryBody, RetrievalPlan } from '../../../contract/gateway/queries.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { pluralize } from '../../../lib/text/pluralize.js'
import { createDegradation, toDegradedFields } from '../../base/degraded.js'
import type { LeaseRequest, ReadLease } from '../../base/leases.js'
import { judgeWithModel } from '../../knowledge/index.js'
import { type EngineContext, embeddingReference, isTrained, TraceRecorder } from '../../library/index.js'
import type { SessionTurn } from '../../store/rows/sessions.js'
import type { AdmittedQuery } from './admission.js'
import { assembleEvidence } from './assemble-evidence.js'
import { DEEP_STRATEGY_VERSION, retrieveDeep } from './deep.js'
import { embedForFast, retrieveFast, STRATEGY_VERSION } from './fast.js'
import { findFollowUp } from './follow-up.js'
import { computeFreshness, computeFreshnessWithFiles } from './freshness.js'
import { type ConcreteMode, type ModeRoute, resolveMode } from './mode.js'
import { MAX_INDEX_CANDIDATES, MAX_RERANK_CANDIDATES } from './rank.js'
import { RESEARCH_STRATEGY_VERSION, retrieveResearch } from './research.js'
import type {
  QueryEmbedding,
  QuestionScope,
  Retrieval,
  RetrievalObserver,
  RetrievalResult,
  RetrievalServices,
} from './retrieval.js'

/** An admitted query to retrieve for. */
interface RetrievalOptions {
  admitted: AdmittedQuery
  body: QueryBody
  /** the question as it is searched; absent = that of the body */
  query?: string
  signal: AbortSignal
  /** a mode that was chosen before; absent = the retrieval chooses it */
  route?: ModeRoute
  /** vector of the question, if embedding started early */
  embedding?: Promise<QueryEmbedding> | undefined
}

/** Options of a retrieval whose passages are judged. */
interface EvidenceOptions extends RetrievalOptions {
  traceId: string
  /** the question that the evidence is judged for; absent = that of the body */
  question?: string
  /** earlier turns of the session, oldest first */
  turns?: readonly SessionTurn[]
  /** whether every passage becomes evidence, and not only the relevant ones */
  keepsAll?: boolean
  /** whether only the rules judge contradictions, also if the space has a model */
  byRules?: boolean
  /** whether files of this machine are not compared with their documents */
  ignoresFiles?: boolean
  /** selects and ranks the passages to judge */
  refine?: (found: RetrievalResult) => RetrievalResult
}

/** A retrieval that has ended. */
interface RetrievalRun {
  route: ModeRoute
  plan: RetrievalPlan
  retrieved: RetrievalResult
}

interface JudgedRetrieval {
  retrieved: RetrievalResult
  bundle: EvidenceBundle
}

/**
 * Chooses the mode and runs its pipeline. Records the steps `query.route`, `query.embed` (fast and deep) and
 * `query.retrieve`.
 */
export async function runRetrieval(
  services: RetrievalServices,
  { admitted, body, query = body.query, signal, embedding, ...options }: RetrievalOptions,
  observer: RetrievalObserver = {},
): Promise<RetrievalRun> {
  const { context } = services
  const { recorder = new TraceRecorder(context.now) } = observer
  const route =
    options.route ??
    (await recorder.step(
      'query.route',
      () => resolveMode(context, admitted, body, signal),
      (decided, durationMs) => ({ ...decided, durationMs }),
    ))
  observer.onRoute?.(route)
  const unindexed = route.resolvedMode === 'research' ? await context.pageIndexes.countMissing(admitted.space) : 0
  const mode = unindexed > 0 ? 'fast' : route.resolvedMode
  const plan = buildPlan({ admitted, query: body.query, route }, mode)
  const { activeDocumentIds, activeEntityIds, filter } = body
  const retrieval: Retrieval = { ...services, admitted, query, activeEntityIds, signal, observer }
  const embedded = mode === 'research' ? undefined : await embedStep(recorder, retrieval, embedding)
  const retrieved = await recorder.step(
    'query.retrieve',
    async () => {
      const found = markFallback(await runPipeline(retrieval, mode, embedded), unindexed)
      return { ...found, metrics: { ...found.metrics, ...toDegradedFields(found.degraded) } }
    },
    (result, durationMs) => ({
      durationMs,
      itemCount: result.ranked.length,
      projectionSnapshot: admitted.snapshot,
      retrievalProfile: admitted.profile,
      plan,
      // explanations and replays of the trace repeat the same request
      ...(activeDocumentIds.length === 0 ? {} : { activeDocumentIds }),
      ...(activeEntityIds.length === 0 ? {} : { activeEntityIds }),
      ...omitUndefined({ filter }),
      metrics: result.metrics,
    }),
  )
  return { route, plan, retrieved }
}

/** Runs a retrieval and judges its passages. */
export async function findEvidence(
  services: RetrievalServices,
  options: EvidenceOptions,
  observer?: RetrievalObserver,
): Promise<RetrievalRun & JudgedRetrieval> {
  const run = await runRetrieval(services, options, observer)
  return { ...run, ...(await judgeRetrieval(services.context, options, run.retrieved)) }
}

/** Judges retrieved passages: their freshness, contradictions, and whether they answer the question. */
export async function judgeRetrieval(
  context: EngineContext,
  { admitted, body, question = body.query, traceId, turns = [], signal, ...options }: EvidenceOptions,
  found: RetrievalResult,
): Promise<JudgedRetrieval> {
  const retrieved = options.refine?.(found) ?? found
  const passages = retrieved.ranked.map(({ passage }) => passage)
  const freshness = await (options.ignoresFiles === true
    ? context.db.read(computeFreshness(passages, context.now()))
    : computeFreshnessWithFiles(context, passages))
  const assemble = (agree?: (one: string, other: string) => boolean): EvidenceBundle => {
    const followUp = findFollowUp(question, turns)
    const topK = options.keepsAll === true ? undefined : admitted.profile.topK
    return assembleEvidence(
      { query: question, traceId, now: context.now(), freshness, followUp, ...omitUndefined({ agree, topK }) },
      retrieved,
    )
  }
  const bundle = options.byRules === true ? assemble() : await judgeWithModel(context, admitted, assemble, signal)
  return { retrieved, bundle }
}

/** Takes a lease, which keeps the content of a publication from being purged. */
export function acquirePublicationLease(
  { leases }: Pick<EngineContext, 'leases'>,
  { space, snapshot }: Pick<AdmittedQuery, 'space' | 'snapshot'>,
  holder: Pick<LeaseRequest, 'id' | 'sessionId' | 'subject' | 'virtualPath'>,
): ReadLease {
  const target = { targetType: 'publication', targetId: snapshot.publicationId }
  return leases.acquire({ ...holder, ...target, spaceKey: space.key, type: 'read' })
}

/**
 * Runs work under a lease on a publication.
 *
 * @param conversationId the conversation that searches; absent = none
 */
export async function runWithLease<T>(
  context: Pick<EngineContext, 'leases'>,
  target: Pick<AdmittedQuery, 'space' | 'snapshot'>,
  work: () => Promise<T>,
  conversationId?: string,
): Promise<T> {
  const holder =
    conversationId === undefined
      ? { sessionId: newId(), virtualPath: '/evidence' }
      : { sessionId: conversationId, virtualPath: `/evidence/${conversationId}` }
  const lease = acquirePublicationLease(context, target, holder)
  try {
    lease.keepAlive()
    return await work()
  } finally {
    lease.release()
  }
}

/**
 * Starts embedding a question while its headers are sent, when the vector is certainly needed and free: with the
 * space's own trained model.
 */
export function embedAhead(question: QuestionScope, mode: QueryBody['mode']): Promise<QueryEmbedding> | undefined {
  const { space, profile } = question.admitted
  const requestedMode = mode ?? profile.defaultMode
  if (!isTrained(space) || requestedMode === 'auto' || requestedMode === 'research') return undefined
  const embedding = embedForFast(question)
  // An aborted query does not wait for it.
  embedding.catch(() => {})
  return embedding
}

function embedStep(
  recorder: TraceRecorder,
  question: QuestionScope,
  embedding: Promise<QueryEmbedding> | undefined,
): Promise<QueryEmbedding> {
  return recorder.step(
    'query.embed',
    () => embedding ?? embedForFast(question),
    ({ embedded, degraded }, durationMs) => ({
      durationMs,
      model: embeddingReference(question.admitted.space),
      ...omitUndefined({ dimension: embedded?.dimension, vectorSpaceId: embedded?.vectorSpaceId }),
      ...(degraded === undefined ? {} : toDegradedFields([degraded])),
    }),
  )
}

function runPipeline(
  retrieval: Retrieval,
  mode: ConcreteMode,
  embedding: QueryEmbedding | undefined,
): Promise<RetrievalResult> {
  if (embedding === undefined) return retrieveResearch(retrieval)
  return mode === 'fast' ? retrieveFast(retrieval, embedding) : retrieveDeep(retrieval, embedding)
}

/** Marks a result of mode fast that replaces research, because the page index is not complete yet. */
function markFallback(found: RetrievalResult, unindexed: number): RetrievalResult {
  if (unindexed === 0) return found
  const documents = unindexed === 1 ? 'a document' : pluralize(unindexed, 'document')
  const reason = `the page index of ${documents} is not complete yet: the question was answered as in mode fast`
  return {
    ...found,
    degraded: [...found.degraded, createDegradation('page-index', reason)],
    metrics: { ...found.metrics, pageIndexPendingDocuments: unindexed },
  }
}

const STRATEGY_VERSIONS = { fast: STRATEGY_VERSION, deep: DEEP_STRATEGY_VERSION, research: RESEARCH_STRATEGY_VERSION }

/**
 * Builds the plan of a retrieval. Research uses neither index and reranks nothing, so its limits of those are 0.
 *
 * @param mode mode whose pipeline runs; differs from the resolved one when that cannot run yet
 */
export function buildPlan(
  { admitted, query, route }: { admitted: AdmittedQuery; query: string; route: ModeRoute },
  mode = route.resolvedMode,
): RetrievalPlan {
  const { profile } = admitted
  const maxIndexHits = mode === 'research' ? 0 : MAX_INDEX_CANDIDATES
  return {
    strategyVersion: STRATEGY_VERSIONS[mode],
    requestedMode: route.requestedMode,
    resolvedMode: route.resolvedMode,
    queryLanguage: detectLanguage(query),
    topK: profile.topK,
    denseTopK: maxIndexHits,
    ftsTopK: maxIndexHits,
    fusionLimit: 2 * maxIndexHits,
    rerankCandidateLimit: profile.rerank.enabled && maxIndexHits > 0 ? MAX_RERANK_CANDIDATES : 0,
  }
}

/** Decides by the script: telling Latin languages apart by a few words is unreliable. */
function detectLanguage(query: string): string {
  if (/\p{Script=Hiragana}|\p{Script=Katakana}/u.test(query)) return 'ja'
  if (/\p{Script=Hangul}/u.test(query)) return 'ko'
  if (/\p{Script=Han}/u.test(query)) return 'zh'
  return 'und'
}
