import { z } from 'zod'
import { count, uuid } from '../primitives.js'
import { route } from '../route.js'
import { CHAT_LIMITS } from './limits.js'
import { chatLimit, endUser, inputs, UserBody } from './messages.js'

const epochSeconds = z.int().min(0)

export const ChatConversation = z
  .strictObject({
    id: uuid,
    name: z.string(),
    inputs,
    status: z.literal('normal'),
    introduction: z.string(),
    created_at: epochSeconds,
    updated_at: epochSeconds,
  })
  .meta({ id: 'ConversationListItem' })
export type ChatConversation = z.output<typeof ChatConversation>

export const ConversationsQuery = z.object({
  user: endUser,
  last_id: uuid.optional(),
  limit: chatLimit(CHAT_LIMITS.page),
  sort_by: z.enum(['created_at', '-created_at', 'updated_at', '-updated_at']).default('-updated_at'),
})
export type ConversationsQuery = z.output<typeof ConversationsQuery>

export const RenameBody = z
  .object({
    name: z.string().max(CHAT_LIMITS.conversationName).nullish(),
    auto_generate: z.boolean().default(false),
    user: endUser,
  })
  .meta({ id: 'ConversationRenameRequest' })
export type RenameBody = z.output<typeof RenameBody>

const ConversationParams = z.object({ conversation_id: uuid })

export const conversationsRoutes = [
  route({
    id: 'listConversations',
    method: 'GET',
    path: '/v1/conversations',
    scope: 'application',
    visitors: true,
    summary: 'List the conversations of the user; `last_id` selects the entries after it.',
    query: ConversationsQuery,
    ok: { 200: z.strictObject({ limit: count, has_more: z.boolean(), data: z.array(ChatConversation) }) },
    errors: [400, 404],
  }),
  route({
    id: 'deleteConversation',
    method: 'DELETE',
    path: '/v1/conversations/{conversation_id}',
    scope: 'application',
    visitors: true,
    summary: 'Delete a conversation with its messages. The user may also be given in the query.',
    params: ConversationParams,
    body: UserBody,
    ok: { 204: 'empty' },
    errors: [400, 404],
  }),
  route({
    id: 'renameConversation',
    method: 'POST',
    path: '/v1/conversations/{conversation_id}/name',
    scope: 'application',
    summary: 'Rename a conversation, or generate its name from the first question.',
    params: ConversationParams,
    body: RenameBody,
    ok: { 200: ChatConversation },
    errors: [400, 404],
  }),
  route({
    id: 'changeConversation',
    method: 'PATCH',
    path: '/v1/conversations/{conversation_id}',
    scope: 'application',
    summary: 'Rename a conversation; the same as POST …/name, for clients that use PATCH.',
    params: ConversationParams,
    body: RenameBody,
    ok: { 200: ChatConversation },
    errors: [400, 404],
    extension: true,
  }),
] as const
