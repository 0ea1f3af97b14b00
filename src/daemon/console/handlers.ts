import { KsError } from '../../contract/errors.js'
import { lazy } from '../../lib/lazy.js'
import type { TabSession } from '../../local/keys.js'
import type { HandlerDeps, RouteHandlers } from '../operation.js'
import type { consoleRoutes } from './routes.js'

const DAY_SECONDS = 24 * 60 * 60

/** Handlers for codes and sessions of the console; their code is loaded at first use. */
export function consoleHandlers({ engine, dataDir }: HandlerDeps) {
  const codes = lazy(async () => (await import('./codes.js')).createConsoleCodes())
  return {
    createConsoleCode: async ({ caller }) => {
      const { CODE_SECONDS } = await import('./codes.js')
      return { ...(await codes()).create(caller), expiresInSeconds: CODE_SECONDS }
    },
    createConsoleSession: async ({ body }) => {
      const planned = (await codes()).use(body.code)
      if (planned === undefined)
        throw new KsError(
          'unauthenticated',
          'this address was already used or has expired: get a new one with `ks console`',
        )
      const { startSession } = await import('./sessions.js')
      return await startSession(dataDir, planned, engine.tokens)
    },
    renewConsoleSession: async ({ body }) => {
      const { renewSession } = await import('./sessions.js')
      return await renewSession(dataDir, body.renewal, engine.tokens)
    },
    createConsoleToken: async ({ tab, body }) => {
      const { createToken, LOCAL_TENANT } = await import('../../local/keys.js')
      const requestedSeconds = body.days * DAY_SECONDS
      return await createToken(dataDir, {
        tenant: LOCAL_TENANT,
        subject: body.subject,
        // A stolen tab must not gain the operator's rights: no token with all scopes, none that outlives the session.
        scopes: ['knowledge-spaces:read', ...(body.write ? (['knowledge-spaces:write'] as const) : [])],
        ...(tab === undefined
          ? { lifetimeSeconds: requestedSeconds }
          : { lifetimeSeconds: await capLifetime(tab, requestedSeconds), session: tab }),
      })
    },
  } satisfies RouteHandlers<typeof consoleRoutes>
}

/** Limits a lifetime in seconds to the remaining time of a tab's session. */
async function capLifetime(tab: TabSession, requestedSeconds: number): Promise<number> {
  const { getSessionEnd } = await import('./sessions.js')
  return Math.max(1, Math.min(requestedSeconds, getSessionEnd(tab) - Math.floor(Date.now() / 1000)))
}
