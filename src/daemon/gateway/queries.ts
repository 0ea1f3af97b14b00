import type { queriesRoutes } from '../../contract/gateway/queries.js'
import type { severalSpacesRoutes } from '../../contract/gateway/several-spaces.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'

export function queriesHandlers({ engine: { queries } }: HandlerDeps) {
  return {
    query: async ({ caller, body, signal }) => {
      const run = await queries.start(caller, body, signal)
      return toAnswerStream(run, { 'x-session-id': run.sessionId })
    },
    querySpaces: async ({ caller, body, signal }) => toAnswerStream(await queries.startSpaces(caller, body, signal)),
  } satisfies Partial<RouteHandlers<typeof queriesRoutes | typeof severalSpacesRoutes>>
}

type SpacesQueryRun = Awaited<ReturnType<HandlerDeps['engine']['queries']['startSpaces']>>

function toAnswerStream({ traceId, frames }: SpacesQueryRun, headers: Record<string, string> = {}) {
  return {
    headers: { 'x-query-run-id': traceId, ...headers },
    frames: frames(),
    interrupted: (error: string) => ({ event: 'answer.error', data: { error, traceId } }),
  }
}
