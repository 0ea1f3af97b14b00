import { userInfo } from 'node:os'
import { prepareDataDir } from '../local/data-dir.js'
import { createToken, LOCAL_TENANT, SCOPES, type Scope } from '../local/keys.js'
import { usageError } from './cli-error.js'

export interface LocalTokenOptions {
  tenant: string | undefined
  subject: string | undefined
  /** Scopes separated by spaces. */
  scope: string
  lifeMs: number
}

/** Signs a token with the key of a data directory; needs no daemon. @throws CliError exit 2 */
export async function createLocalToken(dataDir: string, options: LocalTokenOptions) {
  const scopes = parseScopes(options.scope)
  prepareDataDir(dataDir, { allowNetworkDisk: true })
  return await createToken(dataDir, {
    tenant: options.tenant ?? LOCAL_TENANT,
    subject: options.subject ?? userInfo().username,
    scopes,
    lifetimeSeconds: Math.max(1, Math.round(options.lifeMs / 1000)),
  })
}

function parseScopes(text: string): Scope[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  const scopes = words.map((word) => {
    const scope = SCOPES.find((known) => known === word)
    if (scope === undefined) {
      throw usageError(`--scope must be any of ${SCOPES.join(', ')}, received ${JSON.stringify(word)}`)
    }
    return scope
  })
  if (scopes.length === 0) throw usageError('--scope must name at least one scope')
  return scopes
}
