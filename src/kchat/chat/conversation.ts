import { toErrorReport } from '../../cli/report-error.js'
import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import { ThoughtSeparator } from '../../lib/text/thinking.js'
import { readMessages } from '../conversations.js'
import { MAX_PAGE_SIZE } from '../pages.js'
import type { ChatService } from '../service.js'
import { findCitedSources } from '../sources.js'
import { ClientTurn, getDegradedReasons } from '../turn.js'
import {
  type ChatEntry,
  type ChatStep,
  setStep,
  splitAnswer,
  toEntries,
  toStep,
  toThought,
  toUsage,
} from './entries.js'
import { FRAME_MS, throttle } from './throttle.js'

export interface ConversationState {
  readonly entries: readonly ChatEntry[]
  readonly name: string
  readonly phase: 'idle' | 'answering' | 'stopping'
  /** when the last message was sent, in milliseconds since the epoch */
  readonly sentAtMs: number
  /** the tool that an agent is using */
  readonly activity: string
  readonly conversationId: string | undefined
  /** id of the last answer */
  readonly messageId: string | undefined
  /** queued messages, which are sent after the current answer */
  readonly queued: readonly string[]
  /** messages that can be recalled */
  readonly sent: readonly string[]
  /** files of the next message */
  readonly attachments: readonly AttachedFile[]
  /** whether an answer is being read aloud */
  readonly isSpeaking: boolean
  /** suggested next questions */
  readonly suggestions: readonly string[]
  /** the action that the next line confirms with yes */
  readonly confirm: { question: string; run: () => Promise<void> } | undefined
}

const START_KEYS =
  'Enter sends, Tab takes a suggested question, Ctrl-C stops an answer, Ctrl-D exits, /help lists more.'

interface AttachedFile {
  name: string
  input: object
}

