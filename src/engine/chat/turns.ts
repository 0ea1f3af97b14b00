import { CHAT_ERRORS, ChatError } from '../../contract/chat/errors.js'
import type { AgentThought, AnswerMetadata, RetrieverResource } from '../../contract/chat/messages.js'
import type { EngineContext } from '../context.js'
import type { GenerationUsage } from '../models/types.js'
import type { SessionTurn } from '../query/sessions.js'
import { type AnnotationReply, type AnswerPiece, type Asked, asChatError } from './answer.js'
import { Company } from './company.js'
import { imagesOf } from './files/attach.js'
import { answerPieces, type TurnShared } from './pipeline.js'
import { giveVoice } from './speech/auto-play.js'
import { finishMessage, messagesBefore, type Outcome, type Who } from './store.js'
import { RunningTurn, type TurnIds } from './turn.js'
import { added, usageOf } from './usage.js'

export type TurnRequest = Omit<Asked, 'turns' | 'images'> & { aloud: boolean }

/** the longest that a turn runs; then it ends as if it had been stopped */
const LONGEST_MS = 1200_000
/** a finished turn can be replayed for this long, at most so many of them */
const REPLAY_MS = 600_000
const MAX_REPLAYS = 500
const CONTEXT_TURNS = 20
/** what earlier turns may fill of a prompt, in characters: about a third of an 8k-token context */
const CONTEXT_CHARACTERS = 10_000

/** The turns of this process. Those of one conversation run one after another, in the order they came. */
export class ChatTurns {
  readonly #context: EngineContext
  readonly #shared: TurnShared
  readonly #turns = new Map<string, RunningTurn>()
  /** the last turn of each conversation, over when all before it are */
  readonly #tails = new Map<string, { turn: RunningTurn; done: Promise<void> }>()
  /** messages that are being admitted, by application */
  readonly #entering = new Map<string, number>()
  /** messages and answers that come in bursts are stored together */
  readonly company = new Company()
  #closing = false

  constructor(context: EngineContext, shared: TurnShared) {
    this.#context = context
    this.#shared = shared
  }

  get closing(): boolean {
    return this.#closing
  }

