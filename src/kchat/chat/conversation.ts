import { errorReport } from '../../cli/report-error.js'
import { saveBody } from '../../cli/save-body.js'
import { isRecord, textOf } from '../../lib/json/values.js'
import { Thinking } from '../../lib/text/thinking.js'
import { messagesOf } from '../conversations.js'
import { idOf } from '../ids.js'
import { dataOf, PAGE } from '../pages.js'
import type { ChatService } from '../service.js'
import { citedBy, degradedReasons, type Source, sourcesOf, Turn } from '../turn.js'
import { FRAME_MS, paced } from './paced.js'

/** Something that stands in the view. */
export interface Entry {
  readonly kind: 'question' | 'answer' | 'note' | 'error'
  readonly text: string
  /** passages that an answer cites */
  readonly sources?: readonly Source[]
  readonly isStopped?: true
  /** more of it is to come */
  readonly isGrowing?: true
  /** what the model thought before it said anything */
  readonly thought?: string
}

export interface State {
  readonly entries: readonly Entry[]
  readonly name: string
  readonly phase: 'idle' | 'answering' | 'stopping'
  /** the tool that an agent uses now */
  readonly activity: string
  readonly conversationId: string | undefined
  /** messages that are sent when the answers before them are there */
  readonly waiting: readonly string[]
  /** messages that can be called back */
  readonly sent: readonly string[]
  /** images that go with the next message */
  readonly images: readonly { name: string; input: object }[]
  /** an answer is being read aloud */
  readonly isSpeaking: boolean
}

