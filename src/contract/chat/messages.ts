import { z } from 'zod'
import { Degradation } from '../gateway/degraded.js'
import { count, queryInt, uuid } from '../primitives.js'
import { route } from '../route.js'
import { decimal } from './behaviour.js'
import { CHAT_LIMITS } from './limits.js'

export const endUser = z.string().min(1).max(CHAT_LIMITS.user)
const epochSeconds = z.int().min(0)
export const inputs = z.record(z.string(), z.unknown())
export const chatLimit = (page: { default: number; max: number }) =>
  queryInt({ min: 1, max: page.max }).default(page.default)

const InputFile = z.object({
  /** `document` is an extension: an uploaded document that the answers of the conversation take passages of. */
  type: z.enum(['image', 'document']),
  transfer_method: z.enum(['remote_url', 'local_file']),
  // Blank counts as absent: clients send both fields, one of them empty.
  url: z.string().trim().max(CHAT_LIMITS.imageUrl).nullish(),
  upload_file_id: z.string().trim().nullish(),
})
export type InputFile = z.output<typeof InputFile>

/** Unknown keys are ignored; top-level keys that are null or blank are dropped before validation. */
export const ChatRequest = z
  .object({
    query: z.string().max(CHAT_LIMITS.query),
    inputs: inputs.default({}),
    response_mode: z.enum(['streaming', 'blocking']).default('streaming'),
    user: endUser,
    conversation_id: uuid.optional(),
    files: z.array(InputFile).default([]),
    auto_generate_name: z.boolean().default(true),
  })
  .meta({ id: 'ChatRequest' })
export type ChatRequest = z.output<typeof ChatRequest>

export const ChatUsage = z
  .strictObject({
    prompt_tokens: count,
    prompt_unit_price: decimal,
    prompt_price_unit: decimal,
    prompt_price: decimal,
    completion_tokens: count,
    completion_unit_price: decimal,
    completion_price_unit: decimal,
    completion_price: decimal,
    total_tokens: count,
    total_price: decimal,
    currency: z.string(),
    /** In seconds. */
    latency: z.number().min(0),
  })
  .meta({ id: 'ChatUsage' })
export type ChatUsage = z.output<typeof ChatUsage>

export const RetrieverResource = z
  .strictObject({
    position: z.int().min(1),
    dataset_id: uuid,
    dataset_name: z.string(),
    document_id: uuid,
    document_name: z.string(),
    segment_id: uuid,
    score: z.number().min(0).max(1),
    content: z.string(),
    /** extension: headings above the passage, outermost first */
    section_path: z.array(z.string()).optional(),
    /** extension: page of the document */
    page: z.int().min(1).optional(),
    /** extension: address of the web page that the document was read from */
    source_url: z.string().optional(),
    /** extension: whether the answer cites the passage; absent in answers of agents */
    cited: z.boolean().optional(),
  })
  .meta({ id: 'RetrieverResource' })
export type RetrieverResource = z.output<typeof RetrieverResource>

const ChatAnswerMetadata = z.strictObject({
  usage: ChatUsage,
  retriever_resources: z.array(RetrieverResource),
  /** The annotation that answered instead of a model. */
  annotation_reply: z.strictObject({ id: uuid, account: z.strictObject({ id: uuid, name: z.string() }) }).nullable(),
  /** Extension: reasons for a degraded answer; absent if it is complete. */
  degraded: z.literal(true).optional(),
  degraded_class: Degradation.shape.class.optional(),
  degraded_reasons: z.array(z.string()).optional(),
})
export type ChatAnswerMetadata = z.output<typeof ChatAnswerMetadata>

const ids = { task_id: uuid, message_id: uuid, conversation_id: uuid, created_at: epochSeconds }

export const ChatCompletion = z
  .strictObject({
    event: z.literal('message'),
    id: uuid,
    ...ids,
    mode: z.literal('chat'),
    answer: z.string(),
    metadata: ChatAnswerMetadata,
  })
  .meta({ id: 'ChatCompletionResponse' })
