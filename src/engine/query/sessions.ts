import { newId } from '../../lib/ids.js'
import type { Caller } from '../api.js'
import type { Database } from '../storage/database.js'

const INACTIVITY_MILLISECONDS = 30 * 60 * 1000 // sessionInactivityMinutes of a new space
const CONTEXT_TURNS = 20

export interface SessionTurn {
  query: string
  answer: string
}

export interface Session {
  id: string
  /** earlier turns, oldest first, at most 20 */
  turns: SessionTurn[]
}

/** The caller's session in this space, or a new one where the id is unknown, expired or somebody else's. */
export function openSession(db: Database, caller: Caller, spaceKey: number, id: string | undefined): Session {
  const known =
    id === undefined
      ? undefined
      : db.get<{ id: string }>(
          'SELECT id FROM sessions WHERE id = ? AND tenant = ? AND subject = ? AND space_key = ? AND expires_at > ?',
          ...[id, caller.tenant, caller.subject, spaceKey, Date.now()],
        )
  if (known === undefined) return { id: newId(), turns: [] }
  const turns = db.all<SessionTurn>(
    'SELECT query, answer FROM session_turns WHERE session_id = ? ORDER BY place DESC LIMIT ?',
    ...[known.id, CONTEXT_TURNS],
  )
  return { id: known.id, turns: turns.reverse() }
}

/** Records a turn and keeps the session alive, inside the caller's transaction. */
export function recordTurn(
  db: Database,
  caller: Caller,
  spaceKey: number,
  sessionId: string,
  turn: SessionTurn & { traceId: string },
): void {
  const now = Date.now()
  db.run(
    `INSERT INTO sessions (id, tenant, space_key, subject, client_kind, heartbeat_at, expires_at, created_at)
     VALUES (?, ?, ?, ?, 'api', ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at`,
    ...[sessionId, caller.tenant, spaceKey, caller.subject, now, now + INACTIVITY_MILLISECONDS, now],
  )
  const place = db.get<{ place: number | null }>(
    'SELECT max(place) place FROM session_turns WHERE session_id = ?',
    sessionId,
  )
  db.run(
    'INSERT INTO session_turns (session_id, place, trace_id, query, answer, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    ...[sessionId, (place?.place ?? 0) + 1, turn.traceId, turn.query, turn.answer, now],
  )
}
