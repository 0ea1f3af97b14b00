import type { QueryBody, RetrievalPlan } from '../../contract/gateway/queries.js'
import { defined } from '../../lib/defined.js'
import { degradation, degradedFields } from '../base/degraded.js'
import { embeddingReference, isTrained } from '../compile/vector-spaces.js'
import type { EngineContext } from '../context.js'
import type { Derivations } from '../derived/derivation.js'
import type { PassageCache } from '../derived/passage.js'
import type { TraceRecorder } from '../traces/recorder.js'
import type { Admitted } from './admission.js'
import { DEEP_STRATEGY_VERSION, retrieveDeep } from './deep.js'
import { embedForFast, type QueryEmbedding, type Retrieved, retrieveFast, STRATEGY_VERSION } from './fast.js'
import type { ConcreteMode, Route } from './mode.js'
import { LEG_CANDIDATES, RERANK_LIMIT } from './rank.js'
import { RESEARCH_STRATEGY_VERSION, retrieveResearch } from './research.js'

/** State shared by the queries of one engine. */
export interface QueryShared {
  cache: PassageCache
  derivations: Derivations
}

export interface RetrievalStage {
  retrieved: Retrieved
  plan: RetrievalPlan
}

/** Input of a retrieval. `query` is the question as it is searched, extended by its session if needed. */
export interface RetrievalRequest {
  body: QueryBody
  query: string
  admitted: Admitted
  route: Route
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
  admitted: Admitted,
  mode: QueryBody['mode'],
  query: string,
  signal: AbortSignal,
): Promise<QueryEmbedding> | undefined {
  const { space, profile } = admitted
  const asked = mode ?? profile.defaultMode
  if (!isTrained(space) || asked === 'auto' || asked === 'research') return undefined
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
  const unread = route.resolvedMode === 'research' ? await context.pageIndexes.missing(admitted.space) : 0
  const mode = unread > 0 ? 'fast' : route.resolvedMode
  const plan = planOf({ ...request, query: request.body.query }, mode)
  const embedding = mode === 'research' ? undefined : await embedStep(context, request)
  const retrieved = await recorder.step(
    'query.retrieve',
    async () => {
      const found = standingIn(await pipeline(context, shared, request, mode, embedding), unread)
      return { ...found, metrics: { ...found.metrics, ...degradedFields(found.degraded) } }
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
      ...defined({ filter: request.body.filter }),
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
      ...defined({ dimension: embedded?.dimension, vectorSpaceId: embedded?.vectorSpaceId }),
      ...(degraded === undefined ? {} : degradedFields([degraded])),
    }),
  )
}

function pipeline(
  context: EngineContext,
  shared: QueryShared,
  { admitted, body, query, signal }: RetrievalRequest,
  mode: ConcreteMode,
  embedding: QueryEmbedding | undefined,
): Promise<Retrieved> {
  if (embedding === undefined) return retrieveResearch(context, shared.cache, admitted, query, signal)
  if (mode === 'fast') return retrieveFast(context, shared.cache, admitted, query, embedding, signal)
  const { activeEntityIds } = body
  return retrieveDeep(context, shared, admitted, { query, activeEntityIds, embedding }, signal)
}

/** Marks a result of mode fast that replaces research, because the page index is not complete yet. */
function standingIn(found: Retrieved, unread: number): Retrieved {
  if (unread === 0) return found
  const documents = unread === 1 ? 'a document' : `${unread} documents`
  const reason = `the page index of ${documents} is still being made: the question was answered as in mode fast`
  return {
    ...found,
    degraded: [...found.degraded, degradation('page-index', reason)],
    metrics: { ...found.metrics, pageIndexPendingDocuments: unread },
  }
}

const STRATEGIES = { fast: STRATEGY_VERSION, deep: DEEP_STRATEGY_VERSION, research: RESEARCH_STRATEGY_VERSION }

/**
 * Builds the plan of a retrieval. Research uses neither index and reranks nothing, so its limits of those are 0.
 *
 * @param mode mode whose pipeline runs; differs from the resolved one when that cannot run yet
 */
export function planOf(
  { admitted, query, route }: Pick<RetrievalRequest, 'admitted' | 'query' | 'route'>,
  mode = route.resolvedMode,
): RetrievalPlan {
  const { profile } = admitted
  const leg = mode === 'research' ? 0 : LEG_CANDIDATES
  return {
    strategyVersion: STRATEGIES[mode],
    requestedMode: route.requestedMode,
    resolvedMode: route.resolvedMode,
    queryLanguage: languageOf(query),
    topK: profile.topK,
    denseTopK: leg,
    ftsTopK: leg,
    fusionLimit: 2 * leg,
    rerankCandidateLimit: profile.rerank.enabled && leg > 0 ? RERANK_LIMIT : 0,
  }
}

/** Decides by the script: telling Latin languages apart by a few words is unreliable. */
function languageOf(query: string): string {
  if (/\p{Script=Hiragana}|\p{Script=Katakana}/u.test(query)) return 'ja'
  if (/\p{Script=Hangul}/u.test(query)) return 'ko'
  if (/\p{Script=Han}/u.test(query)) return 'zh'
  return 'und'
}
