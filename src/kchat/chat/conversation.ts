import { errorReport } from '../../cli/report-error.js'
import { isRecord, textOf } from '../../lib/json/values.js'
import { Thinking } from '../../lib/text/thinking.js'
import { messagesOf } from '../conversations.js'
import { PAGE } from '../pages.js'
import type { ChatService } from '../service.js'
import { citedBy, degradedReasons, Turn } from '../turn.js'
import { type Entry, entriesOf, partsOfAnswer, type Step, stepOf, thoughtOf, usageOf, withStep } from './entries.js'
import { FRAME_MS, paced } from './paced.js'

export interface State {
  readonly entries: readonly Entry[]
  readonly name: string
  readonly phase: 'idle' | 'answering' | 'stopping'
  /** when the last message was sent, in milliseconds since the epoch */
  readonly askedAt: number
  /** the tool that an agent is using */
  readonly activity: string
  readonly conversationId: string | undefined
  /** of the last answer */
  readonly messageId: string | undefined
  /** queued messages, which are sent after the current answer */
  readonly waiting: readonly string[]
  /** messages that can be recalled */
  readonly sent: readonly string[]
  /** images of the next message */
  readonly images: readonly Image[]
  /** whether an answer is being read aloud */
  readonly isSpeaking: boolean
  /** suggested next questions */
  readonly suggestions: readonly string[]
  /** the action that the next line confirms with yes */
  readonly confirm: { question: string; run: () => Promise<void> } | undefined
}

interface Image {
  name: string
  input: object
}

