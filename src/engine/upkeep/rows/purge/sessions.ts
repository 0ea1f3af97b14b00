import { sqlHoldsTime } from '../../../store/formats.js'
import { type Read, sql } from '../../../store/program.js'
import type { SessionKey } from '../../../store/rows/sessions.js'

export function* listExpiredSessions(now: number, limit: number): Read<SessionKey[]> {
  return yield* sql.all<SessionKey>(
    `SELECT tenant, id FROM sessions WHERE expires_at < ? AND ${sqlHoldsTime('expires_at')} LIMIT ?`,
    [now, limit],
  )
}

/** Whether a chat file has expired that was never sent, or whose messages are deleted. */
export function* hasExpiredChatFile(now: number): Read<boolean> {
  return (
    (yield* sql.get<{ one: number }>(
      `SELECT 1 one FROM chat_files WHERE expires_at <= ? AND ${sqlHoldsTime('expires_at')} LIMIT 1`,
      [now],
    )) !== undefined
  )
}
