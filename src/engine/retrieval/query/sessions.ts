import { KsError } from '../../../contract/errors.js'
import { newId } from '../../../lib/ids.js'
import { stripThoughts } from '../../../lib/text/thoughts.js'
import type { Caller } from '../../base/caller.js'
import type { LeaseInfo } from '../../base/leases.js'
import { type EngineContext, getQuotas, getRetentionRules, sessionExpiry } from '../../library/index.js'
import type { Read, Write } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { filterReadableDocuments } from '../../store/rows/documents.js'
import { listSpaceLeases } from '../../store/rows/held-leases.js'
import {
  countSessions,
  filterStoredSessions,
  insertSessionTurn,
  isOwnSession,
  listLastTurns,
  listSingleTurnSessions,
  removeSession,
  type SessionTurn,
  upsertSession,
} from '../../store/rows/sessions.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { listCitedDocuments } from '../../store/rows/traces.js'

const MAX_CONTEXT_TURNS = 20
/** Replaces an answer that was based on a document that has been deleted. */
const DELETED_SOURCE_TEXT = 'What was said here was taken from a document that was deleted.'

export interface QuerySession {
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
): Read<QuerySession> {
  if (id === undefined || !(yield* isOwnSession(caller, space.key, id, context.now()))) {
    // the first query of the session may still be running
    const running = (yield* findUnstoredSessions(context, space)).find(
      (lease) => lease.sessionId === id && lease.subject === caller.subject,
    )
    if (running !== undefined) return { id: running.sessionId, turns: [] }
    yield* assertSessionQuota(context, space)
    return { id: newId(), turns: [] }
  }
  const stored = yield* listLastTurns(caller.tenant, id, MAX_CONTEXT_TURNS)
  const quoted = stored.map(({ bundle }) => (bundle === null ? [] : [...listCitedDocuments(parseJsonCell(bundle))]))
  const known = yield* filterReadableDocuments(caller, space.key, quoted.flat())
  const turns = stored.map(({ query, answer }, index): SessionTurn => {
    // An answer that quoted a deleted document is not repeated.
    const isAllowed = quoted[index]?.every((document) => known.has(document)) !== false
    // The thoughts of a model are not part of its answer.
    return { query, answer: isAllowed ? stripThoughts(answer) : DELETED_SOURCE_TEXT }
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
function* assertSessionQuota(context: EngineContext, space: SpaceRow): Read<void> {
  const limit = getQuotas(context, space).maxActiveSessionCount
  const stored = yield* countSessions(space.key, context.now())
  const unstored = (yield* findUnstoredSessions(context, space)).length
  const excess = stored + unstored + 1 - limit
  if (excess > 0 && (yield* findIdleOneOffs(context, space.key, excess)).length < excess)
    throw new KsError(
      'quota-exceeded',
      `the space has ${stored + unstored} active sessions, its quota maxActiveSessionCount is ${limit}`,
    )
}

/** Removes as many idle one-off sessions as a new session needs, inside the caller's transaction. */
function* removeIdleSessions(context: EngineContext, space: SpaceRow): Write<void> {
  const excess = (yield* countSessions(space.key, context.now())) + 1 - getQuotas(context, space).maxActiveSessionCount
  if (excess > 0)
    for (const id of yield* findIdleOneOffs(context, space.key, excess))
      yield* removeSession({ tenant: space.tenant, id })
}

/** Finds sessions of one question that are not in use, the longest idle first, at most `max`. */
function* findIdleOneOffs(context: EngineContext, spaceKey: number, max: number): Read<string[]> {
  const running = new Set((yield* findQueryLeases(context, spaceKey)).map((lease) => lease.sessionId))
  const idle = yield* listSingleTurnSessions(spaceKey, context.now(), running.size + max)
  return idle.filter((id) => !running.has(id)).slice(0, max)
}

/** Leases of running queries. Tasks, explanations and replays hold leases too, but are no sessions. */
function* findQueryLeases(context: EngineContext, spaceKey: number): Read<LeaseInfo[]> {
  return (yield* listSpaceLeases(context, spaceKey)).filter(({ subject }) => subject !== undefined)
}

/** Sessions whose first query is running: a session is active from then on, and stored with its first turn. */
export function* findUnstoredSessions(
  context: EngineContext,
  space: Pick<SpaceRow, 'key' | 'tenant'>,
): Read<LeaseInfo[]> {
  const first = new Map((yield* findQueryLeases(context, space.key)).map((lease) => [lease.sessionId, lease]))
  const leases = [...first.values()]
  const stored = yield* filterStoredSessions(
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
  { sessionId, ...turn }: SessionTurn & { sessionId: string; traceId: string },
): Write<void> {
  const now = context.now()
  const expiresAt = sessionExpiry(yield* getRetentionRules(space.key), now)
  if (!(yield* filterStoredSessions(caller.tenant, [sessionId])).has(sessionId))
    yield* removeIdleSessions(context, space)
  yield* upsertSession(caller, space.key, sessionId, { now, expiresAt })
  yield* insertSessionTurn({ tenant: caller.tenant, id: sessionId }, turn, now)
}
