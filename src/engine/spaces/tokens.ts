import { isRevoked, revokeToken, spend } from '../rows/revoked-tokens.js'
import type { Driver } from '../storage/driver.js'

/** Operations on revoked tokens, and on ids that are valid once. */
export function tokenOperations(db: Driver) {
  return {
    isRevoked: (jti: string) => db.read(isRevoked(jti)),
    revoke: (jti: string, expiresAt: number) => db.write(() => revokeToken(jti, expiresAt, Date.now())),
    spend: (id: string, expiresAt: number) => db.write(() => spend(id, expiresAt, Date.now())),
  }
}
