import { type Read, sql, type Write } from '../../storage/program.js'
import { DATABASE_NOW } from '../gateways.js'
import type { OfApp } from './apps.js'
import { findMessage, type MessageRow, type Who } from './conversations.js'

/*
 * Turns of conversations, where several gateways answer: a message that is running is a turn that has begun or waits, and
 * turns go in the order of their places. What one gateway wants of another's turn is a row of `chat_turn_requests`.
 */

/** who follows says so again more often; then nobody does any more */
const FOLLOWED_MS = 15_000
/** the id of a message is made right after that of its task */
const ID_GAP_MS = 1000
/** where the milliseconds of an id end */
const ID_TIME = /^([0-9a-f]{8})-([0-9a-f]{4})-7/

/** Whether a turn of another gateway comes first in a conversation. */
export function* isBehindOthers(who: Who, turn: { messageId: string; conversationId: string }, gateway: string) {
  const found = yield* sql.get(
    `SELECT 1 one FROM chat_messages
     WHERE tenant = ? AND conversation_id = ? AND status = 'running' AND claimed_by <> ?
       AND place < (SELECT place FROM chat_messages WHERE tenant = ? AND id = ?) LIMIT 1`,
    [who.tenant, turn.conversationId, gateway, who.tenant, turn.messageId],
  )
  return found !== undefined
}

/** Answers of an application that are under way, at all gateways. */
export function* countRunning({ tenant, appId }: OfApp): Read<number> {
  const row = yield* sql.get<{ n: number }>(
    "SELECT count(*) n FROM chat_messages WHERE tenant = ? AND app_id = ? AND status = 'running'",
    [tenant, appId],
  )
  return row?.n ?? 0
}

/** Who has sent a message, and with which variables. */
export function* senderOf({ tenant, appId }: OfApp, id: string): Read<{ userId: string; inputs: string } | undefined> {
  const row = yield* sql.get<{ end_user_id: string; inputs: string }>(
    'SELECT end_user_id, inputs FROM chat_messages WHERE tenant = ? AND app_id = ? AND id = ?',
    [tenant, appId, id],
  )
  return row === undefined ? undefined : { userId: row.end_user_id, inputs: row.inputs }
}

/** A message of an end user by its task, and who answers it. */
export function* messageOfTask(
  who: Who,
  taskId: string,
): Read<{ row: MessageRow; gateway: string | null } | undefined> {
  const [, high, low] = ID_TIME.exec(taskId) ?? []
  if (high === undefined || low === undefined) return undefined
  const until = (Number.parseInt(high + low, 16) + ID_GAP_MS).toString(16).padStart(12, '0')
  const found = yield* sql.get<{ id: string; claimed_by: string | null }>(
    `SELECT id, claimed_by FROM chat_messages
     WHERE tenant = ? AND id > ? AND id < ? AND task_id = ? AND app_id = ? AND end_user_id = ?`,
    [who.tenant, taskId, `${until.slice(0, 8)}-${until.slice(8)}`, taskId, who.appId, who.userId],
  )
  const row = found === undefined ? undefined : yield* findMessage(who, found.id)
  return row === undefined || found === undefined ? undefined : { row, gateway: found.claimed_by }
}

/** What is asked of a gateway about a turn of its own. */
export interface TurnRequest {
  tenant: string
  message_id: string
  /** 1 where somebody stopped it */
  stop: number
  /** 1 as long as somebody reads its frames elsewhere */
  is_followed: number
}

/** Asks the gateway that answers a message to stop. */
export function* askToStop({ tenant }: OfApp, messageId: string, gateway: string): Write<void> {
  yield* sql.run(
    `INSERT INTO chat_turn_requests (tenant, message_id, gateway, stop) VALUES (?, ?, ?, 1)
     ON CONFLICT (tenant, message_id) DO UPDATE SET stop = 1`,
    [tenant, messageId, gateway],
  )
}

/** Asks it for the frames, or says that they are still read. */
export function* askToFollow({ tenant }: OfApp, messageId: string, gateway: string): Write<void> {
  yield* sql.run(
    `INSERT INTO chat_turn_requests (tenant, message_id, gateway, followed_at) VALUES (?, ?, ?, ${DATABASE_NOW})
     ON CONFLICT (tenant, message_id) DO UPDATE SET followed_at = excluded.followed_at`,
    [tenant, messageId, gateway],
  )
}

/** What is asked of a gateway. */
export function* requestsTo(gateway: string): Read<TurnRequest[]> {
  return yield* sql.all<TurnRequest>(
    `SELECT tenant, message_id, stop, CASE WHEN followed_at > ${DATABASE_NOW} - ${FOLLOWED_MS} THEN 1 ELSE 0 END is_followed
     FROM chat_turn_requests WHERE gateway = ?`,
    [gateway],
  )
}

/** Ids of the messages that a gateway answers. */
export function* answeredBy(gateway: string): Read<string[]> {
  const rows = yield* sql.all<{ id: string }>(
    "SELECT id FROM chat_messages WHERE status = 'running' AND claimed_by = ?",
    [gateway],
  )
  return rows.map(({ id }) => id)
}

/** Nothing is asked any more; frames that were stored for it go. */
export function* removeRequest({ tenant, message_id }: Pick<TurnRequest, 'tenant' | 'message_id'>): Write<void> {
  yield* sql.run('DELETE FROM chat_turn_requests WHERE tenant = ? AND message_id = ?', [tenant, message_id])
}

/** Requests to gateways that are gone, which nobody fulfils. @returns none: they are nobody's work */
export function* dropRequests(): Write<number> {
  yield* sql.run('DELETE FROM chat_turn_requests WHERE gateway NOT IN (SELECT id FROM gateways)')
  return 0
}

/** Frames in the order in which they came. */
export interface FrameBatch {
  /** how many came before */
  first: number
  /** JSON */
  frames: string
  /** 1 where none come after them */
  last: number
}

/** Stores frames for who follows elsewhere; nothing where nobody does any more. */
export function* storeFrames(
  { tenant, message_id }: Pick<TurnRequest, 'tenant' | 'message_id'>,
  batch: FrameBatch & { count: number },
): Write<void> {
  yield* sql.run(
    `INSERT INTO chat_turn_frames (tenant, message_id, first, frame_count, frames, last)
     SELECT tenant, message_id, ?, ?, ?, ? FROM chat_turn_requests WHERE tenant = ? AND message_id = ?
     ON CONFLICT (tenant, message_id, first)
       DO UPDATE SET frame_count = excluded.frame_count, frames = excluded.frames, last = excluded.last`,
    [batch.first, batch.count, batch.frames, batch.last, tenant, message_id],
  )
}

/** Frames that hold the one with this number, and all after it. */
export function* framesFrom({ tenant }: OfApp, messageId: string, next: number): Read<FrameBatch[]> {
  return yield* sql.all<FrameBatch>(
    `SELECT first, frames, last FROM chat_turn_frames
     WHERE tenant = ? AND message_id = ? AND (first + frame_count > ? OR last = 1) ORDER BY first`,
    [tenant, messageId, next],
  )
}
