import type { Caller } from '../base/caller.js'
import { type Read, sql, type Write } from '../storage/program.js'

/** What was asked and answered. */
export interface SessionTurn {
  query: string
  answer: string
}

/** A session of a tenant. */
export interface OwnedSession {
  tenant: string
  id: string
}

/** Whether a session is the caller's own, in this space, and lives. */
export function* isOwnSession(caller: Caller, spaceKey: number, id: string, now: number): Read<boolean> {
  const known = yield* sql.get<{ id: string }>(
    'SELECT id FROM sessions WHERE id = ? AND tenant = ? AND subject = ? AND space_key = ? AND expires_at > ?',
    [id, caller.tenant, caller.subject, spaceKey, now],
  )
  return known !== undefined
}

/** The last turns of a session, newest first. */
export function* lastTurns(
  tenant: string,
  sessionId: string,
  most: number,
): Read<(SessionTurn & { trace_id: string })[]> {
  return yield* sql.all<SessionTurn & { trace_id: string }>(
    'SELECT query, answer, trace_id FROM session_turns WHERE tenant = ? AND session_id = ? ORDER BY place DESC LIMIT ?',
    [tenant, sessionId, most],
  )
}

/** How many sessions of a space live. */
export function* countSessions(spaceKey: number, now: number): Read<number> {
  const text = 'SELECT count(*) n FROM sessions WHERE space_key = ? AND expires_at > ?'
  return (yield* sql.get<{ n: number }>(text, [spaceKey, now]))?.n ?? 0
}

/**
 * Ids of the sessions of one question, the longest idle first: those that end soonest, in the order of an index, so that
 * it takes no longer in a space that is full of sessions.
 */
export function* oneOffs(spaceKey: number, now: number, most: number): Read<string[]> {
  const rows = yield* sql.all<{ id: string }>(
    `SELECT id FROM sessions INDEXED BY sessions_space WHERE space_key = ? AND expires_at > ?
         AND NOT EXISTS (SELECT 1 FROM session_turns t WHERE t.tenant = sessions.tenant AND t.session_id = sessions.id AND t.place > 1)
       ORDER BY expires_at LIMIT ?`,
    [spaceKey, now, most],
  )
  return rows.map(({ id }) => id)
}

export function* isSessionStored(tenant: string, id: string): Read<boolean> {
  return (
    (yield* sql.get<{ id: string }>('SELECT id FROM sessions WHERE tenant = ? AND id = ?', [tenant, id])) !== undefined
  )
}

/** Removes a session with its turns, inside the caller's transaction. */
export function* removeSession({ tenant, id }: OwnedSession): Write<void> {
  yield* sql.run('DELETE FROM session_turns WHERE tenant = ? AND session_id = ?', [tenant, id])
  yield* sql.run('DELETE FROM sessions WHERE tenant = ? AND id = ?', [tenant, id])
}

/** Stores a session, or keeps one that is there alive, inside the caller's transaction. */
export function* keepSession(
  caller: Caller,
  spaceKey: number,
  sessionId: string,
  { now, expiresAt }: { now: number; expiresAt: number },
): Write<void> {
  yield* sql.run(
    `INSERT INTO sessions (id, tenant, space_key, subject, client_kind, heartbeat_at, expires_at, created_at)
     VALUES (?, ?, ?, ?, 'api', ?, ?, ?)
     ON CONFLICT (tenant, id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at`,
    [sessionId, caller.tenant, spaceKey, caller.subject, now, expiresAt, now],
  )
}

/** Stores a turn as the last of its session, inside the caller's transaction. */
export function* insertTurn(
  { tenant, id: sessionId }: OwnedSession,
  turn: SessionTurn & { traceId: string },
  now: number,
): Write<void> {
  const place = yield* sql.get<{ place: number | null }>(
    'SELECT max(place) place FROM session_turns WHERE tenant = ? AND session_id = ?',
    [tenant, sessionId],
  )
  yield* sql.run(
    'INSERT INTO session_turns (tenant, session_id, place, trace_id, query, answer, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [tenant, sessionId, (place?.place ?? 0) + 1, turn.traceId, turn.query, turn.answer, now],
  )
}
