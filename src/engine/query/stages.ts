import type { QueryBody, RetrievalPlan } from '../../contract/gateway/queries.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { createDegradation, toDegradedFields } from '../base/degraded.js'
import { embeddingReference, isTrained } from '../compile/vector-spaces.js'
import type { EngineContext } from '../context.js'
import type { Derivations } from '../derived/derivation.js'
import type { PassageCache } from '../derived/passage.js'
import type { TraceRecorder } from '../traces/recorder.js'
import type { AdmittedQuery } from './admission.js'
import { DEEP_STRATEGY_VERSION, retrieveDeep } from './deep.js'
import { embedForFast, type QueryEmbedding, type RetrievalResult, retrieveFast, STRATEGY_VERSION } from './fast.js'
import type { ConcreteMode, ModeRoute } from './mode.js'
import { MAX_INDEX_CANDIDATES, MAX_RERANK_CANDIDATES } from './rank.js'
import { RESEARCH_STRATEGY_VERSION, retrieveResearch } from './research.js'

/** State shared by the queries of one engine. */
export interface QueryShared {
  cache: PassageCache
  derivations: Derivations
}

export interface RetrievalStage {
  retrieved: RetrievalResult
  plan: RetrievalPlan
}

/** Input of a retrieval. `query` is the question as it is searched, extended by its session if needed. */
export interface RetrievalRequest {
  body: QueryBody
  query: string
  admitted: AdmittedQuery
  route: ModeRoute
  recorder: TraceRecorder
  signal: AbortSignal
  /** vector of the question, if embedding started early */
  embedding?: Promise<QueryEmbedding> | undefined
}

/**
 * Starts embedding a question while its headers are sent, when the vector is certainly needed and free: with the
 * space's own trained model.
 */
export function embedAhead(
  context: EngineContext,
  admitted: AdmittedQuery,
  mode: QueryBody['mode'],
  query: string,
  signal: AbortSignal,
): Promise<QueryEmbedding> | undefined {
  const { space, profile } = admitted
  const requestedMode = mode ?? profile.defaultMode
  if (!isTrained(space) || requestedMode === 'auto' || requestedMode === 'research') return undefined
  const embedding = embedForFast(context, admitted, query, signal)
  // An aborted query does not wait for it.
  embedding.catch(() => {})
  return embedding
}

/** Runs the pipeline of the resolved mode and records its steps: `query.embed` (fast and deep), `query.retrieve`. */
export async function retrieveInMode(
  context: EngineContext,
  shared: QueryShared,
  request: RetrievalRequest,
): Promise<RetrievalStage> {
  const { admitted, recorder, route } = request
  const unindexed = route.resolvedMode === 'research' ? await context.pageIndexes.countMissing(admitted.space) : 0
  const mode = unindexed > 0 ? 'fast' : route.resolvedMode
  const plan = buildPlan({ ...request, query: request.body.query }, mode)
  const embedding = mode === 'research' ? undefined : await embedStep(context, request)
  const retrieved = await recorder.step(
    'query.retrieve',
    async () => {
      const found = markFallback(await runPipeline(context, shared, request, mode, embedding), unindexed)
      return { ...found, metrics: { ...found.metrics, ...toDegradedFields(found.degraded) } }
    },
    (result, durationMs) => ({
      durationMs,
      itemCount: result.ranked.length,
      projectionSnapshot: admitted.snapshot,
      retrievalProfile: admitted.profile,
      plan,
      // explanations and replays of the trace repeat the same request
      ...(request.body.activeDocumentIds.length === 0 ? {} : { activeDocumentIds: request.body.activeDocumentIds }),
      ...(request.body.activeEntityIds.length === 0 ? {} : { activeEntityIds: request.body.activeEntityIds }),
      ...omitUndefined({ filter: request.body.filter }),
      metrics: result.metrics,
    }),
  )
  return { retrieved, plan }
}

function embedStep(
  context: EngineContext,
  { admitted, query, recorder, signal, embedding }: RetrievalRequest,
): Promise<QueryEmbedding> {
  return recorder.step(
    'query.embed',
    () => embedding ?? embedForFast(context, admitted, query, signal),
    ({ embedded, degraded }, durationMs) => ({
      durationMs,
      model: embeddingReference(admitted.space),
      ...omitUndefined({ dimension: embedded?.dimension, vectorSpaceId: embedded?.vectorSpaceId }),
      ...(degraded === undefined ? {} : toDegradedFields([degraded])),
    }),
  )
}

function runPipeline(
  context: EngineContext,
  shared: QueryShared,
  { admitted, body, query, signal }: RetrievalRequest,
  mode: ConcreteMode,
  embedding: QueryEmbedding | undefined,
): Promise<RetrievalResult> {
  if (embedding === undefined) return retrieveResearch(context, shared.cache, admitted, query, signal)
  if (mode === 'fast') return retrieveFast(context, shared.cache, admitted, query, embedding, signal)
  const { activeEntityIds } = body
  return retrieveDeep(context, shared, admitted, { query, activeEntityIds, embedding }, signal)
}

/** Marks a result of mode fast that replaces research, because the page index is not complete yet. */
function markFallback(found: RetrievalResult, unindexed: number): RetrievalResult {
  if (unindexed === 0) return found
  const documents = unindexed === 1 ? 'a document' : `${unindexed} documents`
  const reason = `the page index of ${documents} is still being made: the question was answered as in mode fast`
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
  { admitted, query, route }: Pick<RetrievalRequest, 'admitted' | 'query' | 'route'>,
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
