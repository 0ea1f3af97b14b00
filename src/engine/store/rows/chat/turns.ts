import { type Read, sql, type Write } from '../../program.js'
import { DATABASE_NOW } from '../gateways.js'
import type { AppScope } from './apps.js'
import { type EndUserScope, findMessage, type MessageRow } from './conversations.js'

/*
 * Turns of conversations across gateways: a running message is a turn that is running or waiting, and turns run in the
 * order of their positions. A gateway's request about another gateway's turn is a row of `chat_turn_requests`.
 */

/** a follower repeats its request more often; after this time without one it is gone */
const FOLLOW_EXPIRY_MS = 15_000
/** maximum time between creation of a task's id and of its message's id */
const MAX_ID_GAP_MS = 1000
/** the timestamp part of an id */
const ID_TIMESTAMP = /^([0-9a-f]{8})-([0-9a-f]{4})-7/

/** Whether a turn of another gateway comes first in a conversation. */
export function* isBehindOtherGateways(
  endUser: EndUserScope,
  turn: { messageId: string; conversationId: string },
  gateway: string,
) {
  return yield* sql.exists(
    `SELECT 1 one FROM chat_messages
     WHERE tenant = ? AND conversation_id = ? AND status = 'running' AND claimed_by <> ?
       AND place < (SELECT place FROM chat_messages WHERE tenant = ? AND id = ?) LIMIT 1`,
    [endUser.tenant, turn.conversationId, gateway, endUser.tenant, turn.messageId],
  )
}

/** Number of running answers of an application, at all gateways. */
export function* countRunningMessages({ tenant, appId }: AppScope): Read<number> {
  return yield* sql.count(
    "SELECT count(*) n FROM chat_messages WHERE tenant = ? AND app_id = ? AND status = 'running'",
    [tenant, appId],
  )
}

/** The end user who sent a message, and its variables. */
export function* findSender(
  { tenant, appId }: AppScope,
  id: string,
): Read<{ userId: string; inputs: string } | undefined> {
  const row = yield* sql.get<{ end_user_id: string; inputs: string }>(
    'SELECT end_user_id, inputs FROM chat_messages WHERE tenant = ? AND app_id = ? AND id = ?',
    [tenant, appId, id],
  )
  return row === undefined ? undefined : { userId: row.end_user_id, inputs: row.inputs }
}

/** A message of an end user by its task, and the gateway that answers it. */
export function* findMessageByTask(
  endUser: EndUserScope,
  taskId: string,
): Read<{ row: MessageRow; gateway: string | null } | undefined> {
  const [, high, low] = ID_TIMESTAMP.exec(taskId) ?? []
  if (high === undefined || low === undefined) return undefined
  const until = (Number.parseInt(high + low, 16) + MAX_ID_GAP_MS).toString(16).padStart(12, '0')
  const found = yield* sql.get<{ id: string; claimed_by: string | null }>(
    `SELECT id, claimed_by FROM chat_messages
     WHERE tenant = ? AND id > ? AND id < ? AND task_id = ? AND app_id = ? AND end_user_id = ?`,
    [endUser.tenant, taskId, `${until.slice(0, 8)}-${until.slice(8)}`, taskId, endUser.appId, endUser.userId],
  )
  const row = found === undefined ? undefined : yield* findMessage(endUser, found.id)
  return row === undefined || found === undefined ? undefined : { row, gateway: found.claimed_by }
}

/** A request to a gateway about one of its turns. */
export interface TurnRequest {
  tenant: string
  message_id: string
  /** 1 if a user stopped it */
  stop: number
  /** 1 while its frames are read at another gateway */
  is_followed: number
}

/** Requests the gateway of a message to stop. */
export function* requestStop({ tenant }: AppScope, messageId: string, gateway: string): Write<void> {
  yield* sql.run(
    `INSERT INTO chat_turn_requests (tenant, message_id, gateway, stop) VALUES (?, ?, ?, 1)
     ON CONFLICT (tenant, message_id) DO UPDATE SET stop = 1`,
    [tenant, messageId, gateway],
  )
}

/** Requests the frames of a message from its gateway, or renews the request. */
export function* requestFrames({ tenant }: AppScope, messageId: string, gateway: string): Write<void> {
  yield* sql.run(
    `INSERT INTO chat_turn_requests (tenant, message_id, gateway, followed_at) VALUES (?, ?, ?, ${DATABASE_NOW})
     ON CONFLICT (tenant, message_id) DO UPDATE SET followed_at = excluded.followed_at`,
    [tenant, messageId, gateway],
  )
}

/** The requests to a gateway. */
export function* listTurnRequests(gateway: string): Read<TurnRequest[]> {
  return yield* sql.all<TurnRequest>(
    `SELECT tenant, message_id, stop, CASE WHEN followed_at > ${DATABASE_NOW} - ${FOLLOW_EXPIRY_MS} THEN 1 ELSE 0 END is_followed
     FROM chat_turn_requests WHERE gateway = ?`,
    [gateway],
  )
}

/** Ids of the messages that a gateway is answering. */
export function* listRunningMessages(gateway: string): Read<string[]> {
  const rows = yield* sql.all<{ id: string }>(
    "SELECT id FROM chat_messages WHERE status = 'running' AND claimed_by = ?",
    [gateway],
  )
  return rows.map(({ id }) => id)
}

/** Removes a request, and with it the frames that were stored for it. */
export function* removeTurnRequest({ tenant, message_id }: Pick<TurnRequest, 'tenant' | 'message_id'>): Write<void> {
  yield* sql.run('DELETE FROM chat_turn_requests WHERE tenant = ? AND message_id = ?', [tenant, message_id])
}

/** Removes requests to lost gateways. @returns always 0: no work is left to resume */
export function* removeOrphanedTurnRequests(): Write<number> {
  yield* sql.run('DELETE FROM chat_turn_requests WHERE gateway NOT IN (SELECT id FROM gateways)')
  return 0
}

/** Frames in the order in which they were sent. */
export interface FrameBatch {
  /** number of earlier frames */
  first: number
  /** JSON */
  frames: string
  /** 1 if no frames follow */
  last: number
}

/** Stores frames for a follower at another gateway; stores nothing if there is none any more. */
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

/** Frames from the one with this number on. */
export function* listFramesFrom({ tenant }: AppScope, messageId: string, next: number): Read<FrameBatch[]> {
  return yield* sql.all<FrameBatch>(
    `SELECT first, frames, last FROM chat_turn_frames
     WHERE tenant = ? AND message_id = ? AND (first + frame_count > ? OR last = 1) ORDER BY first`,
    [tenant, messageId, next],
  )
}
