import { ChatError } from '../../contract/chat/errors.js'
import type { EngineContext } from '../context.js'
import {
  ANSWER_GONE,
  type MessageRow,
  messagesBefore,
  storedSuggestions,
  storeSuggestions,
  type Who,
} from '../rows/chat/conversations.js'
import type { Read } from '../storage/program.js'
import type { AppSession } from './apps.js'
import { requireMessage } from './messages.js'
import { modelQuestions } from './text-model.js'

const SUGGESTION_TURNS = 3

/**
 * Suggested questions of messages. A model makes them once: they are stored with their message, and requests that come
 * meanwhile wait for the same call.
 */
export class Suggestions {
  readonly #context: EngineContext
  readonly #signal: AbortSignal
  /** by message */
  readonly #calls = new Map<string, Promise<string[]>>()

  /** @param signal aborts the calls of models */
  constructor(context: EngineContext, signal: AbortSignal) {
    this.#context = context
    this.#signal = signal
  }

  /** @throws ChatError `bad_request` when the application does not suggest, `not_found`; KsError `rate-limited` */
  async get(session: AppSession, id: string, user: string): Promise<string[]> {
    const { who } = await this.#context.db.read(requireMessage(session, user, id))
    if (!session.app.suggestedQuestionsAfterAnswer)
      throw new ChatError('bad_request', 'Suggested Questions Is Disabled.')
    const running = this.#calls.get(id)
    if (running !== undefined) return await running
    // looks at the row again: the call before this one may have stored its questions since
    const call = this.#load(session, who, id, user).finally(() => this.#calls.delete(id))
    this.#calls.set(id, call)
    return await call
  }

  async #load(session: AppSession, who: Who, id: string, user: string): Promise<string[]> {
    const { db } = this.#context
    const turns = await db.read(turnsUpTo(session, user, id))
    // neither an unfinished answer nor one of a deleted document is a source of questions
    if (turns.some(({ status, answer }) => status === 'running' || answer === ANSWER_GONE)) return []
    const stored = await db.read(storedSuggestions(who, id))
    if (stored !== undefined) return stored
    const questions = await modelQuestions(this.#context, session, turns, this.#signal)
    if (questions === undefined) return []
    await db.write(() => storeSuggestions(who, id, questions))
    return questions
  }
}

/** A message with those before it, oldest first. */
function* turnsUpTo(session: AppSession, user: string, id: string): Read<MessageRow[]> {
  const { who, row } = yield* requireMessage(session, user, id)
  return (yield* messagesBefore(who, row.conversation_id, row.place + 1, SUGGESTION_TURNS)).reverse()
}
