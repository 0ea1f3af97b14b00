import type { AgentThought, ChatUsage, RetrieverResource } from '../../../../contract/chat/messages.js'
import { newId } from '../../../../lib/ids.js'
import { type Read, readClock, sql, type Write } from '../../program.js'
import { parseJsonCell, replaceCells, unlessDamaged } from '../../readable.js'
import { OF_LOST_GATEWAYS } from '../gateways.js'
import type { AppScope } from './apps.js'

/** Identifies an end user of an application: all rows below are looked up by it. */
export interface EndUserScope extends AppScope {
  userId: string
}

export interface ConversationRow {
  id: string
  name: string
  named_by: 'default' | 'model' | 'user'
  inputs: string
  created_at: number
  updated_at: number
}

export type MessageStatus = 'running' | 'normal' | 'stopped' | 'error'

export interface MessageRow {
  id: string
  conversation_id: string
  place: number
  task_id: string
  query: string
  inputs: string
  answer: string
  status: MessageStatus
  error: string | null
  resources: string
  thoughts: string
  created_at: number
  finished_at: number | null
}

/** How a turn ended; stored in one statement. */
export interface TurnOutcome {
  answer: string
  status: Exclude<MessageStatus, 'running'>
  error?: string
  resources: RetrieverResource[]
  thoughts: AgentThought[]
  usage: ChatUsage
}

const MESSAGE_COLUMNS = `id, conversation_id, place, task_id, query, inputs, answer, status, error, resources, thoughts, created_at, finished_at`

/** Id of an end user; undefined if the user never sent a message to this application. */
export function* findUser(app: AppScope, name: string): Read<string | undefined> {
  return (yield* sql.get<{ id: string }>('SELECT id FROM chat_end_users WHERE tenant = ? AND app_id = ? AND name = ?', [
    app.tenant,
    app.appId,
    name,
  ]))?.id
}

/** Id of an end user, created if missing, inside the caller's transaction. */
export function* ensureUser(app: AppScope, name: string, now: number): Write<string> {
  const existing = yield* findUser(app, name)
  if (existing !== undefined) return existing
  const id = newId()
  yield* sql.run('INSERT INTO chat_end_users (tenant, id, app_id, name, created_at) VALUES (?, ?, ?, ?, ?)', [
    app.tenant,
    id,
    app.appId,
    name,
    now,
  ])
  return id
}

export function* findConversation(endUser: EndUserScope, id: string): Read<ConversationRow | undefined> {
  return yield* sql.get<ConversationRow>(
    `SELECT id, name, named_by, inputs, created_at, updated_at FROM chat_conversations
     WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?`,
    [endUser.tenant, endUser.appId, endUser.userId, id],
  )
}

/** The sort orders of a list of conversations. */
const SORT_ORDERS = {
  created_at: { column: 'created_at', after: '>', direction: 'ASC' },
  '-created_at': { column: 'created_at', after: '<', direction: 'DESC' },
  updated_at: { column: 'updated_at', after: '>', direction: 'ASC' },
  '-updated_at': { column: 'updated_at', after: '<', direction: 'DESC' },
} as const

/** Conversations of an end user, after `last` or from the first one. */
export function* listConversationsAfter(
  endUser: EndUserScope,
  last: ConversationRow | undefined,
  order: keyof typeof SORT_ORDERS,
  limit: number,
): Read<ConversationRow[]> {
  const { column, after, direction } = SORT_ORDERS[order]
  return yield* sql.all<ConversationRow>(
    `SELECT id, name, named_by, inputs, created_at, updated_at FROM chat_conversations
     WHERE tenant = ? AND app_id = ? AND end_user_id = ? ${last === undefined ? '' : `AND (${column}, id) ${after} (?, ?)`}
     ORDER BY ${column} ${direction}, id ${direction} LIMIT ?`,
    [endUser.tenant, endUser.appId, endUser.userId, ...(last === undefined ? [] : [last[column], last.id]), limit],
  )
}

/** Inside the caller's transaction. */
export function* removeConversation(endUser: EndUserScope, id: string): Write<void> {
  yield* sql.run('DELETE FROM chat_conversations WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?', [
    endUser.tenant,
    endUser.appId,
    endUser.userId,
    id,
  ])
}

