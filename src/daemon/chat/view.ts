import type { ChatInfo, ChatMeta, ChatParameters, Site } from '../../contract/chat/application.js'
import type { ChatConversation } from '../../contract/chat/conversations.js'
import { ChatError, type ChatErrorCode } from '../../contract/chat/errors.js'
import type {
  AgentThought,
  ChatAnswerMetadata,
  ChatCompletion,
  ChatFrame,
  ConversationMessage,
  RetrieverResource,
} from '../../contract/chat/messages.js'
import type { ChatRoute } from '../../contract/chat/routes.js'
import { isRecord, parseRecord } from '../../lib/json/values.js'
import { applyShape, type ValueShape } from './shape.js'

/** Reduces the replies of the chat service to what one caller may see. */
export interface ChatView {
  body(operation: string, body: unknown): unknown
  frame(frame: unknown): unknown
}

type ChatOperationId = ChatRoute['id']

/** Fields of an object that a visitor sees; all others are omitted. */
type VisibleFields<T> = { readonly [K in keyof T]?: ValueShape }

const RESOURCE = {
  position: true,
  document_name: true,
  content: true,
  section_path: true,
  page: true,
  source_url: true,
} satisfies VisibleFields<RetrieverResource>

const METADATA = {
  retriever_resources: RESOURCE,
  annotation_reply: { id: true },
  degraded: true,
} satisfies VisibleFields<ChatAnswerMetadata>

const IDS = { event: true, id: true, task_id: true, message_id: true, conversation_id: true, created_at: true } as const

/** A step of an agent with its tools, but without their inputs and results. Its text is part of the answer. */
const STEP = {
  id: true,
  message_id: true,
  position: true,
  thought: blank,
  tool: true,
  tool_input: blank,
  observation: blank,
  created_at: true,
} satisfies VisibleFields<AgentThought>

const MESSAGE: ValueShape = {
  id: true,
  conversation_id: true,
  inputs: true,
  query: true,
  answer: true,
  message_files: true,
  feedback: true,
  retriever_resources: RESOURCE,
  agent_thoughts: { ...STEP, files: true },
  created_at: true,
  status: true,
  error: (text: unknown) => (text === null ? null : UNAVAILABLE),
} satisfies VisibleFields<ConversationMessage>

/**
 * The reply fields that a visitor sees, by operation. Other fields are omitted, as are all fields of an operation that
 * is missing here. The operations that a visitor may call are those with `visitors` in their route.
 */
const VISITOR_BODIES: { readonly [Id in ChatOperationId]?: ValueShape } = {
  sendChatMessage: {
    ...IDS,
    mode: true,
    answer: true,
    metadata: METADATA,
  } satisfies VisibleFields<ChatCompletion>,
  replayChatMessage: {},
  stopChatMessage: { result: true },
  rateMessage: { result: true },
  suggestQuestions: { result: true, data: true },
  listMessages: { limit: true, has_more: true, data: MESSAGE },
  listConversations: {
    limit: true,
    has_more: true,
    data: {
      id: true,
      name: true,
      inputs: true,
      status: true,
      introduction: true,
      created_at: true,
      updated_at: true,
    } satisfies VisibleFields<ChatConversation>,
  },
  deleteConversation: {},
  getChatInfo: {
    name: true,
    description: true,
    tags: true,
    mode: true,
    spaces: { documents: true, updated_at: true },
    overview: true,
  } satisfies VisibleFields<ChatInfo>,
  getChatParameters: {
    opening_statement: true,
    suggested_questions: true,
    suggested_questions_after_answer: true,
    retriever_resource: true,
    user_input_form: true,
  } satisfies VisibleFields<ChatParameters>,
  getChatMeta: { tool_icons: true } satisfies VisibleFields<ChatMeta>,
  getChatSite: {
    title: true,
    chat_color_theme: true,
    chat_color_theme_inverted: true,
    icon_type: true,
    icon: true,
    icon_background: true,
    icon_url: true,
    description: true,
    copyright: true,
    privacy_policy: true,
    custom_disclaimer: true,
    default_language: true,
    show_workflow_steps: true,
    use_icon_as_answer_icon: true,
  } satisfies VisibleFields<Site>,
}

