import { ChatError } from '../../../contract/chat/errors.js'
import type { EngineContext } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import {
  DELETED_DOCUMENT_ANSWER,
  type EndUserScope,
  findSuggestions,
  listMessagesBefore,
  type MessageRow,
  storeSuggestions,
} from '../../store/rows/chat/conversations.js'
import type { AppSession } from './apps.js'
import { requireMessage } from './messages.js'
import { generateQuestions } from './text-model.js'

const SUGGESTION_TURNS = 3

/**
 * Suggested questions of messages. A model generates them once: they are stored with their message, and concurrent
 * requests share the call.
 */
export class QuestionSuggestions {
  readonly #context: EngineContext
  readonly #signal: AbortSignal
  /** By message. */
  readonly #calls = new Map<string, Promise<string[]>>()

  /** @param signal aborts the calls of models */
  constructor(context: EngineContext, signal: AbortSignal) {
    this.#context = context
    this.#signal = signal
  }

  /**
   * @throws ChatError `bad_request` if the application does not suggest questions, `not_found`; KsError `rate-limited`
   */
  async get(session: AppSession, id: string, user: string): Promise<string[]> {
    const { endUser } = await this.#context.db.read(requireMessage(session, user, id))
    if (!session.app.suggestedQuestionsAfterAnswer)
      throw new ChatError('bad_request', 'Suggested Questions Is Disabled.')
    const running = this.#calls.get(id)
    if (running !== undefined) return await running
    // Reads the row again: the previous call may have stored its questions meanwhile.
    const call = this.#load(session, endUser, id, user).finally(() => this.#calls.delete(id))
    this.#calls.set(id, call)
    return await call
  }

  async #load(session: AppSession, endUser: EndUserScope, id: string, user: string): Promise<string[]> {
    const { db } = this.#context
    const turns = await db.read(loadTurnsUpTo(session, user, id))
    // No questions are generated from an unfinished answer or from one of a deleted document.
    if (turns.some(({ status, answer }) => status === 'running' || answer === DELETED_DOCUMENT_ANSWER)) return []
    const stored = await db.read(findSuggestions(endUser, id))
    if (stored !== undefined) return stored
    const questions = await generateQuestions(this.#context, session, turns, this.#signal)
    if (questions === undefined) return []
    await db.write(() => storeSuggestions(endUser, id, questions))
    return questions
  }
}

/** A message and those before it, oldest first. */
function* loadTurnsUpTo(session: AppSession, user: string, id: string): Read<MessageRow[]> {
  const { endUser, row } = yield* requireMessage(session, user, id)
  return (yield* listMessagesBefore(endUser, row.conversation_id, row.place + 1, SUGGESTION_TURNS)).reverse()
}
