import type { Driver } from '../../store/driver.js'
import { consumeId, isTokenRevoked, revokeToken } from '../rows/revoked-tokens.js'

/** Operations on revoked tokens, and on ids that are valid once. */
export function createTokenOperations(db: Driver) {
  return {
    isRevoked: (jti: string) => db.read(isTokenRevoked(jti)),
    revoke: (jti: string, expiresAt: number) => db.write(() => revokeToken(jti, expiresAt)),
    spend: (id: string, expiresAt: number) => db.write(() => consumeId(id, expiresAt)),
  }
}
