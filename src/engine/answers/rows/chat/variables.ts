import type { ChatApp } from '../../../../contract/chat/apps.js'
import {
  EMPTY_VALUES,
  parseVariableDefault,
  parseVariableValue,
  type ValueType,
} from '../../../../contract/chat/values.js'
import type { ConversationVariable } from '../../../../contract/chat/variables.js'
import { newId } from '../../../../lib/ids.js'
import { type Read, readClock, sql, type Write } from '../../../store/program.js'
import type { AppScope } from '../../../store/rows/chat/apps.js'
import type { EndUserScope } from '../../../store/rows/chat/conversations.js'

export interface VariableRow {
  key: number
  id: string
  name: string
  description: string
  value_type: ValueType
  /** a string as it is, anything else as JSON text */
  value: string
  created_at: number
  updated_at: number
}

type VariableDeclarations = Pick<ChatApp, 'conversationVariables'>

const COLUMNS = 'v.key, v.id, v.name, v.description, v.value_type, v.value, v.created_at, v.updated_at'
const OF_CONVERSATION = `FROM chat_conversation_variables v JOIN chat_conversations c
  ON c.tenant = v.tenant AND c.id = v.conversation_id WHERE v.tenant = ? AND c.app_id = ? AND c.end_user_id = ? AND c.id = ?`

/**
 * Updates the variables of a conversation to the declarations of its application, inside the caller's transaction: new
 * variables get their default, and so do those whose value does not fit their current type. Variables that are no
 * longer declared stay.
 */
export function* alignVariables(
  { conversationVariables }: VariableDeclarations,
  endUser: EndUserScope,
  id: string,
  now: number,
) {
  if (conversationVariables.length === 0) return
  const rows = new Map((yield* listConversationVariables(endUser, id)).map((row) => [row.name, row]))
  for (const variable of conversationVariables) {
    const { name, description, valueType } = variable
    const row = rows.get(name)
    if (row === undefined)
      yield* sql.run(
        `INSERT INTO chat_conversation_variables
           (tenant, id, conversation_id, name, description, value_type, value, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [endUser.tenant, newId(), id, name, description, valueType, getInitialValue(variable), now, now],
      )
    else if (row.value_type !== valueType || row.description !== description) {
      const parsed = parseVariableValue(valueType, row.value)
      yield* sql.run(
        `UPDATE chat_conversation_variables SET description = ?, value_type = ?, value = ?, updated_at = ?
         WHERE tenant = ? AND conversation_id = ? AND key = ?`,
        [
          description,
          valueType,
          'text' in parsed ? parsed.text : getInitialValue(variable),
          row.value_type === valueType ? row.updated_at : Math.max(now, row.updated_at),
          endUser.tenant,
          id,
          row.key,
        ],
      )
    }
  }
}

function getInitialValue({ valueType, default: value }: ConversationVariable): string {
  if (value === undefined) return EMPTY_VALUES[valueType]
  const parsed = parseVariableDefault(valueType, value)
  return 'text' in parsed ? parsed.text : EMPTY_VALUES[valueType]
}

export function* listConversationVariables(endUser: EndUserScope, conversationId: string): Read<VariableRow[]> {
  return yield* sql.all<VariableRow>(`SELECT ${COLUMNS} ${OF_CONVERSATION}`, [
    endUser.tenant,
    endUser.appId,
    endUser.userId,
    conversationId,
  ])
}

/** The values of the variables that the application declares now. */
export function* getCurrentValues(
  { conversationVariables }: VariableDeclarations,
  endUser: EndUserScope,
  id: string,
): Read<Record<string, string>> {
  if (conversationVariables.length === 0) return {}
  const names = new Set(conversationVariables.map(({ name }) => name))
  const rows = (yield* listConversationVariables(endUser, id)).filter(({ name }) => names.has(name))
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

export function* findVariable(
  endUser: EndUserScope,
  conversationId: string,
  id: string,
): Read<VariableRow | undefined> {
  return yield* sql.get<VariableRow>(`SELECT ${COLUMNS} ${OF_CONVERSATION} AND v.id = ?`, [
    endUser.tenant,
    endUser.appId,
    endUser.userId,
    conversationId,
    id,
  ])
}

/** Variables after one of them, in creation order. @param part of the name, case-insensitive; empty for all */
export function* listVariablesAfter(
  endUser: EndUserScope,
  conversationId: string,
  { after, part, limit }: { after: number; part: string; limit: number },
): Read<VariableRow[]> {
  return yield* sql.all<VariableRow>(
    `SELECT ${COLUMNS} ${OF_CONVERSATION} AND v.key > ? AND instr(lower(v.name), ?) > 0 ORDER BY v.key LIMIT ?`,
    [endUser.tenant, endUser.appId, endUser.userId, conversationId, after, part.toLowerCase(), limit],
  )
}

/** Sets a value that was parsed before, inside the caller's transaction. @returns the updated row */
export function* setVariableValue({ tenant }: AppScope, row: VariableRow, value: string): Write<VariableRow> {
  const updated_at = Math.max(yield* readClock(), row.updated_at)
  yield* sql.run('UPDATE chat_conversation_variables SET value = ?, updated_at = ? WHERE tenant = ? AND key = ?', [
    value,
    updated_at,
    tenant,
    row.key,
  ])
  return { ...row, value, updated_at }
}
