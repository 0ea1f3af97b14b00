import type { queriesRoutes } from '../../contract/gateway/queries.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function queriesHandlers({ engine: { queries } }: HandlerDeps) {
  return {
    query: async ({ caller, body, signal }) => {
      const run = await queries.start(caller, body, signal)
      return {
        headers: { 'x-query-run-id': run.traceId, 'x-session-id': run.sessionId },
        frames: run.frames(),
        interrupted: (error) => ({ event: 'answer.error', data: { error, traceId: run.traceId } }),
      }
    },
    getTrace: ({ caller, params }) => queries.trace(caller, params.traceId),
    listTraceEvidence: ({ caller, params, query }) => queries.evidence(caller, params.traceId, query),
    listTraceConflicts: ({ caller, params, query }) => queries.conflicts(caller, params.traceId, query),
    listTraceMissing: ({ caller, params, query }) => queries.missing(caller, params.traceId, query),
  } satisfies RouteHandlers<typeof queriesRoutes>
}
