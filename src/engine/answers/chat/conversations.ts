import type { ChatApp } from '../../../contract/chat/apps.js'
import type { ChatConversation, ConversationsQuery, RenameBody } from '../../../contract/chat/conversations.js'
import { ChatError, conversationMissingError, invalidParamError } from '../../../contract/chat/errors.js'
import type { EngineContext } from '../../library/index.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { mapReadable, parseJsonCell } from '../../store/readable.js'
import {
  type ConversationRow,
  type EndUserScope,
  findConversation,
  findFirstQuery,
  findUser,
  listConversationsAfter,
  removeConversation,
  setConversationName,
} from '../../store/rows/chat/conversations.js'
import { type AppSession, toAppKey } from './apps.js'
import { getIntroduction, type Inputs } from './form.js'
import { createPlainTitle, generateTitle } from './text-model.js'

export interface ChatPage<T> {
  limit: number
  has_more: boolean
  data: T[]
}

/** The end user of this application; undefined for a name that has not sent anything. */
export function* findEndUser(session: AppSession, user: string): Read<EndUserScope | undefined> {
  const app = toAppKey(session)
  const userId = yield* findUser(app, user)
  return userId === undefined ? undefined : { ...app, userId }
}

/** @throws ChatError `not_found` or, if given, `conversation_not_exists` */
export function* requireConversation(
  session: AppSession,
  user: string,
  id: string,
  code?: 'conversation_not_exists',
): Read<{ endUser: EndUserScope; row: ConversationRow }> {
  const endUser = yield* findEndUser(session, user)
  const row = endUser === undefined ? undefined : yield* findConversation(endUser, id)
  if (endUser === undefined || row === undefined) throw conversationMissingError(code)
  return { endUser, row }
}

export function* listConversations(
  session: AppSession,
  { user, last_id, limit, sort_by }: ConversationsQuery,
): Read<ChatPage<ChatConversation>> {
  const endUser = yield* findEndUser(session, user)
  const last = endUser === undefined || last_id === undefined ? undefined : yield* findConversation(endUser, last_id)
  if (last_id !== undefined && last === undefined) throw new ChatError('not_found', 'Last Conversation Not Exists.')
  if (endUser === undefined) return { limit, has_more: false, data: [] }
  const rows = yield* listConversationsAfter(endUser, last, sort_by, limit + 1)
  const data = mapReadable(rows.slice(0, limit), (row) => toConversation(session.app, row))
  return { limit, has_more: rows.length > limit, data }
}

/** @throws ChatError `not_found` */
export async function deleteConversation(db: Driver, session: AppSession, user: string, id: string): Promise<void> {
  await db.write(function* () {
    const { endUser } = yield* requireConversation(session, user, id)
    yield* removeConversation(endUser, id)
  })
}

/**
 * Renames a conversation to a given name, or to one generated from its first question.
 * @throws ChatError `not_found`, `invalid_param`
 */
export async function renameConversation(
  context: EngineContext,
  session: AppSession,
  { id, name, auto_generate, user }: RenameBody & { id: string },
  signal: AbortSignal,
): Promise<ChatConversation> {
  const { db } = context
  const { row: previous } = await db.read(requireConversation(session, user, id))
  const newName = auto_generate ? await generateName(context, session, id, signal) : name?.trim()
  if (newName === undefined || newName === '')
    throw auto_generate
      ? invalidParamError('auto_generate', 'the conversation has no message to generate a name from')
      : invalidParamError('name', 'name is required when auto_generate is false')
  return db.write(function* () {
    const { endUser, row } = yield* requireConversation(session, user, id)
    // A name set by the user while the model was running is kept.
    const wasRenamedByUser = row.named_by === 'user' && (previous.named_by !== 'user' || previous.name !== row.name)
    if (!auto_generate || !wasRenamedByUser)
      yield* setConversationName(endUser, id, newName, auto_generate ? 'model' : 'user')
    return toConversation(session.app, (yield* requireConversation(session, user, id)).row)
  })
}

async function generateName(context: EngineContext, session: AppSession, id: string, signal: AbortSignal) {
  const query = await context.db.read(findFirstQuery(toAppKey(session), id))
  if (query === undefined) return undefined
  return (await generateTitle(context, session, query, signal)) ?? createPlainTitle(query)
}

/**
 * Names a new conversation in the background; a name set meanwhile is kept.
 *
 * @throws KsError `rate-limited` if the caller may not cause a model call now
 */
export async function nameInBackground(
  context: EngineContext,
  session: AppSession,
  conversation: { id: string; user: string; query: string },
  signal: AbortSignal,
): Promise<void> {
  const { db } = context
  const endUser = await db.read(findUserOfUnnamed(session, conversation.user, conversation.id))
  if (endUser === undefined) return
  const title = await generateTitle(context, session, conversation.query, signal)
  if (title === undefined) return
  await db.write(function* () {
    const row = yield* findConversation(endUser, conversation.id)
    if (row?.named_by === 'default') yield* setConversationName(endUser, conversation.id, title, 'model')
  })
}

/** The end user of a conversation without a name of its own. */
function* findUserOfUnnamed(session: AppSession, user: string, id: string): Read<EndUserScope | undefined> {
  const endUser = yield* findEndUser(session, user)
  return endUser !== undefined && (yield* findConversation(endUser, id))?.named_by === 'default' ? endUser : undefined
}

function toConversation(app: ChatApp, row: ConversationRow): ChatConversation {
  const inputs: Inputs = parseJsonCell(row.inputs)
  return {
    id: row.id,
    name: row.name,
    inputs,
    status: 'normal',
    introduction: getIntroduction(app, inputs),
    created_at: Math.floor(row.created_at / 1000),
    updated_at: Math.floor(row.updated_at / 1000),
  }
}
