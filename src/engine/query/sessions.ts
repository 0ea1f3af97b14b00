import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import { withoutThoughts } from '../../lib/text/said.js'
import type { Caller } from '../base/caller.js'
import type { Lease } from '../base/leases.js'
import type { EngineContext } from '../context.js'
import type { SpaceRow } from '../rows/spaces.js'
import { bundleOfTrace, documentsVisible } from '../rows/traces.js'
import { quotasOf } from '../spaces/quota.js'
import { retentionOf, sessionExpiry } from '../spaces/retention-policy.js'
import { type Read, sql, type Write } from '../storage/program.js'

const CONTEXT_TURNS = 20
/** Stands in place of an answer that was made of a document which is gone. */
const GONE = 'What was said here was taken from a document that was deleted.'

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
export function* openSession(
  context: EngineContext,
  caller: Caller,
  space: SpaceRow,
  { id, refused }: { id: string | undefined; refused: () => void },
): Read<Session> {
  const { db, now } = context
  const known =
    id === undefined
      ? undefined
      : yield* sql.get<{ id: string }>(
          'SELECT id FROM sessions WHERE id = ? AND tenant = ? AND subject = ? AND space_key = ? AND expires_at > ?',
          [id, caller.tenant, caller.subject, space.key, now()],
        )
  if (known === undefined) {
    // its first query may still be running
    const running = unstoredSessions(context, space.key).find(
      (lease) => lease.sessionId === id && lease.subject === caller.subject,
    )
    if (running !== undefined) return { id: running.sessionId, turns: [] }
    try {
      yield* assertRoom(context, space)
    } catch (error) {
      refused()
      throw error
    }
    return { id: newId(), turns: [] }
  }
  const turns = (yield* sql.all<SessionTurn & { trace_id: string }>(
    'SELECT query, answer, trace_id FROM session_turns WHERE session_id = ? ORDER BY place DESC LIMIT ?',
    [known.id, CONTEXT_TURNS],
  ))
    // an answer that quoted a document which is gone is not said again, in whatever words
    .map(({ query, answer, trace_id }) => ({
      query,
      // what a model thought is no part of what it said
      answer: db.now(isQuotable(caller, space.key, trace_id)) ? withoutThoughts(answer) : GONE,
    }))
  return { id: known.id, turns: turns.reverse() }
}

function* isQuotable(caller: Caller, spaceKey: number, traceId: string): Read<boolean> {
  const bundle = yield* bundleOfTrace(caller.tenant, traceId)
  return bundle === undefined || (yield* documentsVisible(caller, spaceKey, bundle))
}

/**
 * Every question without a session id opens a session. At the quota, one-offs that have been idle longest give way when
 * it is stored: a client that asks many single questions must not shut itself out, nor end somebody's conversation.
 *
 * @throws KsError `quota-exceeded` when there are not enough of them
 */
function* assertRoom(context: EngineContext, space: SpaceRow): Read<void> {
  const limit = quotasOf(context, space).maxActiveSessionCount
  const stored = yield* storedSessions(context, space.key)
  const unstored = unstoredSessions(context, space.key).length
  const over = stored + unstored + 1 - limit
  if (over > 0 && (yield* idleOneOffs(context, space.key, over)).length < over)
    throw new KsError(
      'quota-exceeded',
      `the space has ${stored + unstored} active sessions, its quota maxActiveSessionCount is ${limit}`,
    )
}

/** Removes as many idle one-offs as a new session needs, inside the caller's transaction. */
function* makeRoom(context: EngineContext, space: SpaceRow): Write<void> {
  const over = (yield* storedSessions(context, space.key)) + 1 - quotasOf(context, space).maxActiveSessionCount
  if (over > 0) for (const id of yield* idleOneOffs(context, space.key, over)) yield* removeSession(id)
}

function* storedSessions({ now }: EngineContext, spaceKey: number): Read<number> {
  return (
    (yield* sql.get<{ n: number }>('SELECT count(*) n FROM sessions WHERE space_key = ? AND expires_at > ?', [
      spaceKey,
      now(),
    ]))?.n ?? 0
  )
}

/** Sessions of one question that nobody goes on with right now, the longest idle first, at most `most`. */
function* idleOneOffs(context: EngineContext, spaceKey: number, most: number): Read<string[]> {
  const { now } = context
  const running = new Set(queryLeases(context, spaceKey).map((lease) => lease.sessionId))
  return (yield* sql.all<{ id: string }>(
    `SELECT id FROM sessions WHERE space_key = ? AND expires_at > ?
         AND NOT EXISTS (SELECT 1 FROM session_turns WHERE session_id = sessions.id AND place > 1)
       ORDER BY heartbeat_at LIMIT ?`,
    [spaceKey, now(), running.size + most],
  ))
    .flatMap(({ id }) => (running.has(id) ? [] : [id]))
    .slice(0, most)
}

/** Leases of queries that run: tasks, explanations and replays read too, and are no sessions. */
function queryLeases({ leases }: EngineContext, spaceKey: number): Lease[] {
  return leases.of(spaceKey).filter(({ subject }) => subject !== undefined)
}

/** Sessions whose first query is running: a session is active from then on, and stored with its first turn. */
export function unstoredSessions(context: EngineContext, spaceKey: number): Lease[] {
  const first = new Map(queryLeases(context, spaceKey).map((lease) => [lease.sessionId, lease]))
  return [...first.values()].filter(({ sessionId }) => !context.db.now(isStored(sessionId)))
}

function* isStored(id: string): Read<boolean> {
  return (yield* sql.get<{ id: string }>('SELECT id FROM sessions WHERE id = ?', [id])) !== undefined
}

function* removeSession(id: string): Write<void> {
  yield* sql.run('DELETE FROM session_turns WHERE session_id = ?', [id])
  yield* sql.run('DELETE FROM sessions WHERE id = ?', [id])
}

/** Records a turn and keeps the session alive, inside the caller's transaction. */
export function* recordTurn(
  context: EngineContext,
  caller: Caller,
  space: SpaceRow,
  sessionId: string,
  turn: SessionTurn & { traceId: string },
): Write<void> {
  const now = context.now()
  const expiresAt = sessionExpiry(yield* retentionOf(space.key), now)
  if (!(yield* isStored(sessionId))) yield* makeRoom(context, space)
  yield* sql.run(
    `INSERT INTO sessions (id, tenant, space_key, subject, client_kind, heartbeat_at, expires_at, created_at)
     VALUES (?, ?, ?, ?, 'api', ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at, expires_at = excluded.expires_at`,
    [sessionId, caller.tenant, space.key, caller.subject, now, expiresAt, now],
  )
  const place = yield* sql.get<{ place: number | null }>(
    'SELECT max(place) place FROM session_turns WHERE session_id = ?',
    [sessionId],
  )
  yield* sql.run(
    'INSERT INTO session_turns (session_id, place, trace_id, query, answer, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    [sessionId, (place?.place ?? 0) + 1, turn.traceId, turn.query, turn.answer, now],
  )
}
