import type { ChatApp } from '../../../../contract/chat/apps.js'
import { ChatError, invalidParamError } from '../../../../contract/chat/errors.js'
import { parseVariableValue } from '../../../../contract/chat/values.js'
import type { VariableBody, VariableItem, VariablesQuery } from '../../../../contract/chat/variables.js'
import type { Driver } from '../../../store/driver.js'
import type { Read } from '../../../store/program.js'
import { mapReadable } from '../../../store/readable.js'
import type { EndUserScope } from '../../../store/rows/chat/conversations.js'
import {
  findVariable,
  listConversationVariables,
  listVariablesAfter,
  setVariableValue,
  type VariableRow,
} from '../../rows/chat/variables.js'
import type { AppSession } from '../apps.js'
import { type ChatPage, requireConversation } from '../conversations.js'
import { findInputRefusal } from '../moderation.js'

/** Maximum characters of a rejected value in an error message. */
const MAX_SHOWN_CHARS = 80

/** @throws ChatError `conversation_not_exists`, `invalid_param` */
export function* listVariables(
  session: AppSession,
  id: string,
  { user, last_id, limit, variable_name: part = '' }: VariablesQuery,
): Read<ChatPage<VariableItem>> {
  const { endUser } = yield* requireConversation(session, user, id, 'conversation_not_exists')
  const last = last_id === undefined ? undefined : yield* findVariable(endUser, id, last_id)
  if (last_id !== undefined && last === undefined)
    throw invalidParamError('last_id', 'last_id is not a variable of the conversation')
  const rows = yield* listVariablesAfter(endUser, id, { after: last?.key ?? 0, part, limit: limit + 1 })
  return { limit, has_more: rows.length > limit, data: mapReadable(rows.slice(0, limit), toItem) }
}

/** @throws ChatError `conversation_not_exists`, `not_found`, `invalid_param` */
export function setVariable(
  db: Driver,
  session: AppSession,
  { conversationId, variableId }: { conversationId: string; variableId: string },
  { user, value }: VariableBody,
): Promise<VariableItem> {
  return db.write(function* () {
    const { endUser } = yield* requireConversation(session, user, conversationId, 'conversation_not_exists')
    const row = yield* findVariable(endUser, conversationId, variableId)
    if (row === undefined) throw new ChatError('not_found', 'Conversation Variable Not Exists.')
    return toItem(yield* setVariableValue(endUser, row, validateVariableValue(session.app, row, value)))
  })
}

/**
 * Sets a variable of the application by its name.
 * @throws ChatError `not_found`, `invalid_param`
 */
export function rememberVariable(
  db: Driver,
  { app, endUser, conversationId }: { app: ChatApp; endUser: EndUserScope; conversationId: string },
  name: string,
  value: unknown,
): Promise<{ name: string; value: string }> {
  return db.write(function* () {
    const names = app.conversationVariables.map((variable) => variable.name)
    const row = (yield* listConversationVariables(endUser, conversationId)).find((each) => each.name === name)
    if (row === undefined || !names.includes(name))
      throw new ChatError('not_found', `name must be one of ${names.join(', ')}, received ${formatReceivedValue(name)}`)
    return { name, value: (yield* setVariableValue(endUser, row, validateVariableValue(app, row, value))).value }
  })
}

function validateVariableValue(app: ChatApp, { name, value_type }: VariableRow, value: unknown): string {
  const read = parseVariableValue(value_type, value)
  if ('rule' in read)
    throw invalidParamError('value', `value of ${name} ${read.rule}, received ${formatReceivedValue(value)}`)
  // The value becomes part of the instructions for the model.
  if (findInputRefusal(app, read.text, {}) !== undefined)
    throw invalidParamError('value', `value of ${name} contains a sensitive word`)
  return read.text
}

function formatReceivedValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`
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
