import { type Read, sql, type Write } from '../storage/program.js'

export function* isRevoked(jti: string): Read<boolean> {
  return (yield* sql.get<{ jti: string }>('SELECT jti FROM revoked_tokens WHERE jti = ?', [jti])) !== undefined
}

/** Notes a token as revoked until it has expired, and forgets those that have. */
export function* revokeToken(jti: string, expiresAt: number, now: number): Write<void> {
  yield* sql.run('DELETE FROM revoked_tokens WHERE expires_at < ?', [now])
  yield* sql.run('INSERT OR REPLACE INTO revoked_tokens (jti, expires_at) VALUES (?, ?)', [jti, expiresAt])
}
