import type { AgentThought, ChatUsage, RetrieverResource } from '../../../contract/chat/messages.js'
import { newId } from '../../../lib/ids.js'
import { type Read, sql, type Write } from '../../storage/program.js'
import { fromCell, replaceCells, unlessDamaged } from '../../storage/readable.js'
import { OF_THE_GONE } from '../gateways.js'
import type { OfApp } from './apps.js'

/** An end user of an application: everything below is looked up by both. */
export interface Who extends OfApp {
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

/** How a turn ended; written in one statement. */
export interface Outcome {
  answer: string
  status: Exclude<MessageStatus, 'running'>
  error?: string
  resources: RetrieverResource[]
  thoughts: AgentThought[]
  usage: ChatUsage
}

const MESSAGE_COLUMNS = `id, conversation_id, place, task_id, query, inputs, answer, status, error, resources, thoughts, created_at, finished_at`

/** Id of an end user that has sent something; undefined for one this application has not seen. */
export function* findUser(of: OfApp, name: string): Read<string | undefined> {
  return (yield* sql.get<{ id: string }>('SELECT id FROM chat_end_users WHERE tenant = ? AND app_id = ? AND name = ?', [
    of.tenant,
    of.appId,
    name,
  ]))?.id
}

/** The same, made where it is missing, inside the caller's transaction. */
export function* ensureUser(of: OfApp, name: string, now: number): Write<string> {
  const known = yield* findUser(of, name)
  if (known !== undefined) return known
  const id = newId()
  yield* sql.run('INSERT INTO chat_end_users (tenant, id, app_id, name, created_at) VALUES (?, ?, ?, ?, ?)', [
    of.tenant,
    id,
    of.appId,
    name,
    now,
  ])
  return id
}

export function* findConversation(who: Who, id: string): Read<ConversationRow | undefined> {
  return yield* sql.get<ConversationRow>(
    `SELECT id, name, named_by, inputs, created_at, updated_at FROM chat_conversations
     WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?`,
    [who.tenant, who.appId, who.userId, id],
  )
}

/** The columns that a list of conversations may be in the order of, and how. */
const ORDERS = {
  created_at: { column: 'created_at', after: '>', direction: 'ASC' },
  '-created_at': { column: 'created_at', after: '<', direction: 'DESC' },
  updated_at: { column: 'updated_at', after: '>', direction: 'ASC' },
  '-updated_at': { column: 'updated_at', after: '<', direction: 'DESC' },
} as const

/** Conversations of an end user, after one of them or all. */
export function* conversationsAfter(
  who: Who,
  last: ConversationRow | undefined,
  order: keyof typeof ORDERS,
  limit: number,
): Read<ConversationRow[]> {
  const { column, after, direction } = ORDERS[order]
  return yield* sql.all<ConversationRow>(
    `SELECT id, name, named_by, inputs, created_at, updated_at FROM chat_conversations
     WHERE tenant = ? AND app_id = ? AND end_user_id = ? ${last === undefined ? '' : `AND (${column}, id) ${after} (?, ?)`}
     ORDER BY ${column} ${direction}, id ${direction} LIMIT ?`,
    [who.tenant, who.appId, who.userId, ...(last === undefined ? [] : [last[column], last.id]), limit],
  )
}

/** Inside the caller's transaction. */
export function* removeConversation(who: Who, id: string): Write<void> {
  yield* sql.run('DELETE FROM chat_conversations WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?', [
    who.tenant,
    who.appId,
    who.userId,
    id,
  ])
}

/** What a conversation of an application began with. */
export function* firstQuery(of: OfApp, conversationId: string): Read<string | undefined> {
  return (yield* sql.get<{ query: string }>(
    'SELECT query FROM chat_messages WHERE tenant = ? AND app_id = ? AND conversation_id = ? ORDER BY place LIMIT 1',
    [of.tenant, of.appId, conversationId],
  ))?.query
}

export function* insertConversation(
  who: Who,
  { id, name, inputs, now }: { id: string; name: string; inputs: object; now: number },
): Write<void> {
  yield* sql.run(
    `INSERT INTO chat_conversations (tenant, id, app_id, end_user_id, name, named_by, inputs, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, 'default', ?, ?, ?)`,
    [who.tenant, id, who.appId, who.userId, name, JSON.stringify(inputs), now, now],
  )
}

export function* renameRow(who: Who, id: string, name: string, by: 'model' | 'user'): Write<void> {
  yield* sql.run(
    'UPDATE chat_conversations SET name = ?, named_by = ? WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?',
    [name, by, who.tenant, who.appId, who.userId, id],
  )
}

/** A message whose answer is still to come from a gateway, inside the caller's transaction. */
export function* insertMessage(
  who: Who,
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
  // first: who holds the conversation's row is the only one that counts its messages
  yield* touchConversation(who, conversationId, now, inputs)
  yield* sql.run(
    `INSERT INTO chat_messages
       (tenant, id, app_id, end_user_id, conversation_id, place, task_id, query, inputs, status, claimed_by, created_at)
     VALUES (?, ?, ?, ?, ?,
       1 + coalesce((SELECT max(place) FROM chat_messages WHERE tenant = ? AND conversation_id = ?), 0),
       ?, ?, ?, 'running', ?, ?)`,
    [
      who.tenant,
      id,
      who.appId,
      who.userId,
      conversationId,
      who.tenant,
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
 * The move away from running; a message that is gone stays gone.
 *
 * @returns how its row ends: as was said here, now or before, by others that took this gateway for dead, or not at all
 */
export function* finishMessage(
  who: Who,
  message: { id: string; conversationId: string },
  end: Outcome,
): Write<'stored' | 'taken' | 'gone'> {
  const now = Date.now()
  const { changes } = yield* sql.run(
    `UPDATE chat_messages SET answer = ?, status = ?, error = ?, resources = ?, thoughts = ?, usage = ?, finished_at = ?
     WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ? AND status = 'running'`,
    [
      end.answer,
      end.status,
      end.error ?? null,
      JSON.stringify(end.resources),
      JSON.stringify(end.thoughts),
      JSON.stringify(end.usage),
      now,
      who.tenant,
      who.appId,
      who.userId,
      message.id,
    ],
  )
  if (changes > 0) {
    yield* touchConversation(who, message.conversationId, now)
    return 'stored'
  }
  const row = yield* sql.get<{ status: MessageStatus; answer: string }>(
    'SELECT status, answer FROM chat_messages WHERE tenant = ? AND id = ?',
    [who.tenant, message.id],
  )
  if (row === undefined) return 'gone'
  return row.status === end.status && row.answer === end.answer ? 'stored' : 'taken'
}

/** The suggested questions of a message; undefined until a model generated them. */
export function* storedSuggestions({ tenant }: OfApp, id: string): Read<string[] | undefined> {
  const row = yield* sql.get<{ suggestions: string | null }>(
    'SELECT suggestions FROM chat_messages WHERE tenant = ? AND id = ?',
    [tenant, id],
  )
  return row === undefined || row.suggestions === null ? undefined : fromCell<string[]>(row.suggestions)
}

/** Stores the suggested questions of a message. */
export function* storeSuggestions(who: Who, id: string, questions: readonly string[]): Write<void> {
  yield* sql.run(
    'UPDATE chat_messages SET suggestions = ? WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?',
    [JSON.stringify(questions), who.tenant, who.appId, who.userId, id],
  )
}

function* touchConversation(who: Who, id: string, now: number, inputs?: object): Write<void> {
  yield* sql.run(
    `UPDATE chat_conversations SET updated_at = max(updated_at + 1, ?), inputs = coalesce(?, inputs)
     WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?`,
    [now, inputs === undefined ? null : JSON.stringify(inputs), who.tenant, who.appId, who.userId, id],
  )
}

/** Messages whose gateway is gone before their answer: they say so from now on. @returns how many */
export function* failOrphans(): Write<number> {
  return (yield* sql.run(
    `UPDATE chat_messages SET status = 'error', error = 'the service stopped before the answer was complete',
       finished_at = ? WHERE status = 'running' AND ${OF_THE_GONE}`,
    [Date.now()],
  )).changes
}

export function* findMessage(who: Who, id: string): Read<MessageRow | undefined> {
  const row = yield* sql.get<MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM chat_messages WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND id = ?`,
    [who.tenant, who.appId, who.userId, id],
  )
  return row === undefined ? undefined : yield* withoutDeleted(who, row)
}

/** What an answer has cost, once it is whole. */
export function* usageOfMessage({ tenant }: OfApp, id: string): Read<ChatUsage | undefined> {
  const row = yield* sql.get<{ usage: string | null }>('SELECT usage FROM chat_messages WHERE tenant = ? AND id = ?', [
    tenant,
    id,
  ])
  return row === undefined || row.usage === null ? undefined : fromCell<ChatUsage>(row.usage)
}

/** The place of a message in its conversation. */
export function* placeOfMessage({ tenant }: OfApp, id: string): Read<number | undefined> {
  return (yield* sql.get<{ place: number }>('SELECT place FROM chat_messages WHERE tenant = ? AND id = ?', [
    tenant,
    id,
  ]))?.place
}

/** Messages of a conversation before a place, newest first. */
export function* messagesBefore(who: Who, conversationId: string, place: number, limit: number): Read<MessageRow[]> {
  const rows = yield* sql.all<MessageRow>(
    `SELECT ${MESSAGE_COLUMNS} FROM chat_messages
       WHERE tenant = ? AND app_id = ? AND end_user_id = ? AND conversation_id = ? AND place < ? ORDER BY place DESC LIMIT ?`,
    [who.tenant, who.appId, who.userId, conversationId, place, limit],
  )
  const shown: MessageRow[] = []
  for (const row of rows) shown.push(yield* withoutDeleted(who, row))
  return shown
}

/** Stands in place of an answer that was made of a document which is gone. */
export const ANSWER_GONE = 'This answer quoted a document that was deleted.'

/** Deletion is visible to every read at once: what an answer took from a document goes with it, its steps too. */
function* withoutDeleted({ tenant }: OfApp, row: MessageRow): Read<MessageRow> {
  const resources = unlessDamaged(() => fromCell<RetrieverResource[]>(row.resources))
  // the documents that the answer quotes are unknown
  if (resources === undefined) return replaceCells(row, { answer: ANSWER_GONE })
  if (resources.length === 0) return row
  const live = new Set(
    (yield* sql.all<{ id: string }>(
      `SELECT documents.id FROM json_each(?) wanted CROSS JOIN documents
         ON documents.tenant = ? AND documents.id = wanted.value WHERE documents.deleted_at IS NULL`,
      [JSON.stringify(resources.map(({ document_id }) => document_id)), tenant],
    )).map(({ id }) => id),
  )
  const kept = resources.filter(({ document_id }) => live.has(document_id))
  if (kept.length === resources.length) return row
  return replaceCells(row, { answer: ANSWER_GONE, resources: JSON.stringify(kept), thoughts: '[]' })
}
