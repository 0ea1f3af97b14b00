import type { ChatApp } from '../../../contract/chat/apps.js'
import { ChatError, invalidParam } from '../../../contract/chat/errors.js'
import { readValue } from '../../../contract/chat/values.js'
import type { VariableBody, VariableItem, VariablesQuery } from '../../../contract/chat/variables.js'
import type { Who } from '../../rows/chat/conversations.js'
import { findVariable, type VariableRow, variablesAfter, variablesOf, writeValue } from '../../rows/chat/variables.js'
import type { Driver } from '../../storage/driver.js'
import type { Read } from '../../storage/program.js'
import { readable } from '../../storage/readable.js'
import type { AppSession } from '../apps.js'
import { type ChatPage, requireConversation } from '../conversations.js'
import { refusedInput } from '../moderation.js'

/** Maximum characters of a rejected value in an error message. */
const SHOWN = 80

/** @throws ChatError `conversation_not_exists`, `invalid_param` */
export function* listVariables(
  session: AppSession,
  id: string,
  { user, last_id, limit, variable_name: part = '' }: VariablesQuery,
): Read<ChatPage<VariableItem>> {
  const { who } = yield* requireConversation(session, user, id, 'conversation_not_exists')
  const last = last_id === undefined ? undefined : yield* findVariable(who, id, last_id)
  if (last_id !== undefined && last === undefined)
    throw invalidParam('last_id', 'last_id is not a variable of the conversation')
  const rows = yield* variablesAfter(who, id, { after: last?.key ?? 0, part, limit: limit + 1 })
  return { limit, has_more: rows.length > limit, data: readable(rows.slice(0, limit), toItem) }
}

/** @throws ChatError `conversation_not_exists`, `not_found`, `invalid_param` */
export function setVariable(
  db: Driver,
  session: AppSession,
  { conversationId, variableId }: { conversationId: string; variableId: string },
  { user, value }: VariableBody,
): Promise<VariableItem> {
  return db.write(function* () {
    const { who } = yield* requireConversation(session, user, conversationId, 'conversation_not_exists')
    const row = yield* findVariable(who, conversationId, variableId)
    if (row === undefined) throw new ChatError('not_found', 'Conversation Variable Not Exists.')
    return toItem(yield* writeValue(who, row, checkedValue(session.app, row, value)))
  })
}

/**
 * Sets a variable of the application by its name.
 * @throws ChatError `not_found`, `invalid_param`
 */
export function rememberVariable(
  db: Driver,
  { app, who, conversationId }: { app: ChatApp; who: Who; conversationId: string },
  name: string,
  value: unknown,
): Promise<{ name: string; value: string }> {
  return db.write(function* () {
    const names = app.conversationVariables.map((variable) => variable.name)
    const row = (yield* variablesOf(who, conversationId)).find((each) => each.name === name)
    if (row === undefined || !names.includes(name))
      throw new ChatError('not_found', `name must be one of ${names.join(', ')}, received ${shown(name)}`)
    return { name, value: (yield* writeValue(who, row, checkedValue(app, row, value))).value }
  })
}

function checkedValue(app: ChatApp, { name, value_type }: VariableRow, value: unknown): string {
  const read = readValue(value_type, value)
  if ('rule' in read) throw invalidParam('value', `value of ${name} ${read.rule}, received ${shown(value)}`)
  // The value becomes part of the instructions for the model.
  if (refusedInput(app, read.text, {}) !== undefined)
    throw invalidParam('value', `value of ${name} contains a sensitive word`)
  return read.text
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`
}

function toItem(row: VariableRow): VariableItem {
  return {
    id: row.id,
    name: row.name,
    value_type: row.value_type,
    value: row.value,
    description: row.description,
    created_at: Math.floor(row.created_at / 1000),
    updated_at: Math.floor(row.updated_at / 1000),
  }
}
