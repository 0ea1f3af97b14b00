import { type Read, readClock, sql, type Write } from '../../store/program.js'

export function* isTokenRevoked(jti: string): Read<boolean> {
  return yield* sql.exists('SELECT jti FROM revoked_tokens WHERE jti = ?', [jti])
}

/** Revokes a token, or the session of a console tab, until it expires; removes expired entries. */
export function* revokeToken(jti: string, expiresAt: number): Write<void> {
  yield* removeExpiredTokens()
  yield* sql.run('INSERT OR REPLACE INTO revoked_tokens (jti, expires_at) VALUES (?, ?)', [jti, expiresAt])
}

/** Consumes an id that is valid once. @returns whether it was unused */
export function* consumeId(id: string, expiresAt: number): Write<boolean> {
  yield* removeExpiredTokens()
  const { changes } = yield* sql.run('INSERT OR IGNORE INTO revoked_tokens (jti, expires_at) VALUES (?, ?)', [
    id,
    expiresAt,
  ])
  return changes > 0
}

function* removeExpiredTokens(): Write<void> {
  yield* sql.run('DELETE FROM revoked_tokens WHERE expires_at < ?', [yield* readClock()])
}
