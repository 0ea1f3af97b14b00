import { type Read, sql, type Write } from '../../storage/program.js'

export function* expiredSessions(now: number, most: number): Read<{ id: string }[]> {
  return yield* sql.all<{ id: string }>('SELECT id FROM sessions WHERE expires_at < ? LIMIT ?', [now, most])
}

/** Removes a session with the questions and answers it remembered. */
export function* removeSession(id: string): Write<void> {
  yield* sql.run('DELETE FROM session_turns WHERE session_id = ?', [id])
  yield* sql.run('DELETE FROM sessions WHERE id = ?', [id])
}

/** Whether there is a file of a chat that was never sent, or whose messages are gone. */
export function* hasExpiredChatFile(now: number): Read<boolean> {
  return (
    (yield* sql.get<{ one: number }>('SELECT 1 one FROM chat_files WHERE expires_at <= ? LIMIT 1', [now])) !== undefined
  )
}
