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
  } satisfies Partial<RouteHandlers<typeof queriesRoutes>>
}
