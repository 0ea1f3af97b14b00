import { KsError } from '../../../contract/errors.js'
import type { EvidenceBundle, QueryBody } from '../../../contract/gateway/queries.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { toDegradedFields } from '../../base/degraded.js'
import type { ReadLease } from '../../base/leases.js'
import type { AnswerFrame, QueryRun } from '../../base/query-run.js'
import { streamAsTenant } from '../../base/tenant-scope.js'
import {
  assertTraceQuota,
  captureFailedQuery,
  type EngineContext,
  GENERATE_STEP,
  TraceRecorder,
} from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { type AdmittedQuery, admit } from './admission.js'
import { getFinishReason, streamAnswer } from './answer-frames.js'
import { toSearchedQuery } from './follow-up.js'
import type { ModeRoute } from './mode.js'
import type { QueryEmbedding, QueryServices, RetrievalServices } from './retrieval.js'
import { acquirePublicationLease, embedAhead, findEvidence } from './retrieval-run.js'
import { openSession, type QuerySession, recordTurn } from './sessions.js'
import { storeFailedTrace, storeTrace } from './store-trace.js'

/** State that a query run carries from step to step. */
interface QueryRunState {
  services: RetrievalServices
  caller: Caller
  body: QueryBody
  /** the question as it is searched */
  query: string
  admitted: AdmittedQuery
  session: QuerySession
  traceId: string
  recorder: TraceRecorder
  signal: AbortSignal
  /** vector of the question, if embedding started early */
  embedding: Promise<QueryEmbedding> | undefined
  /** set after the step `query.route` */
  route?: ModeRoute
  /** number of answer frames that were sent */
  deltas: number
}

/** Admits a query; after this its headers may be sent. */
export async function startQuery(
  { gate, ...services }: QueryServices,
  caller: Caller,
  body: QueryBody,
  signal: AbortSignal,
): Promise<QueryRun> {
  const { context } = services
  const admitted = await context.db.read(admitWithTrace(context, caller, body))
  const leave = await gate.enter(caller.tenant, signal)
  const traceId = newId()
  const { session, lease } = await openLeasedSession(context, caller, admitted, { id: body.sessionId, traceId }).catch(
    (error: unknown) => {
      leave()
      throw error
    },
  )
  const recorder = new TraceRecorder(context.now)
  const query = toSearchedQuery(body.query, session.turns)
  const embedding = embedAhead({ context, admitted, query, signal }, body.mode)
  const base = { services, caller, body, query, admitted, session, traceId, recorder, signal, embedding }
  const run: QueryRunState = { ...base, deltas: 0 }
  return {
    traceId,
    sessionId: session.id,
    frames: () => {
      lease.keepAlive()
      const release = () => {
        lease.release()
        leave()
      }
      return streamAsTenant(caller.tenant, () => streamFrames(run, release))
    },
  }
}

/** Admits a query whose trace must fit the space's quota. */
function* admitWithTrace(context: EngineContext, caller: Caller, body: QueryBody): Read<AdmittedQuery> {
  const admitted = yield* admit(context, caller, body)
  assertTraceQuota(context, admitted.space, admitted.traceBytes)
  return admitted
}

/** Opens the session of a query. Its lease counts it before another query checks the session quota. */
function openLeasedSession(
  context: EngineContext,
  caller: Caller,
  admitted: AdmittedQuery,
  { id, traceId }: { id: string | undefined; traceId: string },
): Promise<{ session: QuerySession; lease: ReadLease }> {
  const { space } = admitted
  return context.leases.runInOrder(space.key, async () => {
    const session = await context.db.read(openSession(context, caller, space, id))
    const holder = { id: traceId, sessionId: session.id, subject: caller.subject, virtualPath: `/evidence/${traceId}` }
    return { session, lease: acquirePublicationLease(context, admitted, holder) }
  })
}

/**
 * Streams the complete run. Every failure after admission is recorded as a failed trace and sent as one `answer.error`.
 * An abort before the commit ends silently.
 */