export type ChatCompletion = z.output<typeof ChatCompletion>

/**
 * A step of an agent. Tool names are joined by `;`; inputs and observations are JSON text of an object keyed by tool.
 */
export const AgentThought = z
  .strictObject({
    id: uuid.describe('id of the step'),
    message_id: uuid,
    position: z.int().min(1),
    thought: z.string(),
    tool: z.string(),
    tool_input: z.string(),
    observation: z.string(),
    files: z.array(uuid),
    created_at: epochSeconds,
  })
  .meta({ id: 'AgentThoughtItem' })
export type AgentThought = z.output<typeof AgentThought>

const messageId = uuid.describe('id of the message, the same as message_id')
const answerPart = { id: messageId, ...ids, answer: z.string().describe('next part of the answer text') }

/** Payloads of the frames of a streamed answer; `event` holds the name. */
export const chatEvents = {
  ping: z.strictObject({ event: z.literal('ping'), ...ids }),
  message: z.strictObject({ event: z.literal('message'), ...answerPart }),
  agent_message: z.strictObject({ event: z.literal('agent_message'), ...answerPart }),
  agent_thought: z.strictObject({
    event: z.literal('agent_thought'),
    ...AgentThought.pick({ id: true, position: true, thought: true, tool: true, tool_input: true, observation: true })
      .shape,
    ...ids,
    tool_labels: z.record(z.string(), z.string()),
    message_files: z.array(uuid),
  }),
  message_replace: z.strictObject({
    event: z.literal('message_replace'),
    ...answerPart,
    answer: z.string().describe('text that replaces all previous parts of the answer'),
  }),
  message_end: z.strictObject({
    event: z.literal('message_end'),
    id: messageId,
    ...ids,
    metadata: ChatAnswerMetadata,
    files: z.null(),
  }),
  /** Base64 audio of the text so far; the concatenated chunks of a turn form one file. */
  tts_message: z.strictObject({ event: z.literal('tts_message'), ...ids, audio: z.string() }),
  tts_message_end: z.strictObject({
    event: z.literal('tts_message_end'),
    ...ids,
    audio: z.literal('').describe('always empty'),
  }),
  error: z.strictObject({
    event: z.literal('error'),
    ...ids,
    status: z.int(),
    code: z.string(),
    message: z.string(),
  }),
}

export type ChatFrame = z.output<(typeof chatEvents)[keyof typeof chatEvents]>

export const ResultBody = z.strictObject({ result: z.literal('success') }).meta({ id: 'ChatResult' })
export const UserBody = z.object({ user: endUser }).meta({ id: 'ChatUser' })

export const FeedbackBody = z
  .object({
    rating: z.enum(['like', 'dislike']).nullish(),
    user: endUser,
    content: z.string().max(CHAT_LIMITS.longText).nullish(),
  })
  .meta({ id: 'MessageFeedbackRequest' })
export type FeedbackBody = z.output<typeof FeedbackBody>

