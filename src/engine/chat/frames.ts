import { CHAT_ERRORS, type ChatError } from '../../contract/chat/errors.js'
import type { AgentThought, AnswerMetadata, ChatFrame } from '../../contract/chat/messages.js'

export interface TurnIds {
  taskId: string
  messageId: string
  conversationId: string
  /** Seconds since the epoch; the same in every event of a turn. */
  createdAt: number
}

/** Maximum text of one event: some clients limit line lengths, or take each read for an event. */
const EVENT_CHARACTERS = 2000

/** Fields that every event of a turn has. */
export function commonOf({ taskId, messageId, conversationId, createdAt }: TurnIds) {
  return { task_id: taskId, message_id: messageId, conversation_id: conversationId, created_at: createdAt }
}

export function pingFrame(ids: TurnIds): ChatFrame {
  return { event: 'ping', ...commonOf(ids) }
}

/** A part of an answer, in events of at most {@link MAX_EVENT_CHARS} characters. */
export function* textFrames(ids: TurnIds, text: string, event: 'message' | 'agent_message'): Generator<ChatFrame> {
  for (const answer of piecesOf(text)) yield { event, id: ids.messageId, ...commonOf(ids), answer }
}

export function thoughtFrame(ids: TurnIds, step: AgentThought): ChatFrame {
  const { id, position, thought, observation, tool, tool_input } = step
  const said = { id, position, thought, observation, tool, tool_input, tool_labels: {}, message_files: [] }
  return { event: 'agent_thought', ...commonOf(ids), ...said }
}

/** Replaces all previous text. */
export function replaceFrame(ids: TurnIds, answer: string): ChatFrame {
  return { event: 'message_replace', id: ids.messageId, ...commonOf(ids), answer }
}

export function endFrame(ids: TurnIds, metadata: AnswerMetadata): ChatFrame {
  return { event: 'message_end', id: ids.messageId, ...commonOf(ids), metadata, files: null }
}

export function errorFrame(ids: TurnIds, { code, message }: ChatError): ChatFrame {
  return { event: 'error', ...commonOf(ids), status: CHAT_ERRORS[code], code, message }
}

/** Splits a text without splitting surrogate pairs. */
function* piecesOf(text: string): Generator<string> {
  let from = 0
  do {
    let to = from + EVENT_CHARACTERS
    if (to < text.length && /[\ud800-\udbff]/.test(text.charAt(to - 1))) to--
    yield text.slice(from, to)
    from = to
  } while (from < text.length)
}
