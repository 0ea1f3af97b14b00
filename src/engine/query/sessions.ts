import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../api.js'
import type { EngineContext } from '../context.js'
import { retentionOf, sessionExpiry } from '../retention/policy.js'
import { quotasOf } from '../spaces/quota.js'
import type { SpaceRow } from '../spaces/store.js'
import type { Database } from '../storage/database.js'

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

/**
 * The caller's session in this space, or a new one where the id is unknown, expired or somebody else's.
 *
 * @param refused called before a refusal is thrown, to give back what the query holds
 * @throws KsError `quota-exceeded` when every session that the space may have is a conversation or answers right now
 */
export function openSession(
  context: EngineContext,
  caller: Caller,
  space: SpaceRow,
  { id, refused }: { id: string | undefined; refused: () => void },
): Session {
  const { db, now } = context
  const known =
    id === undefined
      ? undefined
      : db.get<{ id: string }>(
          'SELECT id FROM sessions WHERE id = ? AND tenant = ? AND subject = ? AND space_key = ? AND expires_at > ?',
          ...[id, caller.tenant, caller.subject, space.key, now()],
        )
  if (known === undefined) {
    try {
      makeRoom(context, space)
    } catch (error) {
      refused()
      throw error
    }
    return { id: newId(), turns: [] }
  }
  const turns = db.all<SessionTurn>(
    'SELECT query, answer FROM session_turns WHERE session_id = ? ORDER BY place DESC LIMIT ?',
    ...[known.id, CONTEXT_TURNS],
  )
  return { id: known.id, turns: turns.reverse() }
}

/**
 * Every question without a session id opens a session. At the quota, the one-off that has been idle longest gives way:
 * a client that asks many single questions must not shut itself out, nor end somebody's conversation.
 */
function makeRoom(context: EngineContext, space: SpaceRow): void {
  const { db, leases, now } = context
  const limit = quotasOf(context, space).maxActiveSessionCount
  const running = new Set(leases.of(space.key).flatMap((lease) => (lease.type === 'read' ? [lease.sessionId] : [])))
  const stored =
    db.get<{ n: number }>('SELECT count(*) n FROM sessions WHERE space_key = ? AND expires_at > ?', space.key, now())
      ?.n ?? 0
  const unstored = [...running].filter((id) => !isStored(db, id)).length
  if (stored + unstored < limit) return
  const oneOff = db
    .all<{ id: string }>(
      `SELECT id FROM sessions WHERE space_key = ? AND expires_at > ?
         AND NOT EXISTS (SELECT 1 FROM session_turns WHERE session_id = sessions.id AND place > 1)
       ORDER BY heartbeat_at LIMIT ?`,
      ...[space.key, now(), running.size + 1],
    )
    .find(({ id }) => !running.has(id))
  if (oneOff === undefined)
    throw new KsError(
      'quota-exceeded',
      `the space has ${stored + unstored} active sessions, its quota maxActiveSessionCount is ${limit}`,
    )
  db.writeNow(() => removeSession(db, oneOff.id))
}

function isStored(db: Database, id: string): boolean {
  return db.get<{ id: string }>('SELECT id FROM sessions WHERE id = ?', id) !== undefined
}

function removeSession(db: Database, id: string): void {
  db.run('DELETE FROM session_turns WHERE session_id = ?', id)
  db.run('DELETE FROM sessions WHERE id = ?', id)
}

/** Records a turn and keeps the session alive, inside the caller's transaction. */
export function recordTurn(
  context: EngineContext,
  caller: Caller,
  spaceKey: number,
  sessionId: string,
  turn: SessionTurn & { traceId: string },
): void {
  const { db } = context
  const now = context.now()
  const expiresAt = sessionExpiry(retentionOf(db, spaceKey), now)
  db.run(
    `INSERT INTO sessions (id, tenant, space_key, subject, client_kind, heartbeat_at, expires_at, created_at)
     VALUES (?, ?, ?, ?, 'api', ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at`,
    ...[sessionId, caller.tenant, spaceKey, caller.subject, now, expiresAt, now],
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
