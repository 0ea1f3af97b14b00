import { KsError } from '../../contract/errors.js'
import { once } from '../../lib/once.js'
import type { HandlerDeps, Handlers } from '../operation.js'
import type { consoleRoutes } from './routes.js'

const DAY_SECONDS = 24 * 60 * 60

/** Codes and sessions of the console, loaded when the first is asked for. */
export function consoleHandlers({ engine, dataDir }: HandlerDeps) {
  const codes = once(async () => (await import('./codes.js')).createConsoleCodes())
  return {
    createConsoleCode: async ({ caller }) => {
      const { CODE_SECONDS } = await import('./codes.js')
      return { code: (await codes()).make(caller), expiresInSeconds: CODE_SECONDS }
    },
    createConsoleSession: async ({ body }) => {
      const caller = (await codes()).use(body.code)
      if (caller === undefined)
        throw new KsError(
          'unauthenticated',
          'this address was used already or is too old: `ks console` makes a new one',
        )
      const { beginSession } = await import('./sessions.js')
      return await beginSession(dataDir, caller)
    },
    renewConsoleSession: async ({ body }) => {
      const { renewSession } = await import('./sessions.js')
      return await renewSession(dataDir, body.renewal, (id) => engine.tokens.isRevoked(id))
    },
    createConsoleToken: async ({ body }) => {
      const { createToken, LOCAL_TENANT } = await import('../../local/keys.js')
      return await createToken(dataDir, {
        tenant: LOCAL_TENANT,
        subject: body.subject,
        // whoever gets hold of a tab may not become the operator for good: no token of all scopes
        scopes: ['knowledge-spaces:read', ...(body.write ? (['knowledge-spaces:write'] as const) : [])],
        lifeSeconds: body.days * DAY_SECONDS,
      })
    },
  } satisfies Handlers<typeof consoleRoutes>
}
