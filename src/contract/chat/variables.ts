import { z } from 'zod'
import { count, uuid } from '../primitives.js'
import { route } from '../route.js'
import { CHAT_LIMITS } from './limits.js'
import { chatLimit, endUser } from './messages.js'
import { parseVariableDefault, VALUE_TYPES } from './values.js'

const epochSeconds = z.int().min(0)

/** A named variable that each conversation of an application stores. */
export const ConversationVariable = z
  .strictObject({
    name: z
      .string()
      .max(CHAT_LIMITS.variableName)
      .regex(/^[A-Za-z_][A-Za-z0-9_.-]*$/, 'a letter or `_`, then letters, digits, `_`, `.` and `-`'),
    valueType: z.enum(VALUE_TYPES),
    description: z.string().max(CHAT_LIMITS.variableDescription).default(''),
    /** Initial value; absent: empty, 0 or false. */
    default: z.unknown().optional(),
  })
  .superRefine(({ valueType, default: value }, context) => {
    if (value === undefined) return
    const read = parseVariableDefault(valueType, value)
    if ('rule' in read) context.addIssue({ code: 'custom', path: ['default'], message: read.rule })
  })
  .meta({ id: 'ChatConversationVariable' })
export type ConversationVariable = z.output<typeof ConversationVariable>

export const ConversationVariables = z
  .array(ConversationVariable)
  .max(CHAT_LIMITS.conversationVariables)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'names must be unique')

export const VariableItem = z
  .strictObject({
    id: uuid,
    name: z.string(),
    value_type: z.string(),
    /** JSON text of anything but a string. */
    value: z.string(),
    description: z.string(),
    created_at: epochSeconds,
    updated_at: epochSeconds,
  })
  .meta({ id: 'ConversationVariableItem' })
export type VariableItem = z.output<typeof VariableItem>

export const VariablesQuery = z.object({
  user: endUser,
  last_id: uuid.optional(),
  limit: chatLimit(CHAT_LIMITS.page),
  variable_name: z
    .string()
    .max(CHAT_LIMITS.variableName)
    .regex(/^[A-Za-z0-9_.-]+$/, 'letters, digits, `_`, `.` and `-`')
    .optional(),
})
export type VariablesQuery = z.output<typeof VariablesQuery>

/** `value`: of the type of the variable, or its JSON text. */
export const VariableBody = z
  .object({ value: z.unknown().refine((value) => value !== undefined, 'a value is required'), user: endUser })
  .meta({ id: 'ConversationVariableRequest' })
export type VariableBody = z.output<typeof VariableBody>

const VariableParams = z.object({ conversation_id: uuid, variable_id: uuid })

export const variablesRoutes = [
  route({
    id: 'listConversationVariables',
    method: 'GET',
    path: '/v1/conversations/{conversation_id}/variables',
    scope: 'application',
    summary: 'List the variables of a conversation, oldest first; `last_id` selects the entries after it.',
    params: z.object({ conversation_id: uuid }),
    query: VariablesQuery,
    ok: { 200: z.strictObject({ limit: count, has_more: z.boolean(), data: z.array(VariableItem) }) },
    errors: [400, 404],
  }),
  route({
    id: 'setConversationVariable',
    method: 'PUT',
    path: '/v1/conversations/{conversation_id}/variables/{variable_id}',
    scope: 'application',
    summary: 'Set a variable of a conversation.',
    params: VariableParams,
    body: VariableBody,
    // An empty string is a value.
    blanks: ['value'],
    ok: { 200: VariableItem },
    errors: [400, 404],
    extension: true,
  }),
  // Client libraries disagree about the method.
  route({
    id: 'changeConversationVariable',
    method: 'PATCH',
    path: '/v1/conversations/{conversation_id}/variables/{variable_id}',
    scope: 'application',
    summary: 'Set a variable of a conversation; the same as PUT.',
    params: VariableParams,
    body: VariableBody,
    // An empty string is a value.
    blanks: ['value'],
    ok: { 200: VariableItem },
    errors: [400, 404],
    extension: true,
  }),
] as const