/** The first question of a conversation. */
export function* findFirstQuery(app: AppScope, conversationId: string): Read<string | undefined> {
  return (yield* sql.get<{ query: string }>(
    'SELECT query FROM chat_messages WHERE tenant = ? AND app_id = ? AND conversation_id = ? ORDER BY place LIMIT 1',
    [app.tenant, app.appId, conversationId],
  ))?.query
}

export function* insertConversation(
  endUser: EndUserScope,
  { id, name, inputs, now }: { id: string; name: string; inputs: object; now: number },
): Write<void> {
  yield* sql.run(
    `INSERT INTO chat_conversations (tenant, id, app_id, end_user_id, name, named_by, inputs, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, 'default', ?, ?, ?)`,
    [endUser.tenant, id, endUser.appId, endUser.userId, name, JSON.stringify(inputs), now, now],
  )
}

export function* setConversationName(
  endUser: EndUserScope,
  id: string,
  name: string,
  by: 'model' | 'user',
): Write<void> {
  yield* sql.run(
    'UPDATE chat_conversations SET name = ?, named_by = ? WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?',
    [name, by, endUser.tenant, endUser.appId, endUser.userId, id],
  )
}

/** Inserts a message that a gateway will answer, inside the caller's transaction. */
export function* insertMessage(
  endUser: EndUserScope,
  message: {
    id: string
    taskId: string
    conversationId: string
    query: string
    inputs: object
    gateway: string
    now: number
  },
): Write<void> {
  const { id, taskId, conversationId, query, inputs, gateway, now } = message
  // first: the lock on the conversation's row guards the numbering of its messages
  yield* touchConversation(endUser, conversationId, now, inputs)
  yield* sql.run(
    `INSERT INTO chat_messages
       (tenant, id, app_id, end_user_id, conversation_id, place, task_id, query, inputs, status, claimed_by, created_at)
     VALUES (?, ?, ?, ?, ?,
       1 + coalesce((SELECT max(place) FROM chat_messages WHERE tenant = ? AND conversation_id = ?), 0),
       ?, ?, ?, 'running', ?, ?)`,
    [
      endUser.tenant,
      id,
      endUser.appId,
      endUser.userId,
      conversationId,
      endUser.tenant,
      conversationId,
      taskId,
      query,
      JSON.stringify(inputs),
      gateway,
      now,
    ],
  )
}

/**
 * Stores the outcome of a running message; a message that was deleted stays deleted.
 *
 * @returns `stored` if the row has this outcome, from now or before; `taken` if others ended it because they took this
 * gateway for dead; `gone` if it was deleted
 */
export function* finishMessage(
  endUser: EndUserScope,
  message: { id: string; conversationId: string },
  outcome: TurnOutcome,
): Write<'stored' | 'taken' | 'gone'> {
  const now = yield* readClock()
  const { changes } = yield* sql.run(
    `UPDATE chat_messages SET answer = ?, status = ?, error = ?, resources = ?, thoughts = ?, usage = ?, finished_at = ?
     WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ? AND status = 'running'`,
    [
      outcome.answer,
      outcome.status,
      outcome.error ?? null,
      JSON.stringify(outcome.resources),
      JSON.stringify(outcome.thoughts),
      JSON.stringify(outcome.usage),
      now,
      endUser.tenant,
      endUser.appId,
      endUser.userId,
      message.id,
    ],
  )
  if (changes > 0) {
    yield* touchConversation(endUser, message.conversationId, now)
    return 'stored'
  }
  const row = yield* sql.get<{ status: MessageStatus; answer: string }>(
    'SELECT status, answer FROM chat_messages WHERE tenant = ? AND id = ?',
    [endUser.tenant, message.id],
  )
  if (row === undefined) return 'gone'
  return row.status === outcome.status && row.answer === outcome.answer ? 'stored' : 'taken'
}

/** The suggested questions of a message; undefined until a model has generated them. */
export function* findSuggestions({ tenant }: AppScope, id: string): Read<string[] | undefined> {
  const row = yield* sql.get<{ suggestions: string | null }>(
    'SELECT suggestions FROM chat_messages WHERE tenant = ? AND id = ?',
    [tenant, id],
  )
  return row === undefined || row.suggestions === null ? undefined : parseJsonCell<string[]>(row.suggestions)
}

