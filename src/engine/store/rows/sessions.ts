import type { Caller } from '../../base/caller.js'
import { type Read, sql, type Write } from '../program.js'

/** A question and its answer. */
export interface SessionTurn {
  query: string
  answer: string
}

/** Identifies a session of a tenant. */
export interface SessionKey {
  tenant: string
  id: string
}

/** Whether a session belongs to the caller, in this space, and has not expired. */
export function* isOwnSession(caller: Caller, spaceKey: number, id: string, now: number): Read<boolean> {
  const row = yield* sql.get<{ id: string }>(
    'SELECT id FROM sessions WHERE id = ? AND tenant = ? AND subject = ? AND space_key = ? AND expires_at > ?',
    [id, caller.tenant, caller.subject, spaceKey, now],
  )
  return row !== undefined
}

/** A turn with the evidence bundle of its trace; null if the trace is removed, or had no bundle. */
export interface StoredSessionTurn extends SessionTurn {
  bundle: string | null
}

/** The last turns of a session, newest first. */
export function* listLastTurns(tenant: string, sessionId: string, limit: number): Read<StoredSessionTurn[]> {
  return yield* sql.all<StoredSessionTurn>(
    `SELECT t.query, t.answer, b.body bundle FROM session_turns t
     LEFT JOIN traces ON traces.tenant = t.tenant AND traces.id = t.trace_id
     LEFT JOIN evidence_bundles b ON b.tenant = traces.tenant AND b.id = traces.bundle_id
     WHERE t.tenant = ? AND t.session_id = ? ORDER BY t.place DESC LIMIT ?`,
    [tenant, sessionId, limit],
  )
}

/** Number of unexpired sessions of a space. */
export function* countSessions(spaceKey: number, now: number): Read<number> {
  const text = 'SELECT count(*) n FROM sessions WHERE space_key = ? AND expires_at > ?'
  return (yield* sql.get<{ n: number }>(text, [spaceKey, now]))?.n ?? 0
}

/**
 * Ids of sessions with one turn, the first to expire first: in the order of an index, so that the query is fast in a
 * space with many sessions.
 */
export function* listSingleTurnSessions(spaceKey: number, now: number, limit: number): Read<string[]> {
  const rows = yield* sql.all<{ id: string }>(
    `SELECT id FROM sessions INDEXED BY sessions_space WHERE space_key = ? AND expires_at > ?
         AND NOT EXISTS (SELECT 1 FROM session_turns t WHERE t.tenant = sessions.tenant AND t.session_id = sessions.id AND t.place > 1)
       ORDER BY expires_at LIMIT ?`,
    [spaceKey, now, limit],
  )
  return rows.map(({ id }) => id)
}

/** Of some ids, those of stored sessions. */
export function* filterStoredSessions(tenant: string, ids: readonly string[]): Read<Set<string>> {
  const rows = yield* sql.getEach<{ id: string }>(
    'SELECT id FROM sessions WHERE tenant = ? AND id = ?',
    ids.map((id) => [tenant, id]),
  )
  return new Set(rows.flatMap((row) => row?.id ?? []))
}

/** Removes a session with its turns, inside the caller's transaction. */
export function* removeSession({ tenant, id }: SessionKey): Write<void> {
  yield* sql.run('DELETE FROM session_turns WHERE tenant = ? AND session_id = ?', [tenant, id])
  yield* sql.run('DELETE FROM sessions WHERE tenant = ? AND id = ?', [tenant, id])
}

/** Inserts a session, or extends an existing one, inside the caller's transaction. */
export function* upsertSession(
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

/** Appends a turn to a session, inside the caller's transaction. */
export function* insertSessionTurn(
  { tenant, id: sessionId }: SessionKey,
  turn: SessionTurn & { traceId: string },
  now: number,
): Write<void> {
  yield* sql.run(
    `INSERT INTO session_turns (tenant, session_id, place, trace_id, query, answer, created_at)
     VALUES (?, ?, 1 + coalesce((SELECT max(place) FROM session_turns WHERE tenant = ? AND session_id = ?), 0), ?, ?, ?, ?)`,
    [tenant, sessionId, tenant, sessionId, turn.traceId, turn.query, turn.answer, now],
  )
}