async function* streamFrames(run: QueryRunState, release: () => void): AsyncGenerator<AnswerFrame> {
  const { traceId, signal } = run
  try {
    yield* produceFrames(run)
  } catch (error) {
    if (signal.aborted) return
    run.services.context.log.warn({ traceId, error: String(error) }, 'a query failed')
    const message = error instanceof KsError ? error.message : `the query failed unexpectedly (trace ${traceId})`
    const { query, mode } = run.body
    const errorClass = error instanceof KsError ? error.code : 'internal'
    await storeFailedTrace(run.services.context, { ...run, query, mode, errorClass, error: message })
    yield { event: 'answer.error', data: { error: message, traceId } }
  } finally {
    release()
  }
}

async function* produceFrames(run: QueryRunState): AsyncGenerator<AnswerFrame> {
  const { services, admitted, body, query, embedding, recorder, session, signal, traceId } = run
  const { context } = services
  const { turns } = session
  const found = await findEvidence(
    services,
    { admitted, body, query, embedding, turns, signal, traceId },
    {
      recorder,
      onRoute: (chosen) => {
        run.route = chosen
      },
    },
  )
  const { route, plan, retrieved } = found
  const request = { context, admitted, query: body.query, turns, signal }
  const answer = yield* streamAnswer(request, found, run)
  const { bundle, metadata: answerMetadata } = answer
  const degraded = [...(route.failure === undefined ? [] : [route.failure]), ...retrieved.degraded, ...answer.degraded]
  signal.throwIfAborted()
  // Point of no return: from here a client that disconnects does not undo the run.
  const finishReason = getFinishReason(bundle)
  const resultMetadata = {
    ...answerMetadata,
    ...omitUndefined({ searchedFor: retrieved.searchedFor }),
    ...toDegradedFields(degraded),
    mode: route.resolvedMode,
    requestedMode: route.requestedMode,
    topScore: bundle.items[0]?.score ?? 0,
    citations: bundle.items.flatMap((item) => item.citations),
    projectionSnapshot: admitted.snapshot,
    retrievalProfile: admitted.profile,
    plan,
    metrics: {
      ...retrieved.metrics,
      // found, but omitted after the last relevant passage
      relevanceFilteredCount: retrieved.ranked.length - bundle.items.length,
      ...toDegradedFields(degraded),
    },
  }
  context.measures.recordAnswer(degraded)
  recorder.add(GENERATE_STEP, 'ok', context.now(), { eventCount: run.deltas + 1, finishReason, ...resultMetadata })
  const committed = commit(run, route, bundle, answer.text)
  // Runs before the commit is awaited, so that in a database file both are one transaction.
  const answered = {
    caller: run.caller,
    spaceKey: admitted.space.key,
    traceId,
    query: body.query,
    mode: route.resolvedMode,
    evidence: bundle.items.map(({ nodeId }) => nodeId),
    state: bundle.state,
    // the model and the rules disagree on whether the passages answer
    cited: answerMetadata.modelAnswer === 'declined' ? [] : answerMetadata.cited,
  }
  captureFailedQuery(context, answered, committed)
  await committed
  yield {
    event: 'answer.done',
    data: { finishReason, metadata: { ...resultMetadata, evidenceBundle: bundle }, traceId },
  }
}

/** Commits trace, steps, bundle and session turn in one transaction. `answer.done` is sent only after it. */
function commit(run: QueryRunState, route: ModeRoute, bundle: EvidenceBundle, answer: string): Promise<void> {
  const { caller, admitted, body, session, traceId, recorder } = run
  const { context } = run.services
  const { space } = admitted
  const trace = {
    id: traceId,
    tenant: caller.tenant,
    spaceKey: space.key,
    subject: caller.subject,
    query: body.query,
    mode: route.resolvedMode,
    requestedMode: route.requestedMode,
    completed: true,
    steps: recorder.steps,
    sessionId: session.id,
    bundle,
  }
  return storeTrace(context, trace, () =>
    recordTurn(context, caller, space, { sessionId: session.id, traceId, query: body.query, answer }),
  )
}
