import { KsError } from '../../contract/errors.js'
import type { EvidenceBundle, QueryBody } from '../../contract/gateway/queries.js'
import { newId } from '../../lib/ids.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { Caller } from '../base/caller.js'
import { toDegradedFields } from '../base/degraded.js'
import type { ReadLease } from '../base/leases.js'
import type { AnswerFrame, QueryRun } from '../base/query-run.js'
import { streamAsTenant } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { isTraceStored } from '../rows/quality/captures.js'
import { insertTrace } from '../rows/traces.js'
import { assertTraceQuota } from '../spaces/quota.js'
import type { Read, Write } from '../storage/program.js'
import { writeOnce } from '../storage/write-once.js'
import { captureFailedQuery } from '../traces/capture.js'
import { TraceRecorder } from '../traces/recorder.js'
import { GENERATE_STEP } from '../traces/traces.js'
import { type AdmittedQuery, admit } from './admission.js'
import { answerQuery } from './answer.js'
import { assembleEvidence } from './assemble-evidence.js'
import { judgeWithModel } from './conflicts/model-judge.js'
import type { QueryEmbedding } from './fast.js'
import { findFollowUp, toSearchedQuery } from './follow-up.js'
import { computeFreshnessWithFiles } from './freshness.js'
import type { QueryGate } from './gate.js'
import { type ModeRoute, resolveMode } from './mode.js'
import { openSession, type QuerySession, recordTurn } from './sessions.js'
import { embedAhead, type QueryShared, retrieveInMode } from './stages.js'

