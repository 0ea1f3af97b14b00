import type { ChatErrorCode } from '../../../contract/chat/errors.js'
import { toDegradation } from '../../base/degraded.js'
import { BUILTIN_ANSWER } from '../../models/index.js'
import {
  type AnswerServices,
  answerTurn,
  type ChatAnswerEvent,
  type ChatQuestion,
  isLongQuestion,
  toChatError,
} from './answer.js'

/** Precedes the answer, so that every client shows why it is not the answer of the model. */
const MODEL_AWAY_OPENING = 'The model does not answer now; this comes from the documents alone.\n\n'

/** Failures of a model, as end users see them. */
const MODEL_FAILURES: ReadonlySet<ChatErrorCode> = new Set<ChatErrorCode>([
  'provider_not_initialize',
  'provider_quota_exceeded',
  'model_currently_not_support',
  'completion_request_error',
  'rate_limit_error',
])

/**
 * Replaces the answer of a model that fails before its first text by a quotation of the documents, as queries do. The
 * answer is degraded then. A failure remains if no document could answer: the application has no space, or the question
 * contains images or long texts.
 *
 * @throws the failure of the model, if it is not replaced
 */
export async function* fallBackToQuotation(
  services: AnswerServices,
  question: ChatQuestion,
  signal: AbortSignal,
  events: AsyncIterable<ChatAnswerEvent>,
): AsyncGenerator<ChatAnswerEvent> {
  let hasText = false
  try {
    for await (const event of events) {
      hasText ||= event.type === 'delta' && event.text !== ''
      yield event
    }
    return
  } catch (error) {
    if (signal.aborted || hasText || !canQuote(question) || !MODEL_FAILURES.has(toChatError(error).code)) throw error
    const degradation = toDegradation('answer', 'the answer is a quotation of the documents', error)
    const withoutModel = { ...question, app: { ...question.app, model: BUILTIN_ANSWER } }
    yield { type: 'settled' }
    yield { type: 'delta', text: MODEL_AWAY_OPENING }
    for await (const event of answerTurn(services, withoutModel, signal))
      yield event.type === 'degraded' ? { ...event, degraded: [degradation, ...event.degraded] } : event
  }
}

function canQuote(question: ChatQuestion): boolean {
  return question.spaceIds.length > 0 && question.images.length === 0 && !isLongQuestion(question.query)
}