/** The conversation that the view shows. Every change creates a new state and notifies the listeners. */
export class Conversation {
  readonly chat: ChatService
  readonly #inputs: Record<string, string>
  readonly #listeners = new Set<() => void>()
  /** An answer may stream faster than frames can be drawn; each frame shows the newest state. */
  readonly #tell = paced(() => {
    for (const listener of this.#listeners) listener()
  }, FRAME_MS)
  #state: State = {
    entries: [],
    name: '',
    phase: 'idle',
    askedAt: 0,
    activity: '',
    conversationId: undefined,
    messageId: undefined,
    waiting: [],
    sent: [],
    images: [],
    isSpeaking: false,
    suggestions: [],
    confirm: undefined,
  }
  #voice: AbortController | undefined
  #turn: Turn | undefined
  #sending: Promise<void> | undefined
  #suggests = false
  /** images of the last message */
  #imagesBefore: readonly Image[] = []
  /** ids of the conversations that were listed last, in order */
  listed: readonly string[] = []

  constructor(chat: ChatService, inputs: Record<string, string>) {
    this.chat = chat
    this.#inputs = inputs
  }

  readonly state = (): State => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Shows the opening message of the application, and an existing conversation if one is given. @throws ApiError,
   * ConnectionError
   */
  async begin(conversationId: string | undefined): Promise<void> {
    const user = encodeURIComponent(this.chat.user)
    const [info, parameters] = await Promise.all([
      this.chat.call('GET', '/info'),
      this.chat.call('GET', `/parameters?user=${user}`),
    ])
    const said = isRecord(parameters) ? parameters : {}
    const opening = textOf(said.opening_statement) ?? ''
    const after = said.suggested_questions_after_answer
    this.#suggests = isRecord(after) && after.enabled === true
    this.change({
      name: isRecord(info) ? (textOf(info.name) ?? '') : '',
      suggestions: textsOf(said.suggested_questions),
    })
    if (opening !== '') this.#add({ kind: 'answer', text: opening })
    if (conversationId !== undefined) await this.load(conversationId)
  }

  /** Sends a message, or queues it during an answer. Messages are sent in order. */
  async send(query: string): Promise<void> {
    this.change({ waiting: [...this.#state.waiting, query] })
    this.#sending ??= this.#sendWaiting()
    await this.#sending
  }

  /** Sends the last message again, with its images; the service keeps both answers. */
  async regenerate(): Promise<void> {
    const last = this.#state.sent.at(-1)
    if (last === undefined) return this.note('There is no message to send again yet.')
    this.change({ images: [...this.#imagesBefore, ...this.#state.images] })
    await this.send(last)
  }

  /** Resolves when every sent message has its answer. */
  async settled(): Promise<void> {
    await this.#sending
  }

  async #sendWaiting(): Promise<void> {
    for (let [next] = this.#state.waiting; next !== undefined; [next] = this.#state.waiting) {
      this.change({ waiting: this.#state.waiting.slice(1) })
      await this.#answer(next)
    }
    this.#sending = undefined
  }

  /** Removes all queued messages. @returns the removed messages */
  takeBack(): readonly string[] {
    const { waiting } = this.#state
    if (waiting.length > 0) this.change({ waiting: [] })
    return waiting
  }

  /** Runs one turn. An error is shown; the conversation continues. */
  async #answer(query: string): Promise<void> {
    this.hush()
    const turn = new Turn(this.chat)
    this.#turn = turn
    const { images, conversationId, sent } = this.#state
    this.#imagesBefore = images
    this.#add({ kind: 'question', text: [query, ...images.map(({ name }) => `[${name}]`)].join('\n') })
    this.change({ phase: 'answering', askedAt: Date.now(), sent: [...sent, query], images: [], suggestions: [] })
    // The entry is added first, so that later notes follow it.
    this.#add({ kind: 'answer', text: '', isGrowing: true })
    const growing = this.#growing(this.#state.entries.length - 1)
    const files = images.length === 0 ? {} : { files: images.map(({ input }) => input) }
    const request = { query, inputs: this.#inputs, conversation_id: conversationId, ...files }
    try {
      const ended = await turn.run(request, growing.listener)
      const { said, ...thought } = partsOfAnswer(ended.answer)
      growing.end(said, {
        ...thought,
        ...usageOf(ended.end),
        sources: citedBy(said, ended.sources),
        ...(turn.isStopping ? { isStopped: true as const } : {}),
      })
      for (const reason of degradedReasons(ended.end)) this.note(`degraded: ${reason}`)
      this.change({ messageId: ended.messageId, conversationId: ended.conversationId ?? conversationId })
    } catch (error) {
      growing.breakOff()
      this.failed(error)
    } finally {
      this.#turn = undefined
      this.change({ phase: 'idle', activity: '' })
    }
    if (this.#suggests && !turn.isStopping) void this.#suggest()
  }

  /** Updates the entry of an answer while it streams. */
  #growing(at: number) {
    let text = ''
    let steps: readonly Step[] = []
    let thinking = new Thinking()
    const show = (said: string, more: Partial<Entry>) => {
      const stepped = steps.length === 0 ? {} : { steps }
      this.#replace(at, { kind: 'answer', text: said, ...stepped, ...more })
    }
    const grow = (added: string) => {
      text += thinking.add(added)
      show(text, { isGrowing: true, ...thoughtOf(thinking) })
    }
    return {
      listener: {
        onText: grow,
        onReplace: (whole: string) => {
          text = ''
          thinking = new Thinking()
          grow(whole)
        },
        onEvent: (name: string, event: Record<string, unknown>) => {
          if (name !== 'agent_thought') return
          const step = stepOf(event)
          steps = withStep(steps, step)
          this.change({ activity: step.tool })
          grow('')
        },
      },
      end: show,
      /** the text before a failure stays */
      breakOff: () => {
        if (this.#state.entries[at]?.isGrowing === true) show(text, thoughtOf(thinking))
      },
    }
  }

  /** Loads suggestions after the last answer; failures are ignored, because suggestions are optional. */
  async #suggest(): Promise<void> {
    const { messageId } = this.#state
    if (messageId === undefined) return
    const path = `/messages/${messageId}/suggested?user=${encodeURIComponent(this.chat.user)}`
    const reply = await this.chat.call('GET', path).catch(() => undefined)
    // Another answer may have started meanwhile.
    if (messageId !== this.#state.messageId || this.#state.phase !== 'idle') return
    this.change({ suggestions: isRecord(reply) ? textsOf(reply.data) : [] })
  }

  /** Stops the current answer; its text so far stays. */
  stop(): void {
    if (this.#turn === undefined) return
    this.change({ phase: 'stopping' })
    this.#turn.stop().catch((error: unknown) => this.failed(error))
  }

  /** Starts a new conversation; the service keeps the previous one. */
  reset(): void {
    this.hush()
    this.#add({ kind: 'rule', text: 'new conversation' })
    this.change({ messageId: undefined, conversationId: undefined, images: [], suggestions: [] })
  }

  /** Shows an existing conversation and continues it. */
  async load(id: string): Promise<void> {
    const messages = await messagesOf(this.chat, id, PAGE)
    const sent = messages.map(({ query }) => textOf(query) ?? '')
    this.change({
      entries: [...this.#state.entries, ...messages.flatMap(entriesOf)],
      conversationId: id,
      messageId: textOf(messages.at(-1)?.id),
      sent,
      suggestions: [],
    })
  }

  /** Runs `work`, which reads an answer aloud until its signal aborts. Only one runs at a time. */
  async speaking(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.hush()
    const voice = new AbortController()
    this.#voice = voice
    this.change({ isSpeaking: true })
    try {
      await work(voice.signal)
    } finally {
      if (this.#voice === voice) this.change({ isSpeaking: false })
    }
  }

  /** Stops reading aloud. */
  hush(): void {
    this.#voice?.abort()
    this.#voice = undefined
    this.change({ isSpeaking: false })
  }

  note(text: string): void {
    this.#add({ kind: 'note', text })
  }

  failed(error: unknown): void {
    const { message, hint } = errorReport(error)
    this.#add({ kind: 'error', text: hint === undefined ? message : `${message}\n${hint}` })
  }

  #add(entry: Entry): void {
    this.change({ entries: [...this.#state.entries, entry] })
  }

  #replace(index: number, entry: Entry): void {
    this.change({ entries: this.#state.entries.toSpliced(index, 1, entry) })
  }

  change(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change }
    this.#tell()
  }
}

function textsOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : []
  return values.filter((text) => typeof text === 'string')
}
