import { parseRecord, toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'

/** Claims of a token; unverified, for display only. */
export interface TokenClaims {
  subject?: string
  tenant?: string
  scope?: string
  id?: string
  /** Milliseconds since the epoch. */
  expiresAt?: number
}

/** Decodes the claims of a token; absent where the token has none or is no JWT. */
export function parseTokenClaims(token: string): TokenClaims {
  const payload = parseRecord(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) ?? {}
  const [subject, tenant, scope, id] = [payload.sub, payload.tenant, payload.scope, payload.jti].map(toNonEmptyString)
  const expiresAt = typeof payload.exp === 'number' ? payload.exp * 1000 : undefined
  return omitUndefined({ subject, tenant, scope, id, expiresAt })
}
