import { ChatError, messageMissingError } from '../../../contract/chat/errors.js'
import type {
  AgentThought,
  ConversationMessage,
  FeedbackBody,
  FeedbackItem,
  MessagesQuery,
  RetrieverResource,
} from '../../../contract/chat/messages.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { mapReadable, mapReadableIn, parseJsonCell } from '../../store/readable.js'
import {
  type EndUserScope,
  findMessage,
  listMessagesBefore,
  type MessageRow,
} from '../../store/rows/chat/conversations.js'
import { listMessageFiles, toMessageFile } from '../../store/rows/chat/files.js'
import { findRating, listRatings, removeRating, setRating } from '../rows/chat/feedback.js'
import { type AppSession, toAppKey } from './apps.js'
import { type ChatPage, findEndUser, requireConversation } from './conversations.js'

/** The newest messages before `first_id`; within the page oldest first, as clients display them. */
export function* listMessages(
  session: AppSession,
  { conversation_id, user, first_id, limit, order }: MessagesQuery,
  linkTo: (fileId: string) => string,
): Read<ChatPage<ConversationMessage>> {
  const { endUser } = yield* requireConversation(session, user, conversation_id)
  const first = first_id === undefined ? undefined : yield* findMessage(endUser, first_id)
  if (first_id !== undefined && first?.conversation_id !== conversation_id)
    throw new ChatError('not_found', 'First Message Not Exists.')
  const rows = yield* listMessagesBefore(endUser, conversation_id, first?.place ?? Number.MAX_SAFE_INTEGER, limit + 1)
  const page = yield* mapReadableIn(rows.slice(0, limit), (row) => toMessage(endUser, row, linkTo))
  return { limit, has_more: rows.length > limit, data: order === 'asc' ? page.reverse() : page }
}

function* toMessage(
  endUser: EndUserScope,
  row: MessageRow,
  linkTo: (fileId: string) => string,
): Read<ConversationMessage> {
  const inputs: Record<string, unknown> = parseJsonCell(row.inputs)
  const resources: RetrieverResource[] = parseJsonCell(row.resources)
  const thoughts: AgentThought[] = parseJsonCell(row.thoughts)
  const rating = yield* findRating(endUser, row.id)
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    inputs,
    query: row.query,
    answer: row.answer,
    message_files: mapReadable(yield* listMessageFiles(endUser, row.id), (file) => toMessageFile(file, linkTo)),
    feedback: rating === undefined ? null : { rating },
    retriever_resources: resources,
    agent_thoughts: thoughts,
    created_at: Math.floor(row.created_at / 1000),
    status: row.status === 'error' ? 'error' : 'normal',
    error: row.error,
  }
}

/**
 * Rates an answer, once per end user; without a rating, removes an existing one.
 * @throws ChatError
 */
export async function rateMessage(db: Driver, session: AppSession, id: string, body: FeedbackBody): Promise<void> {
  await db.write(function* () {
    const { endUser, row } = yield* requireMessage(session, body.user, id)
    const { rating } = body
    if (rating === null || rating === undefined) yield* removeRating(endUser, id)
    else yield* setRating(endUser, row, { rating, content: body.content ?? '' })
  })
}

/** Ratings of the application, newest first. */
export function* listFeedbacks(
  session: AppSession,
  { page, limit }: { page: number; limit: number },
): Read<{ data: FeedbackItem[] }> {
  const rows = yield* listRatings(toAppKey(session), page, limit)
  return {
    data: mapReadable(rows, (row) => ({
      id: row.id,
      app_id: row.app_id,
      conversation_id: row.conversation_id,
      message_id: row.message_id,
      rating: row.rating,
      content: row.content,
      from_source: 'user',
      from_end_user_id: row.end_user_id,
      from_account_id: null,
      created_at: new Date(row.created_at).toISOString(),
      updated_at: new Date(row.updated_at).toISOString(),
    })),
  }
}

/**
 * A message of this end user.
 * @throws ChatError `not_found`
 */
export function* requireMessage(
  session: AppSession,
  user: string,
  id: string,
): Read<{ endUser: EndUserScope; row: MessageRow }> {
  const endUser = yield* findEndUser(session, user)
  const row = endUser === undefined ? undefined : yield* findMessage(endUser, id)
  if (endUser === undefined || row === undefined) throw messageMissingError()
  return { endUser, row }
}