export const FeedbackItem = z
  .strictObject({
    id: uuid,
    app_id: uuid,
    conversation_id: uuid,
    message_id: uuid,
    rating: z.enum(['like', 'dislike']),
    content: z.string(),
    from_source: z.literal('user'),
    from_end_user_id: uuid,
    from_account_id: z.null(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'FeedbackItem' })
export type FeedbackItem = z.output<typeof FeedbackItem>

export const MessageFile = z
  .strictObject({
    /** Id of the file in this message, not of the upload. */
    id: uuid,
    /** `document` is an extension. */
    type: z.enum(['image', 'document']),
    url: z.string(),
    belongs_to: z.enum(['user', 'assistant']),
    filename: z.string(),
    mime_type: z.string(),
    size: count,
    transfer_method: z.enum(['remote_url', 'local_file']),
    upload_file_id: uuid.nullable(),
  })
  .meta({ id: 'MessageFileItem' })
export type MessageFile = z.output<typeof MessageFile>

export const ConversationMessage = z
  .strictObject({
    id: uuid,
    conversation_id: uuid,
    inputs,
    query: z.string(),
    answer: z.string(),
    message_files: z.array(MessageFile),
    feedback: z.strictObject({ rating: z.enum(['like', 'dislike']) }).nullable(),
    retriever_resources: z.array(RetrieverResource),
    agent_thoughts: z.array(AgentThought),
    created_at: epochSeconds,
    status: z.enum(['normal', 'error']),
    error: z.string().nullable(),
  })
  .meta({ id: 'ConversationMessageItem' })
export type ConversationMessage = z.output<typeof ConversationMessage>

export const MessagesQuery = z.object({
  conversation_id: uuid,
  user: endUser,
  first_id: uuid.optional(),
  limit: chatLimit(CHAT_LIMITS.page),
  order: z.enum(['asc', 'desc']).default('asc'),
})
export type MessagesQuery = z.output<typeof MessagesQuery>

const TaskParams = z.object({ task_id: z.string().toLowerCase() })
const MessageParams = z.object({ message_id: uuid })

export const messagesRoutes = [
  route({
    id: 'sendChatMessage',
    method: 'POST',
    path: '/v1/chat-messages',
    scope: 'application',
    visitors: true,
    summary: 'Send a message; the answer is one JSON body (blocking) or a stream of server-sent events (streaming).',
    body: ChatRequest,
    ok: { 200: ChatCompletion },
    events: chatEvents,
    errors: [400, 404, 429],
  }),
  route({
    id: 'replayChatMessage',
    method: 'GET',
    path: '/v1/chat-messages/{task_id}/events',
    scope: 'application',
    visitors: true,
    summary: 'Replay the events of a running or just finished answer from its start.',
    params: TaskParams,
    query: z.object({ user: endUser }),
    ok: { 200: 'event-stream' },
    events: chatEvents,
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'stopChatMessage',
    method: 'POST',
    path: '/v1/chat-messages/{task_id}/stop',
    scope: 'application',
    visitors: true,
    summary: 'Stop an answer; the text so far is kept.',
    params: TaskParams,
    body: UserBody,
    ok: { 200: ResultBody },
    errors: [400],
  }),
  route({
    id: 'rateMessage',
    method: 'POST',
    path: '/v1/messages/{message_id}/feedbacks',
    scope: 'application',
    visitors: true,
    summary: 'Rate an answer, or withdraw the rating.',
    params: MessageParams,
    body: FeedbackBody,
    ok: { 200: ResultBody },
    errors: [400, 404],
  }),
  route({
    id: 'listFeedbacks',
    method: 'GET',
    path: '/v1/app/feedbacks',
    scope: 'application',
    summary: 'List the ratings of the application, newest first.',
    query: z.object({ page: queryInt({ min: 1 }).default(1), limit: chatLimit(CHAT_LIMITS.feedbacksPage) }),
    ok: { 200: z.strictObject({ data: z.array(FeedbackItem) }) },
    errors: [400],
  }),
  route({
    id: 'suggestQuestions',
    method: 'GET',
    path: '/v1/messages/{message_id}/suggested',
    scope: 'application',
    visitors: true,
    summary: 'Suggest follow-up questions to an answer.',
    params: MessageParams,
    query: z.object({ user: endUser }),
    ok: { 200: z.strictObject({ result: z.literal('success'), data: z.array(z.string()) }) },
    errors: [400, 404],
  }),
  route({
    id: 'listMessages',
    method: 'GET',
    path: '/v1/messages',
    scope: 'application',
    visitors: true,
    summary: 'List the newest messages of a conversation, oldest first; `first_id` selects the messages before it.',
    query: MessagesQuery,
    ok: { 200: z.strictObject({ limit: count, has_more: z.boolean(), data: z.array(ConversationMessage) }) },
    errors: [400, 404],
  }),
] as const