/** State that a query run carries from step to step. */
interface QueryRunState {
  context: EngineContext
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
  context: EngineContext,
  shared: QueryShared & { gate: QueryGate },
  caller: Caller,
  body: QueryBody,
  signal: AbortSignal,
): Promise<QueryRun> {
  const admitted = await context.db.read(admitWithTrace(context, caller, body))
  const leave = await shared.gate.enter(caller.tenant, signal)
  const traceId = newId()
  const { session, lease } = await openSessionOrLeave(leave, context, caller, admitted, body.sessionId, traceId)
  const recorder = new TraceRecorder()
  const query = toSearchedQuery(body.query, session.turns)
  const embedding = embedAhead(context, admitted, body.mode, query, signal)
  const run: QueryRunState = {
    context,
    caller,
    body,
    query,
    admitted,
    session,
    traceId,
    recorder,
    signal,
    embedding,
    deltas: 0,
  }
  return {
    traceId,
    sessionId: session.id,
    frames: () => {
      lease.keepAlive()
      const release = () => {
        lease.release()
        leave()
      }
      return streamAsTenant(caller.tenant, () => streamFrames(run, shared, release))
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
async function openSessionOrLeave(
  leave: () => void,
  context: EngineContext,
  caller: Caller,
  { space, snapshot }: AdmittedQuery,
  id: string | undefined,
  traceId: string,
): Promise<{ session: QuerySession; lease: ReadLease }> {
  const { db, leases } = context
  try {
    return await leases.runInOrder(space.key, async () => {
      const session = await db.read(openSession(context, caller, space, id))
      const lease = leases.acquire({
        id: traceId,
        spaceKey: space.key,
        sessionId: session.id,
        subject: caller.subject,
        type: 'read',
        targetType: 'publication',
        targetId: snapshot.publicationId,
        virtualPath: `/evidence/${traceId}`,
      })
      return { session, lease }
    })
  } catch (error) {
    leave()
    throw error
  }
}

/**
 * Streams the complete run. Every failure after admission is recorded as a failed trace and sent as one `answer.error`.
 * An abort before the commit ends silently.
 */
async function* streamFrames(
  run: QueryRunState,
  shared: QueryShared,
  release: () => void,
): AsyncGenerator<AnswerFrame> {
  const { traceId, signal } = run
  try {
    yield* produceFrames(run, shared)
  } catch (error) {
    if (signal.aborted) return
    run.context.log.warn({ traceId, error: String(error) }, 'a query failed')
    const message = error instanceof KsError ? error.message : `the query failed unexpectedly (trace ${traceId})`
    await commitFailure(run, error instanceof KsError ? error.code : 'internal', message)
    yield { event: 'answer.error', data: { error: message, traceId } }
  } finally {
    release()
  }
}

async function* produceFrames(run: QueryRunState, shared: QueryShared): AsyncGenerator<AnswerFrame> {
  const { context, admitted, body, recorder, signal, traceId } = run
  const route = await recorder.step(
    'query.route',
    () => resolveMode(context, admitted.space, admitted.profile, body, signal),
    (decided, durationMs) => ({ ...decided, durationMs }),
  )
  run.route = route
  const { retrieved, plan } = await retrieveInMode(context, shared, {
    body,
    query: run.query,
    admitted,
    route,
    recorder,
    signal,
    embedding: run.embedding,
  })
  const passages = retrieved.ranked.map(({ passage }) => passage)
  const freshness = await computeFreshnessWithFiles(context, passages)
  const judged = await judgeWithModel(
    context,
    admitted,
    (agree) => {
      const followUp = findFollowUp(body.query, run.session.turns)
      const request = { query: body.query, traceId, freshness, agree, followUp, topK: admitted.profile.topK }
      return assembleEvidence(request, retrieved)
    },
    signal,
  )
  const answering = new Date()
  let bundle = judged
  let answer = ''
  const answerMetadata: Record<string, unknown> = {}
  const degraded = [...(route.failure === undefined ? [] : [route.failure]), ...retrieved.degraded]
  for await (const part of answerQuery(context, admitted, run.session.turns, body.query, judged, retrieved, signal)) {
    if (part.type === 'delta') {
      answer += part.text
      run.deltas++
      yield { event: 'answer.delta', data: { delta: part.text, traceId } }
    } else if (part.type === 'failed-attempt') {
      recorder.add('query.answer', 'error', answering, part.metadata)
      degraded.push(part.degraded)
    } else {
      bundle = part.bundle
      Object.assign(answerMetadata, part.metadata)
    }
  }
  recorder.add('query.answer', 'ok', answering, {
    durationMs: Date.now() - answering.getTime(),
    answerChars: answer.length,
    ...answerMetadata,
  })
  signal.throwIfAborted()
  // Point of no return: from here a client that disconnects does not undo the run.
  const finishReason =
    bundle.state === 'not-enough-evidence' || bundle.items.length === 0
      ? ('no-retrieval-evidence' as const)
      : ('retrieval-evidence' as const)
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
  recorder.add(GENERATE_STEP, 'ok', new Date(), { eventCount: run.deltas + 1, finishReason, ...resultMetadata })
  const committed = commit(run, route, bundle, answer)
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
async function commit(run: QueryRunState, route: ModeRoute, bundle: EvidenceBundle, answer: string): Promise<void> {
  const { context, caller, admitted, body, session, traceId, recorder } = run
  const { db, isShared } = context
  function* work(): Write<true> {
    yield* insertTrace({
      id: traceId,
      tenant: caller.tenant,
      spaceKey: admitted.space.key,
      subject: caller.subject,
      query: body.query,
      mode: route.resolvedMode,
      requestedMode: route.requestedMode,
      completed: true,
      steps: recorder.steps,
      sessionId: session.id,
      bundle,
    })
    yield* recordTurn(context, caller, admitted.space, session.id, { traceId, query: body.query, answer })
    return true
  }
  // The questions of a space are counted in one row.
  const lock = admitted.space.key
  if (isShared)
    await writeOnce(db, work, () => trueOrUndefined(isTraceStored(caller.tenant, admitted.space.key, traceId)), {
      lock,
    })
  else await db.record(work, { lock })
}

function* trueOrUndefined(isThere: Read<boolean>): Read<true | undefined> {
  return (yield* isThere) ? true : undefined
}

/** Records a failed run: the stages that it completed, and a last step with the class of the failure. */
async function commitFailure(run: QueryRunState, errorClass: string, error: string): Promise<void> {
  const { context, caller, admitted, body, traceId, recorder, route, deltas } = run
  const { defaultMode } = admitted.profile
  const requestedMode = body.mode ?? defaultMode
  // A run whose trace could not be committed already has a step that reports success.
  const stages = recorder.steps.filter(({ name }) => name !== GENERATE_STEP)
  const now = new Date().toISOString()
  const metadata = { eventCount: deltas + 1, errorClass, error }
  try {
    const record = () =>
      insertTrace({
        id: traceId,
        tenant: caller.tenant,
        spaceKey: admitted.space.key,
        subject: caller.subject,
        query: body.query,
        mode: route?.resolvedMode ?? (requestedMode === 'auto' ? defaultMode : requestedMode),
        requestedMode: route?.requestedMode ?? requestedMode,
        completed: false,
        steps: [...stages, { name: GENERATE_STEP, status: 'error', startedAt: now, endedAt: now, metadata }],
      })
    await context.db.record(record, { lock: admitted.space.key })
  } catch (cause) {
    context.log.warn({ traceId, error: String(cause) }, 'the trace of a failed query could not be kept')
  }
}
