import { CliError } from '../cli/cli-error.js'
import { EXIT } from '../contract/errors.js'
import { isRecord, toNonEmptyString } from '../lib/json/values.js'
import type { ChatService } from './service.js'
import { type AnswerSource, toSources } from './sources.js'

export interface TurnResult {
  /** the complete answer */
  answer: string
  conversationId: string | undefined
  messageId: string | undefined
  sources: AnswerSource[]
  /** the event `message_end` */
  lastEvent: Record<string, unknown>
}

export interface TurnListener {
  onText?(text: string): void
  /** the answer so far is replaced by another one */
  onReplace?(answer: string): void
  onEvent?(name: string, event: Record<string, unknown>): void
}

/** One streamed turn of a conversation. It can be stopped after its first event; its text so far is kept. */
export class ClientTurn {
  readonly #chat: ChatService
  #taskId: string | undefined
  #isStopping = false

  constructor(chat: ChatService) {
    this.#chat = chat
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Whether the service has started to answer. */
  get isRunning(): boolean {
    return this.#taskId !== undefined
  }

  /**
   * Requests a stop from the service, so that its stream ends normally. Before the first event, the request is
   * deferred.
   */
  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.#taskId === undefined) return
    await this.#chat.call('POST', `/chat-messages/${this.#taskId}/stop`, { user: this.#chat.user })
  }

  /** Sends a request and reads its answer. @throws ApiError, ConnectionError, CliError if it fails or ends early */
  async run(request: object, listener: TurnListener = {}): Promise<TurnResult> {
    // The parser is loaded while the model works.
    const parser = import('../client/sse.js')
    const pendingResponse = this.#chat.open('POST', '/chat-messages', {
      ...request,
      user: this.#chat.user,
      response_mode: 'streaming',
    })
    const [{ readServerEvents }, response] = await Promise.all([parser, pendingResponse])
    let answer = ''
    let lastEvent: Record<string, unknown> = {}
    for await (const { data } of readServerEvents(response)) {
      const event: unknown = JSON.parse(data)
      if (!isRecord(event)) continue
      const name = toNonEmptyString(event.event) ?? ''
      if (this.#taskId === undefined) {
        this.#taskId = toNonEmptyString(event.task_id)
        if (this.#isStopping) await this.stop()
      }
      if (name !== 'ping') listener.onEvent?.(name, event)
      if (name === 'message' || name === 'agent_message') {
        const text = toNonEmptyString(event.answer) ?? ''
        answer += text
        listener.onText?.(text)
      } else if (name === 'message_replace') {
        answer = toNonEmptyString(event.answer) ?? ''
        listener.onReplace?.(answer)
      } else if (name === 'error') throw createAnswerError(event)
      if (name === 'message_end') {
        lastEvent = event
        // An application with auto-play continues with audio, which is not used here.
        break
      }
    }
    if (lastEvent.event !== 'message_end')
      throw new CliError('the answer stopped early: the service closed the stream', { exit: EXIT.unavailable })
    return {
      answer,
      conversationId: toNonEmptyString(lastEvent.conversation_id),
      messageId: toNonEmptyString(lastEvent.message_id),
      sources: toSources(lastEvent),
      lastEvent,
    }
  }
}

function createAnswerError(event: Record<string, unknown>): CliError {
  return new CliError(`the answer failed: ${toNonEmptyString(event.message) ?? 'no reason given'}`, {
    code: toNonEmptyString(event.code) ?? 'answer-failed',
    exit: EXIT.unavailable,
  })
}

/** Returns the reasons why a finished answer is degraded, one sentence each. */
export function getDegradedReasons({ metadata }: Record<string, unknown>): string[] {
  const reasons = isRecord(metadata) && Array.isArray(metadata.degraded_reasons) ? metadata.degraded_reasons : []
  return reasons.filter((reason) => typeof reason === 'string')
}

/** Resolves `new` (also the default), `last` or an id to a conversation id. @throws CliError exit 5 if there is none */
export async function findContinuedConversation(
  chat: ChatService,
  reference: string | undefined,
): Promise<string | undefined> {
  if (reference === undefined || reference === 'new') return undefined
  return await (await import('./ids.js')).resolveConversationId(chat, reference)
}