  /** Runs a turn whose message is stored as running; it goes on whether or not anybody watches. */
  start(who: Who, ids: TurnIds, request: TurnRequest): RunningTurn {
    const turn = new RunningTurn(who, ids)
    if (request.aloud) giveVoice(this.#context, request.app, turn)
    this.#turns.set(ids.taskId, turn)
    const before = this.#tails.get(ids.conversationId)?.done ?? Promise.resolve()
    this.#tails.set(ids.conversationId, { turn, done: this.#inOrder(turn, request, before) })
    return turn
  }

  /**
   * Takes one of the places that an application has for answers at once, until its turn has started.
   *
   * @param most 0 is no limit
   * @returns what gives the place back; undefined where all are taken
   */
  reserve(appId: string, most: number): (() => void) | undefined {
    const entering = this.#entering.get(appId) ?? 0
    if (most > 0 && this.running(appId) + entering >= most) return undefined
    this.#entering.set(appId, entering + 1)
    return () => {
      const left = (this.#entering.get(appId) ?? 1) - 1
      if (left > 0) this.#entering.set(appId, left)
      else this.#entering.delete(appId)
    }
  }

  /** Turns that have no whole answer yet, of one application or of all. */
  running(appId?: string): number {
    let count = 0
    for (const turn of this.#turns.values()) if (!turn.over && (appId ?? turn.who.appId) === turn.who.appId) count++
    return count
  }

  /** The turn of a task of this end user, running or just finished. */
  find(who: Who, taskId: string): RunningTurn | undefined {
    const turn = this.#turns.get(taskId)
    return turn?.who.appId === who.appId && turn.who.userId === who.userId ? turn : undefined
  }

  /** Cuts the running turns that `which` chooses. */
  cut(which: (turn: RunningTurn) => boolean): void {
    for (const turn of this.#turns.values()) if (!turn.over && which(turn)) turn.cut('stopped')
  }

  /** Ends every turn with what it has said so far, and waits until that is stored. */
  async close(): Promise<void> {
    this.#closing = true
    for (const turn of this.#turns.values()) if (!turn.over) turn.cut('closing')
    await Promise.all([...this.#tails.values()].map(({ done }) => done))
  }

  async #inOrder(turn: RunningTurn, request: TurnRequest, before: Promise<void>): Promise<void> {
    await Promise.all([before, this.#run(turn, request, before)])
    const { conversationId, taskId } = turn.ids
    if (this.#tails.get(conversationId)?.turn === turn) this.#tails.delete(conversationId)
    this.#forgetLater(taskId)
  }

  #forgetLater(taskId: string): void {
    setTimeout(() => this.#turns.delete(taskId), REPLAY_MS).unref()
    if (this.#turns.size <= MAX_REPLAYS) return
    for (const [id, turn] of this.#turns) if (turn.over && this.#turns.size > MAX_REPLAYS) this.#turns.delete(id)
  }

  /** Never rejects: a turn ends with an answer or with an error, and both are stored. */
  async #run(turn: RunningTurn, request: TurnRequest, before: Promise<unknown>): Promise<void> {
    const limit = setTimeout(() => turn.cut('stopped'), LONGEST_MS)
    limit.unref()
    const said: Said = { resources: [], usage: undefined, annotation: null, thoughts: [] }
    let error: ChatError | undefined
    try {
      await this.#answer(turn, request, before, said)
    } catch (cause) {
      if (!turn.signal.aborted) error = asChatError(cause)
      if (error?.code === 'internal_server_error')
        this.#context.log.error({ error: String(cause), messageId: turn.ids.messageId }, 'a chat turn failed')
    } finally {
      clearTimeout(limit)
    }
    if (turn.signal.aborted && turn.signal.reason === 'closing')
      error ??= new ChatError('service_unavailable', 'the service stopped before the answer was complete')
    await this.#store(turn, request, said, error)
  }

  async #answer(turn: RunningTurn, request: TurnRequest, before: Promise<unknown>, said: Said): Promise<void> {
    const { signal } = turn
    await Promise.race([before, aborted(signal)])
    if (signal.aborted) return
    const images = await imagesOf(this.#context, request, turn)
    const asked = { ...request, images, turns: this.#earlier(turn) }
    for await (const piece of untilAborted(answerPieces(this.#context, this.#shared, asked, signal), signal))
      take(turn, said, piece, request.app.retrieverResource)
  }

  async #store(turn: RunningTurn, { app }: TurnRequest, said: Said, error: ChatError | undefined): Promise<void> {
    const { who, ids, answer } = turn
    const { resources, thoughts } = said
    const usage = usageOf(said.usage, (performance.now() - turn.started) / 1000, app.prices)
    const status = error !== undefined ? 'error' : turn.signal.aborted ? 'stopped' : 'normal'
    const outcome: Outcome = {
      ...{ answer, status, resources, usage, thoughts },
      ...(error === undefined ? {} : { error: error.message }),
    }
    try {
      const { messageId, conversationId } = ids
      await this.company.wait()
      await this.#context.db.write(() =>
        finishMessage(this.#context.db, who, { id: messageId, conversationId }, outcome),
      )
    } catch (cause) {
      this.#context.log.error({ error: String(cause), messageId: ids.messageId }, 'an answer could not be stored')
      error ??= new ChatError('internal_server_error', 'the answer could not be stored')
    }
    const metadata: AnswerMetadata = { usage, retriever_resources: resources, annotation_reply: said.annotation }
    if (error === undefined) turn.finish(metadata)
    else turn.fail(error, CHAT_ERRORS[error.code])
  }

  /** Earlier turns as they were saved, oldest first, as far as they fit; failed ones do not count. */
  #earlier({ who, ids }: RunningTurn): SessionTurn[] {
    const { db } = this.#context
    const [own] = db.all<{ place: number }>('SELECT place FROM chat_messages WHERE id = ?', ids.messageId)
    const turns: SessionTurn[] = []
    let room = CONTEXT_CHARACTERS
    for (const row of messagesBefore(db, who, ids.conversationId, own?.place ?? 0, CONTEXT_TURNS)) {
      if (row.status === 'error' || row.answer === '') continue
      room -= row.query.length + row.answer.length
      if (room < 0) break
      turns.unshift({ query: row.query, answer: row.answer })
    }
    return turns
  }
}

interface Said {
  resources: RetrieverResource[]
  usage: GenerationUsage | undefined
  annotation: AnnotationReply
  thoughts: AgentThought[]
}

function take(turn: RunningTurn, said: Said, piece: AnswerPiece, withResources: boolean): void {
  if (piece.type === 'delta') turn.say(piece.text, piece.agent === true ? 'agent_message' : 'message')
  else if (piece.type === 'annotation') said.annotation = piece.annotation
  else if (piece.type === 'usage') said.usage = added(said.usage, piece.usage)
  else if (piece.type === 'thought') {
    said.thoughts = [...said.thoughts.filter(({ id }) => id !== piece.thought.id), piece.thought]
    turn.think(piece.thought)
  } else if (piece.type === 'replace') {
    // what led to words that are not let through is not kept either
    said.thoughts = []
    turn.replace(piece.text)
  } else if (withResources) said.resources = piece.resources
}

function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })
}

/** What a source yields until the signal aborts, which ends it at once: the source is told, but not waited for. */
async function* untilAborted<T>(source: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  const end = aborted(signal)
  for (;;) {
    const next = source.next()
    next.catch(() => {}) // after an abort nobody waits for it
    const result = await Promise.race([next, end])
    if (result === 'aborted' || signal.aborted) {
      source.return(undefined).catch(() => {})
      return
    }
    if (result.done === true) return
    yield result.value
  }
}
