import { ChatError } from '../../../../contract/chat/errors.js'
import type { EngineContext } from '../../../library/index.js'
import type { Driver } from '../../../store/driver.js'
import type { Read } from '../../../store/program.js'
import {
  DELETED_DOCUMENT_ANSWER,
  type EndUserScope,
  findMessage,
  type MessageRow,
} from '../../../store/rows/chat/conversations.js'
import { findMessageByTask, requestStop } from '../../../store/rows/chat/turns.js'
import type { AppSession } from '../apps.js'
import { findEndUser } from '../conversations.js'
import { type ChatStream, REPLAY_MS, type RunningTurn } from '../turn.js'
import { FollowedTurn } from './followed-turn.js'

/**
 * Replays a turn of an end user: one of this gateway, or of another one.
 *
 * @throws ChatError `not_found`
 */
export async function replayTurn(
  context: EngineContext,
  turn: RunningTurn | undefined,
  session: AppSession,
  { taskId, user }: { taskId: string; user: string },
): Promise<ChatStream> {
  const { db, instance, isShared, now } = context
  if (turn !== undefined) {
    if (await db.read(isReplayable(session, user, turn.ids.messageId))) return turn
  } else if (isShared) {
    const found = await db.read(findRemoteTurn(session, taskId, user))
    if (found !== undefined && found.gateway !== instance && isRecent(found, now()))
      return new FollowedTurn(context, found.endUser, found.row, found.gateway)
  }
  throw new ChatError('not_found', 'Task Not Exists.')
}

/** Requests the gateway that runs the turn to stop it, if there is one. */
export async function stopRemoteTurn(db: Driver, session: AppSession, taskId: string, user: string): Promise<void> {
  const found = await db.read(findRemoteTurn(session, taskId, user))
  if (found?.row.status === 'running') await db.write(() => requestStop(found.endUser, found.row.id, found.gateway))
}

/** Whether the text of a turn may be sent again. */
function* isReplayable(session: AppSession, user: string, messageId: string): Read<boolean> {
  const endUser = yield* findEndUser(session, user)
  const message = endUser === undefined ? undefined : yield* findMessage(endUser, messageId)
  return message !== undefined && message.answer !== DELETED_DOCUMENT_ANSWER
}

interface RemoteTurn {
  endUser: EndUserScope
  row: MessageRow
  gateway: string
}

function* findRemoteTurn(session: AppSession, taskId: string, user: string): Read<RemoteTurn | undefined> {
  const endUser = yield* findEndUser(session, user)
  const found = endUser === undefined ? undefined : yield* findMessageByTask(endUser, taskId)
  if (endUser === undefined || found === undefined || found.gateway === null) return undefined
  return { endUser, row: found.row, gateway: found.gateway }
}

function isRecent({ row }: RemoteTurn, now: number): boolean {
  if (row.answer === DELETED_DOCUMENT_ANSWER) return false
  return row.finished_at === null || row.finished_at > now - REPLAY_MS
}
