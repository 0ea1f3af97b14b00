import { CHAT_ERRORS, type ChatError } from '../../../contract/chat/errors.js'
import type { AgentThought, ChatAnswerMetadata, ChatFrame } from '../../../contract/chat/messages.js'

export interface TurnIds {
  taskId: string
  messageId: string
  conversationId: string
  /** Seconds since the epoch; the same in every event of a turn. */
  createdAt: number
}

/** Maximum text of one event: some clients limit line lengths, or take each read for an event. */
const MAX_EVENT_CHARS = 2000

/** Fields that every event of a turn has. */
export function buildCommonFields({ taskId, messageId, conversationId, createdAt }: TurnIds) {
  return { task_id: taskId, message_id: messageId, conversation_id: conversationId, created_at: createdAt }
}

export function createPingFrame(ids: TurnIds): ChatFrame {
  return { event: 'ping', ...buildCommonFields(ids) }
}

/** A part of an answer, in events of at most {@link MAX_EVENT_CHARS} characters. */
export function* createTextFrames(
  ids: TurnIds,
  text: string,
  event: 'message' | 'agent_message',
): Generator<ChatFrame> {
  for (const answer of splitText(text)) yield { event, id: ids.messageId, ...buildCommonFields(ids), answer }
}

export function createThoughtFrame(ids: TurnIds, step: AgentThought): ChatFrame {
  const { id, position, thought, observation, tool, tool_input } = step
  const fields = { id, position, thought, observation, tool, tool_input, tool_labels: {}, message_files: [] }
  return { event: 'agent_thought', ...buildCommonFields(ids), ...fields }
}

/** Replaces all previous text. */
export function createReplaceFrame(ids: TurnIds, answer: string): ChatFrame {
  return { event: 'message_replace', id: ids.messageId, ...buildCommonFields(ids), answer }
}

export function createEndFrame(ids: TurnIds, metadata: ChatAnswerMetadata): ChatFrame {
  return { event: 'message_end', id: ids.messageId, ...buildCommonFields(ids), metadata, files: null }
}

export function createErrorFrame(ids: TurnIds, { code, message }: ChatError): ChatFrame {
  return { event: 'error', ...buildCommonFields(ids), status: CHAT_ERRORS[code], code, message }
}

/** Splits a text without splitting surrogate pairs. */
function* splitText(text: string): Generator<string> {
  let start = 0
  do {
    let end = start + MAX_EVENT_CHARS
    if (end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1))) end--
    yield text.slice(start, end)
    start = end
  } while (start < text.length)
}
