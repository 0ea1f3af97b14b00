import { ChatError, messageMissing } from '../../contract/chat/errors.js'
import type {
  AgentThought,
  ConversationMessage,
  FeedbackBody,
  FeedbackItem,
  MessagesQuery,
  RetrieverResource,
} from '../../contract/chat/messages.js'
import { newId } from '../../lib/ids.js'
import type { EngineContext } from '../context.js'
import { findMessage, type MessageRow, messagesBefore, type Who } from '../rows/chat/conversations.js'
import { filesOfMessage, toMessageFile } from '../rows/chat/files.js'
import type { Database } from '../storage/database.js'
import { type Read, sql } from '../storage/program.js'
import { fromCell, readable } from '../storage/readable.js'
import type { AppSession } from './apps.js'
import { type ChatPage, requireConversation, whoIs } from './conversations.js'
import { modelQuestions } from './text-model.js'

const SUGGESTION_TURNS = 3

/** The newest messages before `first_id`; within the page oldest first, as every client draws it. */
export function* listMessages(
  db: Database,
  session: AppSession,
  { conversation_id, user, first_id, limit, order }: MessagesQuery,
  linkTo: (fileId: string) => string,
): Read<ChatPage<ConversationMessage>> {
  const { who } = yield* requireConversation(session, user, conversation_id)
  const first = first_id === undefined ? undefined : yield* findMessage(who, first_id)
  if (first_id !== undefined && first?.conversation_id !== conversation_id)
    throw new ChatError('not_found', 'First Message Not Exists.')
  const rows = yield* messagesBefore(db, who, conversation_id, first?.place ?? Number.MAX_SAFE_INTEGER, limit + 1)
  const page = readable(rows.slice(0, limit), (row) => db.now(toMessage(who, row, linkTo)))
  return { limit, has_more: rows.length > limit, data: order === 'asc' ? page.reverse() : page }
}

function* toMessage(who: Who, row: MessageRow, linkTo: (fileId: string) => string): Read<ConversationMessage> {
  const inputs: Record<string, unknown> = fromCell(row.inputs)
  const resources: RetrieverResource[] = fromCell(row.resources)
  const thoughts: AgentThought[] = fromCell(row.thoughts)
  const feedback = yield* sql.get<{ rating: 'like' | 'dislike' }>(
    'SELECT rating FROM chat_feedback WHERE message_id = ? AND end_user_id = ?',
    [row.id, who.userId],
  )
  return {
    id: row.id,
    conversation_id: row.conversation_id,
    inputs,
    query: row.query,
    answer: row.answer,
    message_files: readable(yield* filesOfMessage(row.id), (file) => toMessageFile(file, linkTo)),
    feedback: feedback === undefined ? null : { rating: feedback.rating },
    retriever_resources: resources,
    agent_thoughts: thoughts,
    created_at: Math.floor(row.created_at / 1000),
    status: row.status === 'error' ? 'error' : 'normal',
    error: row.error,
  }
}

/** Rates an answer, once for each end user; no rating takes it back, also where there is none. @throws ChatError */
export async function rateMessage(db: Database, session: AppSession, id: string, body: FeedbackBody): Promise<void> {
  await db.write(function* () {
    const { who, row } = yield* requireMessage(session, body.user, id)
    if (body.rating === null || body.rating === undefined) {
      yield* sql.run('DELETE FROM chat_feedback WHERE message_id = ? AND end_user_id = ?', [id, who.userId])
      return
    }
    const now = Date.now()
    yield* sql.run(
      `INSERT INTO chat_feedback
         (id, app_id, end_user_id, conversation_id, message_id, rating, content, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (message_id, end_user_id) DO UPDATE SET
         rating = excluded.rating, content = excluded.content, updated_at = excluded.updated_at`,
      [newId(), who.appId, who.userId, row.conversation_id, id, body.rating, body.content ?? '', now, now],
    )
  })
}

interface FeedbackRow {
  id: string
  app_id: string
  end_user_id: string
  conversation_id: string
  message_id: string
  rating: 'like' | 'dislike'
  content: string
  created_at: number
  updated_at: number
}

/** Ratings of the whole application, newest first. */
export function* listFeedbacks(
  { app }: AppSession,
  { page, limit }: { page: number; limit: number },
): Read<{ data: FeedbackItem[] }> {
  const rows = yield* sql.all<FeedbackRow>(
    'SELECT * FROM chat_feedback WHERE app_id = ? ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?',
    [app.id, limit, (page - 1) * limit],
  )
  return {
    data: readable(rows, (row) => ({
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

/** @throws ChatError `bad_request` when the application does not suggest, `not_found` */
export async function suggestQuestions(
  context: EngineContext,
  session: AppSession,
  id: string,
  user: string,
  signal: AbortSignal,
): Promise<string[]> {
  const { db } = context
  const { who, row } = db.now(requireMessage(session, user, id))
  if (!session.app.suggestedQuestionsAfterAnswer) throw new ChatError('bad_request', 'Suggested Questions Is Disabled.')
  const turns = db.now(messagesBefore(db, who, row.conversation_id, row.place + 1, SUGGESTION_TURNS)).reverse()
  return modelQuestions(context, session, turns, signal)
}

/** A message of this end user. @throws ChatError `not_found` */
export function* requireMessage(session: AppSession, user: string, id: string): Read<{ who: Who; row: MessageRow }> {
  const who = yield* whoIs(session, user)
  const row = who === undefined ? undefined : yield* findMessage(who, id)
  if (who === undefined || row === undefined) throw messageMissing()
  return { who, row }
}