/** The fields of stream frames that a visitor sees, by event. */
const VISITOR_FRAMES: { readonly [Event in ChatFrame['event']]: ValueShape } = {
  ping: IDS,
  message: { ...IDS, answer: true },
  agent_message: { ...IDS, answer: true },
  agent_thought: { ...IDS, ...STEP, message_files: true, tool_labels: true },
  message_replace: { ...IDS, answer: true },
  message_end: { ...IDS, metadata: METADATA, files: true },
  tts_message: { ...IDS, audio: true },
  tts_message_end: { ...IDS, audio: true },
  error: { ...IDS, status: true, code: true, message: true },
}

/**
 * Codes whose messages concern the visitor's own request. Other messages may contain providers, models and settings.
 */
const CODES_WITH_MESSAGE: ReadonlySet<string> = new Set<ChatErrorCode>([
  'invalid_param',
  'bad_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'conversation_not_exists',
  'method_not_allowed',
  'too_large',
  'unsupported_media_type',
])
const LIMIT_CODES: ReadonlySet<string> = new Set<ChatErrorCode>(['too_many_requests', 'rate_limit_error'])
const UNAVAILABLE = 'The assistant cannot answer now. Please try again later.'

/** A failure as a visitor sees it. */
export function toVisitorFailure(error: ChatError): ChatError {
  const message = toVisitorMessage(error.code, error.message)
  if (message === error.message) return error
  return new ChatError(error.code, message, error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter })
}

function toVisitorMessage(code: string, message: string): string {
  if (CODES_WITH_MESSAGE.has(code)) return message
  return LIMIT_CODES.has(code) ? 'Too many requests. Please try again later.' : UNAVAILABLE
}

const VISITOR: ChatView = {
  body: (operation, body) => applyShape(body, findShape(VISITOR_BODIES, operation), 'omit'),
  frame: (frame) => {
    if (!isRecord(frame)) return frame
    const visible = applyShape(frame, findShape(VISITOR_FRAMES, String(frame.event)), 'omit')
    if (frame.event !== 'error' || !isRecord(visible)) return visible
    return { ...visible, message: toVisitorMessage(String(frame.code), String(frame.message)) }
  },
}

/** Replies of an application that hides passages: an empty list of them, and counts instead of observations. */
const UNCITED: Readonly<Record<string, ValueShape>> = {
  sendChatMessage: { metadata: { retriever_resources: emptyList } },
  listMessages: { data: { retriever_resources: emptyList, agent_thoughts: { observation: countObservation } } },
  message_end: { metadata: { retriever_resources: emptyList } },
  agent_thought: { observation: countObservation },
}

const HIDDEN_PASSAGES: ChatView = {
  body: (operation, body) => applyShape(body, findShape(UNCITED, operation), 'keep'),
  frame: (frame) => (isRecord(frame) ? applyShape(frame, findShape(UNCITED, String(frame.event)), 'keep') : frame),
}

const EVERYTHING: ChatView = { body: (_operation, body) => body, frame: (frame) => frame }

/** @param options `showsPassages`: whether the application shows the passages of its answers */
export function createView({ isVisitor, showsPassages }: { isVisitor: boolean; showsPassages: boolean }): ChatView {
  const viewOfPassages = showsPassages ? EVERYTHING : HIDDEN_PASSAGES
  if (!isVisitor) return viewOfPassages
  return {
    body: (operation, body) => VISITOR.body(operation, viewOfPassages.body(operation, body)),
    frame: (frame) => VISITOR.frame(viewOfPassages.frame(frame)),
  }
}

function findShape(shapes: Readonly<Record<string, ValueShape | undefined>>, name: string): ValueShape {
  return (Object.hasOwn(shapes, name) ? shapes[name] : undefined) ?? {}
}

function blank(): string {
  return ''
}

function emptyList(): [] {
  return []
}

/** Fields of tool results that contain passages, names of documents or their text. */
const COUNTED_FIELDS = ['passages', 'entries', 'text']

/** The observation of a step reduced to counts of passages, entries or characters, for each call of each tool. */
function countObservation(observation: unknown): string {
  const results = typeof observation === 'string' ? parseRecord(observation) : undefined
  if (results === undefined) return ''
  const counts = Object.entries(results).map(([tool, result]) => [
    tool,
    Array.isArray(result) ? result.map(countResult) : countResult(result),
  ])
  return JSON.stringify(Object.fromEntries(counts))
}

function countResult(result: unknown): string {
  const values = (typeof result === 'string' ? parseRecord(result) : undefined) ?? {}
  const counts = COUNTED_FIELDS.flatMap((name) => {
    const value = values[name]
    return Array.isArray(value) || typeof value === 'string' ? [[name, value.length]] : []
  })
  return JSON.stringify(Object.fromEntries(counts))
}