/** Stores the suggested questions of a message. */
export function* storeSuggestions(endUser: EndUserScope, id: string, questions: readonly string[]): Write<void> {
  yield* sql.run(
    'UPDATE chat_messages SET suggestions = ? WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?',
    [JSON.stringify(questions), endUser.tenant, endUser.appId, endUser.userId, id],
  )
}

function* touchConversation(endUser: EndUserScope, id: string, now: number, inputs?: object): Write<void> {
  yield* sql.run(
    `UPDATE chat_conversations SET updated_at = max(updated_at + 1, ?), inputs = coalesce(?, inputs)
     WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?`,
    [now, inputs === undefined ? null : JSON.stringify(inputs), endUser.tenant, endUser.appId, endUser.userId, id],
  )
}

/** Marks running messages of lost gateways as failed. @returns their number */
export function* failOrphanedMessages(): Write<number> {
  return (yield* sql.run(
    `UPDATE chat_messages SET status = 'error', error = 'the service stopped before the answer was complete',
       finished_at = ? WHERE status = 'running' AND ${OF_LOST_GATEWAYS}`,
    [yield* readClock()],
  )).changes
}

export function* findMessage(endUser: EndUserScope, id: string): Read<MessageRow | undefined> {
  const row = yield* sql.get<MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM chat_messages WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?`,
    [endUser.tenant, endUser.appId, endUser.userId, id],
  )
  return row === undefined ? undefined : yield* redactDeleted(endUser, row)
}

/** The token usage of a complete answer. */
export function* findMessageUsage({ tenant }: AppScope, id: string): Read<ChatUsage | undefined> {
  const row = yield* sql.get<{ usage: string | null }>('SELECT usage FROM chat_messages WHERE tenant = ? AND id = ?', [
    tenant,
    id,
  ])
  return row === undefined || row.usage === null ? undefined : parseJsonCell<ChatUsage>(row.usage)
}

/** The position of a message in its conversation. */
export function* findMessagePosition({ tenant }: AppScope, id: string): Read<number | undefined> {
  return (yield* sql.get<{ place: number }>('SELECT place FROM chat_messages WHERE tenant = ? AND id = ?', [
    tenant,
    id,
  ]))?.place
}

/** Messages of a conversation before a position, newest first. */
export function* listMessagesBefore(
  endUser: EndUserScope,
  conversationId: string,
  position: number,
  limit: number,
): Read<MessageRow[]> {
  const rows = yield* sql.all<MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM chat_messages
       WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND conversation_id = ? AND place < ? ORDER BY place DESC LIMIT ?`,
    [endUser.tenant, endUser.appId, endUser.userId, conversationId, position, limit],
  )
  const messages: MessageRow[] = []
  for (const row of rows) messages.push(yield* redactDeleted(endUser, row))
  return messages
}

/** Replaces an answer that quoted a document which was deleted since. */
export const DELETED_DOCUMENT_ANSWER = 'This answer quoted a document that was deleted.'

/**
 * Removes content of deleted documents from an answer and its steps: every read must show a deletion at once. A document
 * that the end user sent is deleted with its conversation.
 */
function* redactDeleted({ tenant, appId, userId }: EndUserScope, row: MessageRow): Read<MessageRow> {
  const resources = unlessDamaged(() => parseJsonCell<RetrieverResource[]>(row.resources))
  // the documents that the answer quotes are unknown
  if (resources === undefined) return replaceCells(row, { answer: DELETED_DOCUMENT_ANSWER })
  if (resources.length === 0) return row
  const ids = JSON.stringify(resources.map(({ document_id }) => document_id))
  const live = new Set(
    (yield* sql.all<{ id: string }>(
      `SELECT documents.id FROM json_each(?) wanted CROSS JOIN documents
         ON documents.tenant = ? AND documents.id = wanted.value WHERE documents.deleted_at IS NULL
       UNION ALL
       SELECT f.id FROM json_each(?) wanted CROSS JOIN chat_files f ON f.tenant = ? AND f.id = wanted.value
         WHERE f.app_id = ? AND f.end_user_id = ? AND f.expires_at IS NULL`,
      [ids, tenant, ids, tenant, appId, userId],
    )).map(({ id }) => id),
  )
  const kept = resources.filter(({ document_id }) => live.has(document_id))
  if (kept.length === resources.length) return row
  return replaceCells(row, { answer: DELETED_DOCUMENT_ANSWER, resources: JSON.stringify(kept), thoughts: '[]' })
}