/** The conversation that the view shows. Every change creates a new state and notifies the listeners. */
export class Conversation {
  readonly chat: ChatService
  readonly #inputs: Record<string, string>
  readonly #listeners = new Set<() => void>()
  /** An answer may stream faster than frames can be drawn; each frame shows the newest state. */
  readonly #notify = throttle(() => {
    for (const listener of this.#listeners) listener()
  }, FRAME_MS)
  #state: ConversationState = {
    entries: [],
    name: '',
    phase: 'idle',
    sentAtMs: 0,
    activity: '',
    conversationId: undefined,
    messageId: undefined,
    queued: [],
    sent: [],
    attachments: [],
    isSpeaking: false,
    suggestions: [],
    confirm: undefined,
  }
  #speech: AbortController | undefined
  #turn: ClientTurn | undefined
  #sending: Promise<void> | undefined
  #hasSuggestions = false
  /** files of the last message */
  #lastAttachments: readonly AttachedFile[] = []
  /** ids of the conversations that were listed last, in order */
  listedIds: readonly string[] = []

  constructor(chat: ChatService, inputs: Record<string, string>) {
    this.chat = chat
    this.#inputs = inputs
  }

  readonly getState = (): ConversationState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Shows what the application answers from, its opening message, and an existing conversation if one is given.
   *
   * @throws ApiError, ConnectionError
   */
  async start(conversationId: string | undefined): Promise<void> {
    const [info, parameters] = await Promise.all([
      this.chat.call('GET', '/info'),
      this.chat.call('GET', `/parameters?user=${this.chat.encodedUser}`),
    ])
    const parameterFields = isRecord(parameters) ? parameters : {}
    const opening = toNonEmptyString(parameterFields.opening_statement) ?? ''
    const suggestionSettings = parameterFields.suggested_questions_after_answer
    this.#hasSuggestions = isRecord(suggestionSettings) && suggestionSettings.enabled === true
    this.update({
      name: isRecord(info) ? (toNonEmptyString(info.name) ?? '') : '',
      suggestions: selectStrings(parameterFields.suggested_questions),
    })
    const overview = isRecord(info) ? toNonEmptyString(info.overview) : undefined
    this.note([this.#state.name, ...(overview === undefined ? [] : [overview]), START_KEYS].join('\n'))
    if (opening !== '') this.#add({ kind: 'answer', text: opening })
    if (conversationId !== undefined) await this.load(conversationId)
  }

  /** Sends a message, or queues it during an answer. Messages are sent in order. */
  async send(query: string): Promise<void> {
    this.update({ queued: [...this.#state.queued, query] })
    this.#sending ??= this.#sendQueued()
    await this.#sending
  }

  /** Sends the last message again, with its files; the service keeps both answers. */
  async regenerate(): Promise<void> {
    const last = this.#state.sent.at(-1)
    if (last === undefined) return this.note('There is no message to send again yet.')
    this.update({ attachments: [...this.#lastAttachments, ...this.#state.attachments] })
    await this.send(last)
  }

  /** Resolves when every sent message has its answer. */
  async waitUntilSettled(): Promise<void> {
    await this.#sending
  }

  async #sendQueued(): Promise<void> {
    for (let [next] = this.#state.queued; next !== undefined; [next] = this.#state.queued) {
      this.update({ queued: this.#state.queued.slice(1) })
      await this.#runTurn(next)
    }
    this.#sending = undefined
  }

  /** Removes all queued messages. @returns the removed messages */
  clearQueue(): readonly string[] {
    const { queued } = this.#state
    if (queued.length > 0) this.update({ queued: [] })
    return queued
  }

  /** Runs one turn. An error is shown; the conversation continues. */
  async #runTurn(query: string): Promise<void> {
    this.stopSpeech()
    const turn = new ClientTurn(this.chat)
    this.#turn = turn
    const { attachments, conversationId, sent } = this.#state
    this.#lastAttachments = attachments
    this.#add({ kind: 'question', text: [query, ...attachments.map(({ name }) => `[${name}]`)].join('\n') })
    this.update({ phase: 'answering', sentAtMs: Date.now(), sent: [...sent, query], attachments: [], suggestions: [] })
    // The entry is added first, so that later notes follow it.
    this.#add({ kind: 'answer', text: '', isGrowing: true })
    const streamingEntry = this.#createStreamingEntry(this.#state.entries.length - 1)
    const files = attachments.length === 0 ? {} : { files: attachments.map(({ input }) => input) }
    const request = { query, inputs: this.#inputs, conversation_id: conversationId, ...files }
    try {
      const result = await turn.run(request, streamingEntry.listener)
      const { output: text, ...thought } = splitAnswer(result.answer)
      streamingEntry.end(text, {
        ...thought,
        ...toUsage(result.lastEvent),
        sources: findCitedSources(text, result.sources),
        ...(turn.isStopping ? { isStopped: true as const } : {}),
      })
      for (const reason of getDegradedReasons(result.lastEvent)) this.note(`degraded: ${reason}`)
      this.update({ messageId: result.messageId, conversationId: result.conversationId ?? conversationId })
    } catch (error) {
      streamingEntry.fail()
      this.showError(error)
    } finally {
      this.#turn = undefined
      this.update({ phase: 'idle', activity: '' })
    }
    if (this.#hasSuggestions && !turn.isStopping) void this.#loadSuggestions()
  }

  /** Updates the entry of an answer while it streams. */
  #createStreamingEntry(entryIndex: number) {
    let text = ''
    let steps: readonly ChatStep[] = []
    let separator = new ThoughtSeparator()
    const showText = (text: string, more: Partial<ChatEntry>) => {
      const stepFields = steps.length === 0 ? {} : { steps }
      this.#replace(entryIndex, { kind: 'answer', text, ...stepFields, ...more })
    }
    const append = (added: string) => {
      text += separator.add(added)
      showText(text, { isGrowing: true, ...toThought(separator) })
    }
    return {
      listener: {
        onText: append,
        onReplace: (answer: string) => {
          text = ''
          separator = new ThoughtSeparator()
          append(answer)
        },
        onEvent: (name: string, event: Record<string, unknown>) => {
          if (name !== 'agent_thought') return
          const step = toStep(event)
          steps = setStep(steps, step)
          this.update({ activity: step.tool })
          append('')
        },
      },
      end: showText,
      /** Ends the entry of a failed answer; its text so far stays. */
      fail: () => {
        if (this.#state.entries[entryIndex]?.isGrowing === true) showText(text, toThought(separator))
      },
    }
  }

  /** Loads suggestions after the last answer; failures are ignored, because suggestions are optional. */
  async #loadSuggestions(): Promise<void> {
    const { messageId } = this.#state
    if (messageId === undefined) return
    const path = `/messages/${messageId}/suggested?user=${this.chat.encodedUser}`
    const reply = await this.chat.call('GET', path).catch(() => undefined)
    // Another answer may have started meanwhile.
    if (messageId !== this.#state.messageId || this.#state.phase !== 'idle') return
    this.update({ suggestions: isRecord(reply) ? selectStrings(reply.data) : [] })
  }

  /** Stops the current answer; its text so far stays. */
  stop(): void {
    if (this.#turn === undefined) return
    this.update({ phase: 'stopping' })
    this.#turn.stop().catch((error: unknown) => this.showError(error))
  }

  /** Starts a new conversation; the service keeps the previous one. */
  reset(): void {
    this.stopSpeech()
    this.#add({ kind: 'rule', text: 'new conversation' })
    this.update({ messageId: undefined, conversationId: undefined, attachments: [], suggestions: [] })
  }

  /** Shows an existing conversation and continues it. */
  async load(id: string): Promise<void> {
    const messages = await readMessages(this.chat, id, MAX_PAGE_SIZE)
    const sent = messages.map(({ query }) => toNonEmptyString(query) ?? '')
    this.update({
      entries: [...this.#state.entries, ...messages.flatMap(toEntries)],
      conversationId: id,
      messageId: toNonEmptyString(messages.at(-1)?.id),
      sent,
      suggestions: [],
    })
  }

  /** Runs `work`, which reads an answer aloud until its signal aborts. Only one runs at a time. */
  async runSpeech(readAloud: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.stopSpeech()
    const speech = new AbortController()
    this.#speech = speech
    this.update({ isSpeaking: true })
    try {
      await readAloud(speech.signal)
    } finally {
      if (this.#speech === speech) this.update({ isSpeaking: false })
    }
  }

  /** Stops reading aloud. */
  stopSpeech(): void {
    this.#speech?.abort()
    this.#speech = undefined
    this.update({ isSpeaking: false })
  }

  note(text: string): void {
    this.#add({ kind: 'note', text })
  }

  showError(error: unknown): void {
    const { message, hint } = toErrorReport(error)
    this.#add({ kind: 'error', text: hint === undefined ? message : `${message}\n${hint}` })
  }

  #add(entry: ChatEntry): void {
    this.update({ entries: [...this.#state.entries, entry] })
  }

  #replace(index: number, entry: ChatEntry): void {
    this.update({ entries: this.#state.entries.toSpliced(index, 1, entry) })
  }

  /** Changes members of the state, and notifies the listeners. */
  update(change: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...change }
    this.#notify()
  }
}

function selectStrings(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : []
  return values.filter((text) => typeof text === 'string')
}