/** The conversation that the view shows: every change makes a new state and tells the listeners. */
export class Conversation {
  readonly #chat: ChatService
  readonly #inputs: Record<string, string>
  readonly #listeners = new Set<() => void>()
  /** An answer may come in more pieces than can be drawn; the newest state is what is drawn then. */
  readonly #tell = paced(() => {
    for (const listener of this.#listeners) listener()
  }, FRAME_MS)
  #state: State = {
    entries: [],
    name: '',
    phase: 'idle',
    activity: '',
    conversationId: undefined,
    waiting: [],
    sent: [],
    images: [],
    isSpeaking: false,
  }
  #voice: AbortController | undefined
  #turn: Turn | undefined
  #sending: Promise<void> | undefined
  #messageId: string | undefined
  #listed: string[] = []

  constructor(chat: ChatService, inputs: Record<string, string>) {
    this.#chat = chat
    this.#inputs = inputs
  }

  readonly state = (): State => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Says what the application is, and shows the conversation it goes on with. @throws ApiError, ConnectionError */
  async begin(conversationId: string | undefined): Promise<void> {
    const user = encodeURIComponent(this.#chat.user)
    const [info, parameters] = await Promise.all([
      this.#chat.call('GET', '/info'),
      this.#chat.call('GET', `/parameters?user=${user}`),
    ])
    const opening = isRecord(parameters) ? (textOf(parameters.opening_statement) ?? '') : ''
    const suggested: unknown[] =
      isRecord(parameters) && Array.isArray(parameters.suggested_questions) ? parameters.suggested_questions : []
    this.#set({ name: isRecord(info) ? (textOf(info.name) ?? '') : '' })
    if (opening !== '') this.#add({ kind: 'answer', text: opening })
    if (suggested.length > 0) this.note(suggested.map((question) => `· ${String(question)}`).join('\n'))
    if (conversationId !== undefined) await this.#load(conversationId)
  }

  /** Sends a message, or, while an answer is under way, once that is there: messages go out in the order they came. */
  async send(query: string): Promise<void> {
    this.#set({ waiting: [...this.#state.waiting, query] })
    this.#sending ??= this.#sendWaiting()
    await this.#sending
  }

  /** Resolves when every message that was sent has its answer. */
  async settled(): Promise<void> {
    await this.#sending
  }

  async #sendWaiting(): Promise<void> {
    for (let [next] = this.#state.waiting; next !== undefined; [next] = this.#state.waiting) {
      this.#set({ waiting: this.#state.waiting.slice(1) })
      await this.#answer(next)
    }
    this.#sending = undefined
  }

  /** Messages that wait are not sent. @returns them */
  takeBack(): readonly string[] {
    const { waiting } = this.#state
    if (waiting.length > 0) this.#set({ waiting: [] })
    return waiting
  }

  /** One turn. What goes wrong is shown; the conversation goes on. */
  async #answer(query: string): Promise<void> {
    this.hush()
    const turn = new Turn(this.#chat)
    this.#turn = turn
    const { images, conversationId, sent } = this.#state
    this.#add({ kind: 'question', text: [query, ...images.map(({ name }) => `[${name}]`)].join('\n') })
    this.#set({ phase: 'answering', sent: [...sent, query], images: [] })
    const answer = this.#state.entries.length
    const show = (text: string, more: Partial<Entry>) => this.#replace(answer, { kind: 'answer', text, ...more })
    let text = ''
    let thinking = new Thinking()
    const grow = (added: string) => {
      text += thinking.add(added)
      show(text, { isGrowing: true, ...thoughtOf(thinking) })
    }
    try {
      const ended = await turn.run(
        {
          query,
          inputs: this.#inputs,
          conversation_id: conversationId,
          ...(images.length === 0 ? {} : { files: images.map(({ input }) => input) }),
        },
        {
          onText: grow,
          onReplace: (whole) => {
            text = ''
            thinking = new Thinking()
            grow(whole)
          },
          onEvent: (name, event) => {
            if (name === 'agent_thought') this.#set({ activity: textOf(event.tool) ?? '' })
          },
        },
      )
      const { said, ...thought } = partsOf(ended.answer)
      show(said, {
        ...thought,
        sources: citedBy(said, ended.sources),
        ...(turn.isStopping ? { isStopped: true as const } : {}),
      })
      for (const reason of degradedReasons(ended.end)) this.note(`degraded: ${reason}`)
      this.#messageId = ended.messageId
      this.#set({ conversationId: ended.conversationId ?? conversationId })
    } catch (error) {
      this.failed(error)
    } finally {
      this.#turn = undefined
      this.#set({ phase: 'idle', activity: '' })
    }
  }

  /** Stops the answer that is under way; what was said stays. */
  stop(): void {
    if (this.#turn === undefined) return
    this.#set({ phase: 'stopping' })
    this.#turn.stop().catch((error: unknown) => this.failed(error))
  }

  /** A new conversation; the one before stays with the service. */
  reset(): void {
    this.hush()
    this.#messageId = undefined
    this.#set({ entries: [], conversationId: undefined, images: [] })
  }

  /** Lists the latest conversations, or opens one of them by its number or id. */
  async open(word: string | undefined): Promise<void> {
    if (word !== undefined) {
      const id = this.#listed[Number(word) - 1] ?? idOf('conversation', word)
      this.reset()
      await this.#load(id)
      return
    }
    const user = encodeURIComponent(this.#chat.user)
    const items = dataOf(await this.#chat.call('GET', `/conversations?user=${user}&limit=20`))
    this.#listed = items.map(({ id }) => textOf(id) ?? '')
    const lines = items.map(({ name }, index) => `${index + 1}  ${textOf(name) ?? ''}`)
    this.note(lines.length === 0 ? 'There is no conversation yet.' : [...lines, '/open N opens one'].join('\n'))
  }

  async showVariables(): Promise<void> {
    const { conversationId } = this.#state
    if (conversationId === undefined) return this.note('The conversation has not begun.')
    const path = `/conversations/${conversationId}/variables?user=${encodeURIComponent(this.#chat.user)}&limit=${PAGE}`
    const lines = dataOf(await this.#chat.call('GET', path)).map(
      ({ name, value }) => `${textOf(name) ?? ''}: ${textOf(value) ?? ''}`,
    )
    this.note(lines.length === 0 ? 'The conversation has no variables.' : lines.join('\n'))
  }

  /** What the model thought before its last answer. */
  showThoughts(): void {
    const { thought } = this.#state.entries.findLast(({ kind }) => kind === 'answer') ?? {}
    this.note(thought === undefined ? 'Nothing was thought aloud before the last answer.' : thought.trim())
  }

  async rate(rating: 'like' | 'dislike'): Promise<void> {
    if (this.#messageId === undefined) return this.note('There is no answer to rate yet.')
    const path = `/messages/${this.#messageId}/feedbacks`
    await this.#chat.call('POST', path, { rating, user: this.#chat.user })
    this.note(rating === 'like' ? 'Rated: like.' : 'Rated: dislike.')
  }

  /** Reads the last answer aloud until its end or until `hush`; or writes its audio to a file. */
  async speak(file: string): Promise<void> {
    this.hush()
    if (this.#messageId === undefined) return this.note('There is no answer to read yet.')
    const voice = new AbortController()
    this.#voice = voice
    this.#set({ isSpeaking: true })
    try {
      const { audioOf } = await import('../audio.js')
      const { assertPlayer, play } = await import('../player.js')
      if (file === '') assertPlayer()
      const audio = await audioOf(this.#chat, { message_id: this.#messageId })
      if (file === '') await play(audio, voice.signal)
      else this.note(`Wrote ${file}, ${await saveBody(audio, file)} bytes.`)
    } finally {
      if (this.#voice === voice) this.#set({ isSpeaking: false })
    }
  }

  /** Ends what is being read aloud. */
  hush(): void {
    this.#voice?.abort()
    this.#voice = undefined
    this.#set({ isSpeaking: false })
  }

  async attach(word: string): Promise<void> {
    const { imageInput } = await import('../files.js')
    const input = await imageInput(this.#chat, word)
    this.#set({ images: [...this.#state.images, { name: word, input }] })
    this.note(`${word} goes with the next message.`)
  }

  note(text: string): void {
    this.#add({ kind: 'note', text })
  }

  failed(error: unknown): void {
    const { message, hint } = errorReport(error)
    this.#add({ kind: 'error', text: hint === undefined ? message : `${message}\n${hint}` })
  }

  async #load(id: string): Promise<void> {
    const messages = await messagesOf(this.#chat, id, PAGE)
    const entries = messages.flatMap((message): Entry[] => {
      const { said, ...thought } = partsOf(textOf(message.answer) ?? '')
      const sources = citedBy(said, sourcesOf({ metadata: message }))
      return [
        { kind: 'question', text: textOf(message.query) ?? '' },
        { kind: 'answer', text: said, sources, ...thought },
      ]
    })
    this.#messageId = textOf(messages.at(-1)?.id)
    const sent = messages.map(({ query }) => textOf(query) ?? '')
    this.#set({ entries: [...this.#state.entries, ...entries], conversationId: id, sent })
  }

  #add(entry: Entry): void {
    this.#set({ entries: [...this.#state.entries, entry] })
  }

  #replace(index: number, entry: Entry): void {
    this.#set({ entries: this.#state.entries.toSpliced(index, 1, entry) })
  }

  #set(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change }
    this.#tell()
  }
}

function thoughtOf({ thought }: Thinking): { thought?: string } {
  return thought.trim() === '' ? {} : { thought }
}

/** A whole answer: what was said, and what was thought before, where anything was. */
function partsOf(answer: string): { said: string; thought?: string } {
  const thinking = new Thinking()
  const said = thinking.add(answer) + thinking.end()
  return { said, ...thoughtOf(thinking) }
}
