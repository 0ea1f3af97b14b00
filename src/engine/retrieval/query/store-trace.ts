import type { QueryBody } from '../../../contract/gateway/queries.js'
import type { Caller } from '../../base/caller.js'
import { type EngineContext, GENERATE_STEP, type TraceRecorder } from '../../library/index.js'
import type { Read, Write } from '../../store/program.js'
import { isTraceStored } from '../../store/rows/quality/captures.js'
import { insertTrace, type NewTrace } from '../../store/rows/traces.js'
import { writeOnce } from '../../store/write-once.js'
import type { AdmittedQuery } from './admission.js'
import type { ModeRoute } from './mode.js'

/** Stores the trace of a completed run, with other writes, in one transaction. */
export async function storeTrace(
  { db, isShared }: EngineContext,
  trace: NewTrace,
  writeMore?: () => Write<void>,
): Promise<void> {
  function* work(): Write<true> {
    yield* insertTrace(trace)
    if (writeMore !== undefined) yield* writeMore()
    return true
  }
  const { tenant, spaceKey, id } = trace
  // The questions of a space are counted in one row.
  const lock = spaceKey
  if (isShared) await writeOnce(db, work, () => trueOrUndefined(isTraceStored(tenant, spaceKey, id)), { lock })
  else await db.record(work, { lock })
}

function* trueOrUndefined(isThere: Read<boolean>): Read<true | undefined> {
  return (yield* isThere) ? true : undefined
}

/** A run that failed in a space. */
interface FailedRun {
  caller: Caller
  query: string
  /** requested mode; absent: the default mode of the space */
  mode: QueryBody['mode']
  admitted: Pick<AdmittedQuery, 'space' | 'profile'>
  traceId: string
  recorder: TraceRecorder
  /** absent if no mode was chosen before the failure */
  route?: ModeRoute
  /** number of answer frames that were sent */
  deltas: number
  errorClass: string
  error: string
}

/**
 * Stores the trace of a failed run: the stages that it completed, and a last step with the class of the failure. Logs
 * if it cannot be stored.
 */
export async function storeFailedTrace(context: EngineContext, run: FailedRun): Promise<void> {
  const { caller, query, admitted, traceId, recorder, route, deltas, errorClass, error } = run
  const { defaultMode } = admitted.profile
  const requestedMode = run.mode ?? defaultMode
  // A run whose trace could not be committed already has a step that reports success.
  const stages = recorder.steps.filter(({ name }) => name !== GENERATE_STEP)
  const now = new Date(context.now()).toISOString()
  const metadata = { eventCount: deltas + 1, errorClass, error }
  try {
    const record = () =>
      insertTrace({
        id: traceId,
        tenant: caller.tenant,
        spaceKey: admitted.space.key,
        subject: caller.subject,
        query,
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
