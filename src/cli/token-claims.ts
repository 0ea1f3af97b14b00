import { parseRecord, toNonEmptyString } from '../lib/json/values.js'

/** Claims of a token; unverified, for display only. */
export interface TokenClaims {
  subject?: string
  tenant?: string
  scope?: string
  id?: string
  /** Milliseconds since the epoch. */
  expiresAt?: number
}

export function parseTokenClaims(token: string): TokenClaims {
  const payload = parseRecord(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')) ?? {}
  const claims: TokenClaims = {}
  const [subject, tenant, scope, id] = [payload.sub, payload.tenant, payload.scope, payload.jti].map(toNonEmptyString)
  if (subject !== undefined) claims.subject = subject
  if (tenant !== undefined) claims.tenant = tenant
  if (scope !== undefined) claims.scope = scope
  if (id !== undefined) claims.id = id
  if (typeof payload.exp === 'number') claims.expiresAt = payload.exp * 1000
  return claims
}
