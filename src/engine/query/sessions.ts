import { KsError } from '../../contract/errors.js'
import { newId } from '../../lib/ids.js'
import { withoutThoughts } from '../../lib/text/thoughts.js'
import type { Caller } from '../base/caller.js'
import type { KnownLease } from '../base/leases.js'
import type { EngineContext } from '../context.js'
import { knownDocuments } from '../rows/documents.js'
import { leasesOf } from '../rows/held-leases.js'
import {
  countSessions,
  insertTurn,
  isOwnSession,
  keepSession,
  lastTurns,
  oneOffs,
  removeSession,
  type SessionTurn,
  storedSessions,
} from '../rows/sessions.js'
import type { SpaceRow } from '../rows/spaces.js'
import { documentsCited } from '../rows/traces.js'
import { quotasOf } from '../spaces/quota.js'
import { retentionOf, sessionExpiry } from '../spaces/retention-policy.js'
import type { Read, Write } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'

const CONTEXT_TURNS = 20
/** Replaces an answer that was based on a document that has been deleted. */
const GONE = 'What was said here was taken from a document that was deleted.'

export interface Session {
  id: string
  /** earlier turns, oldest first, at most 20 */
  turns: SessionTurn[]
}

/**
 * Finds the caller's session in this space, or creates an id for a new one when the id is unknown, expired or not the
 * caller's. The caller must acquire the lease that counts it before other queries are admitted.
 *
 * @throws KsError `quota-exceeded` when every session that the space may have is a conversation or is answering
 */
export function* openSession(
  context: EngineContext,
  caller: Caller,
  space: SpaceRow,
  id: string | undefined,
): Read<Session> {
  if (id === undefined || !(yield* isOwnSession(caller, space.key, id, context.now()))) {
    // the first query of the session may still be running
    const running = (yield* unstoredSessions(context, space)).find(
      (lease) => lease.sessionId === id && lease.subject === caller.subject,
    )
    if (running !== undefined) return { id: running.sessionId, turns: [] }
    yield* assertRoom(context, space)
    return { id: newId(), turns: [] }
  }
  const stored = yield* lastTurns(caller.tenant, id, CONTEXT_TURNS)
  const quoted = stored.map(({ bundle }) => (bundle === null ? [] : [...documentsCited(fromCell(bundle))]))
  const known = yield* knownDocuments(caller, space.key, quoted.flat())
  const turns = stored.map(({ query, answer }, place): SessionTurn => {
    // An answer that quoted a deleted document is not repeated.
    const isSaid = quoted[place]?.every((document) => known.has(document)) !== false
    // The thoughts of a model are not part of its answer.
    return { query, answer: isSaid ? withoutThoughts(answer) : GONE }
  })
  return { id, turns: turns.reverse() }
}

/**
 * Checks the session quota. Every question without a session id opens a session. At the quota, the longest idle one-off
 * sessions are removed when the new one is stored: a client with many single questions must not lock itself out, nor
 * end someone's conversation.
 *
 * @throws KsError `quota-exceeded` when there are not enough of them
 */
function* assertRoom(context: EngineContext, space: SpaceRow): Read<void> {
  const limit = quotasOf(context, space).maxActiveSessionCount
  const stored = yield* countSessions(space.key, context.now())
  const unstored = (yield* unstoredSessions(context, space)).length
  const over = stored + unstored + 1 - limit
  if (over > 0 && (yield* idleOneOffs(context, space.key, over)).length < over)
    throw new KsError(
      'quota-exceeded',
      `the space has ${stored + unstored} active sessions, its quota maxActiveSessionCount is ${limit}`,
    )
}

/** Removes as many idle one-off sessions as a new session needs, inside the caller's transaction. */
function* makeRoom(context: EngineContext, space: SpaceRow): Write<void> {
  const over = (yield* countSessions(space.key, context.now())) + 1 - quotasOf(context, space).maxActiveSessionCount
  if (over > 0)
    for (const id of yield* idleOneOffs(context, space.key, over)) yield* removeSession({ tenant: space.tenant, id })
}

/** Finds sessions of one question that are not in use, the longest idle first, at most `max`. */
function* idleOneOffs(context: EngineContext, spaceKey: number, most: number): Read<string[]> {
  const running = new Set((yield* queryLeases(context, spaceKey)).map((lease) => lease.sessionId))
  const idle = yield* oneOffs(spaceKey, context.now(), running.size + most)
  return idle.filter((id) => !running.has(id)).slice(0, most)
}

/** Leases of running queries. Tasks, explanations and replays hold leases too, but are no sessions. */
function* queryLeases(context: EngineContext, spaceKey: number): Read<KnownLease[]> {
  return (yield* leasesOf(context, spaceKey)).filter(({ subject }) => subject !== undefined)
}

/** Sessions whose first query is running: a session is active from then on, and stored with its first turn. */
export function* unstoredSessions(context: EngineContext, space: Pick<SpaceRow, 'key' | 'tenant'>): Read<KnownLease[]> {
  const first = new Map((yield* queryLeases(context, space.key)).map((lease) => [lease.sessionId, lease]))
  const leases = [...first.values()]
  const stored = yield* storedSessions(
    space.tenant,
    leases.map(({ sessionId }) => sessionId),
  )
  return leases.filter(({ sessionId }) => !stored.has(sessionId))
}

/** Records a turn and extends the session, inside the caller's transaction. */
export function* recordTurn(
  context: EngineContext,
  caller: Caller,
  space: SpaceRow,
  sessionId: string,
  turn: SessionTurn & { traceId: string },
): Write<void> {
  const now = context.now()
  const expiresAt = sessionExpiry(yield* retentionOf(space.key), now)
  if (!(yield* storedSessions(caller.tenant, [sessionId])).has(sessionId)) yield* makeRoom(context, space)
  yield* keepSession(caller, space.key, sessionId, { now, expiresAt })
  yield* insertTurn({ tenant: caller.tenant, id: sessionId }, turn, now)
}
