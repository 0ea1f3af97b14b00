import type { ChatApp } from '../../../contract/chat/apps.js'
import type { ChatPrices } from '../../../contract/chat/behaviour.js'
import { ChatError } from '../../../contract/chat/errors.js'
import type { ChatAnswerMetadata } from '../../../contract/chat/messages.js'
import { KsError } from '../../../contract/errors.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { stripThoughts } from '../../../lib/text/thoughts.js'
import { type Degradation, toDegradedFields } from '../../base/degraded.js'
import type { EngineContext } from '../../library/index.js'
import { findConfiguredPrice, type TokenMeter } from '../../models/index.js'
import type { Read, Write } from '../../store/program.js'
import { mapReadable, parseJsonCell } from '../../store/readable.js'
import type { AppScope } from '../../store/rows/chat/apps.js'
import {
  type EndUserScope,
  findMessagePosition,
  finishMessage,
  listMessagesBefore,
  type TurnOutcome,
} from '../../store/rows/chat/conversations.js'
import { findSender } from '../../store/rows/chat/turns.js'
import type { SessionTurn } from '../../store/rows/sessions.js'
import { writeOnce } from '../../store/write-once.js'
import { getCurrentValues } from '../rows/chat/variables.js'
import { type ChatQuestion, toChatError } from './answer.js'
import type { AppSession } from './apps.js'
import { loadImages } from './files/attach.js'
import type { Inputs } from './form.js'
import type { TurnIds } from './frames.js'
import { waitForEarlierTurns } from './gateways/order.js'
import { RemoteRequestWatcher } from './gateways/turn-watch.js'
import { MessageWrites } from './message-writes.js'
import { generateAnswer, type TurnServices } from './pipeline.js'
import { enableAutoPlay } from './speech/auto-play.js'
import { StartQueue } from './start-queue.js'
import { REPLAY_MS, RunningTurn, type TurnSender } from './turn.js'
import { applyEvent, createTurnResults, type TurnResults } from './turn-results.js'
import { unlessAborted, untilAborted, waitForAbort } from './until-aborted.js'
import { computeUsage, toChatPrices } from './usage.js'
import { WriteCoalescer } from './write-coalescer.js'

type RequestField = 'caller' | 'app' | 'spaceIds' | 'conversationId' | 'messageId' | 'query' | 'isVisitor'
export type TurnStart = Pick<ChatQuestion, RequestField> & { aloud: boolean }

/** A message that is stored as running. */
export interface AdmittedMessage {
  endUser: EndUserScope
  inputs: Inputs
}

/** Maximum duration of a turn; then it ends like a stopped one. */
const MAX_TURN_MS = 1200_000
/** Maximum number of finished turns for replay. */
const MAX_REPLAYS = 500
const MAX_CONTEXT_TURNS = 20
/** Coalescing of answers that are stored together. */
const END_COALESCE_LIMITS = { quietMs: 25, maxMs: 25 }
/** Maximum delay of the work on an answer during a burst of messages. */
const MAX_START_DELAY_MS = 500
/** Fraction of an application's concurrent answers that all visitors of its page get together; at least one answer. */
const VISITOR_FRACTION = 0.5
/** Maximum characters of earlier turns in a prompt: about a third of an 8k-token context. */
const MAX_CONTEXT_CHARS = 10_000

/** The turns of this process. Turns of one conversation run one after another, in order of arrival. */
export class ChatTurns {
  readonly #context: EngineContext
  readonly #services: TurnServices
  readonly #turns = new Map<string, RunningTurn>()
  /** The last turn of each conversation; done when all before it are. */
  readonly #tails = new Map<string, { turn: RunningTurn; stored: Promise<unknown>; done: Promise<void> }>()
  /** Serves other gateways on the same database. */
  readonly #watch: RemoteRequestWatcher | undefined
  /** Messages being admitted. */
  readonly #reservations = new Set<{ appId: string; isVisitor: boolean }>()
  readonly messageWrites: MessageWrites
  /** Answers that end together are stored together. */
  readonly #ends = new WriteCoalescer(END_COALESCE_LIMITS)
  /** In a burst, all messages are admitted and acknowledged before the work on their answers starts. */
  readonly #starts = new StartQueue(() => this.messageWrites.isCoalescing, MAX_START_DELAY_MS)
  #closing = false

  constructor(services: TurnServices) {
    const { context } = services
    this.#context = context
    this.#services = services
    this.messageWrites = new MessageWrites(context.db)
    this.#watch = context.isShared ? new RemoteRequestWatcher(context) : undefined
  }

  get closing(): boolean {
    return this.#closing
  }

  /**
   * Starts a turn; it continues whether or not a client reads it.
   *
   * @param store stores its message as running, in a transaction; the turn fails with the error it throws
   * @returns the turn, and the promise of its stored message
   */
  start(
    sender: TurnSender,
    ids: TurnIds,
    request: TurnStart,
    store: () => Write<AdmittedMessage>,
  ): { turn: RunningTurn; stored: Promise<AdmittedMessage> } {
    const turn = new RunningTurn(sender, ids)
    if (request.aloud) enableAutoPlay(this.#context, request.app, turn)
    this.#turns.set(ids.taskId, turn)
    const last = this.#tails.get(ids.conversationId)
    const before = last?.done ?? Promise.resolve()
    const stored = this.#store(request, ids, store, last?.stored)
    this.#tails.set(ids.conversationId, { turn, stored, done: this.#runInOrder(turn, request, { stored, before }) })
    return { turn, stored }
  }

  /** @param before the preceding message of the conversation: concurrent database connections do not preserve order */
  #store(request: TurnStart, ids: TurnIds, store: () => Write<AdmittedMessage>, before?: Promise<unknown>) {
    const { app, caller } = request
    if (!this.#context.isShared) return this.messageWrites.store(app.id, store)
    const maxConcurrent = app.maxConcurrentRequests
    return this.messageWrites.storeOnce(app.id, store, {
      // Other gateways that count the application's answers must wait.
      ...(maxConcurrent > 0 ? { lock: { tenant: caller.tenant, appId: app.id } } : {}),
      findStored: () => findAdmitted({ tenant: caller.tenant, appId: app.id }, ids.messageId),
      previous: before,
    })
  }

  /**
   * Reserves one of the concurrent answers of an application until its turn has started. Visitors of its page get a
   * fraction of them, so that visitors cannot block holders of keys.
   *
   * @returns a function that releases the reservation; undefined if none is free
   */
  reserve({ app, visitor }: AppSession): (() => void) | undefined {
    const isVisitor = visitor !== undefined
    const max = app.maxConcurrentRequests
    const entering = [...this.#reservations].filter(({ appId }) => appId === app.id)
    const visitors = entering.filter(({ isVisitor }) => isVisitor).length + this.running(app.id, { visitorsOnly: true })
    if (max > 0 && this.running(app.id) + entering.length >= max) return undefined
    if (max > 0 && isVisitor && visitors >= Math.max(1, Math.floor(max * VISITOR_FRACTION))) return undefined
    const reservation = { appId: app.id, isVisitor }
    this.#reservations.add(reservation)
    return () => this.#reservations.delete(reservation)
  }

  /** Counts turns without a complete answer: of one application or all, of visitors only or of all users. */
  running(appId?: string, { visitorsOnly = false } = {}): number {
    let count = 0
    for (const { over, sender } of this.#turns.values())
      if (!over && (appId ?? sender.appId) === sender.appId && (!visitorsOnly || sender.isVisitor)) count++
    return count
  }

  /** The turn of a task of this end user, running or just finished. */
  find({ appId, user }: TurnSender, taskId: string): RunningTurn | undefined {
    const turn = this.#turns.get(taskId)
    return turn?.sender.appId === appId && turn.sender.user === user ? turn : undefined
  }

  /** Aborts the running turns that match a predicate. */
  stopMatching(isMatch: (turn: RunningTurn) => boolean): void {
    for (const turn of this.#turns.values()) if (!turn.over && isMatch(turn)) turn.abort('stopped')
  }

  /** Ends every turn with its text so far, and waits until it is stored. */
  async close(): Promise<void> {
    this.#closing = true
    for (const turn of this.#turns.values()) if (!turn.over) turn.abort('closing')
    await Promise.all([...this.#tails.values()].map(({ done }) => done))
    await this.#watch?.stop()
  }

  async #runInOrder(turn: RunningTurn, request: TurnStart, opening: TurnPrerequisites): Promise<void> {
    await Promise.all([opening.before, this.#run(turn, request, opening)])
    const { conversationId, taskId } = turn.ids
    if (this.#tails.get(conversationId)?.turn === turn) this.#tails.delete(conversationId)
    setTimeout(() => this.#forget(taskId), REPLAY_MS).unref()
    if (this.#turns.size <= MAX_REPLAYS) return
    for (const [id, turn] of this.#turns) if (turn.over && this.#turns.size > MAX_REPLAYS) this.#forget(id)
  }

  #forget(taskId: string): void {
    const turn = this.#turns.get(taskId)
    if (turn !== undefined) this.#watch?.forget(turn)
    this.#turns.delete(taskId)
  }

  /** Never rejects: a turn ends with an answer or with an error. */
  async #run(turn: RunningTurn, request: TurnStart, opening: TurnPrerequisites): Promise<void> {
    const limit = setTimeout(() => turn.abort('stopped'), MAX_TURN_MS)
    limit.unref()
    const results = createTurnResults()
    let admitted: AdmittedMessage | undefined
    let error: ChatError | undefined
    try {
      admitted = await opening.stored.catch((cause: unknown) => {
        throw toStoreError(cause)
      })
      this.#watch?.stored(turn)
      await this.#answer(turn, { ...request, ...admitted }, opening.before, results)
    } catch (cause) {
      if (!turn.signal.aborted || admitted === undefined) error = toChatError(cause)
      if (error?.code === 'internal_server_error')
        this.#context.log.error({ error: String(cause), messageId: turn.ids.messageId }, 'a chat turn failed')
    } finally {
      clearTimeout(limit)
    }
    if (turn.signal.aborted && turn.signal.reason === 'closing')
      error ??= new ChatError('service_unavailable', 'the service stopped before the answer was complete')
    await this.#end(turn, request, results, { endUser: admitted?.endUser, error })
  }

  async #answer(
    turn: RunningTurn,
    request: TurnStart & AdmittedMessage,
    before: Promise<unknown>,
    results: TurnResults,
  ): Promise<void> {
    const { signal } = turn
    const { endUser } = request
    await Promise.race([before, waitForAbort(signal)])
    if (this.#watch !== undefined) await waitForEarlierTurns(this.#context, endUser, turn)
    await this.#starts.wait()
    if (signal.aborted) return
    const images = await loadImages(this.#context, request.app, endUser, turn.ids)
    const documents = await unlessAborted(this.#services.uploads.load(endUser, turn.ids), signal)
    if (documents === undefined) return
    const known = await this.#context.db.read(loadContext(request.app, endUser, turn.ids))
    const answerRequest = { ...request, ...known, images, documents, meter: results.meter }
    for await (const event of untilAborted(generateAnswer(this.#services, answerRequest, signal), signal))
      applyEvent(turn, results, event)
  }

  /** Stores the answer, then reports its end. Without `endUser`, the message itself could not be stored. */
  async #end(
    turn: RunningTurn,
    { app }: TurnStart,
    results: TurnResults,
    { endUser, error: cause }: { endUser: EndUserScope | undefined; error: ChatError | undefined },
  ): Promise<void> {
    let error = cause
    const { ids, answer } = turn
    const { resources, thoughts } = results
    const prices = app.prices ?? this.#configuredPrices(results.meter)
    const usage = computeUsage(results.meter.total(), (performance.now() - turn.started) / 1000, prices)
    const status = error !== undefined ? 'error' : turn.signal.aborted ? 'stopped' : 'normal'
    const outcome: TurnOutcome = {
      answer,
      status,
      resources,
      usage,
      thoughts,
      ...omitUndefined({ error: error?.message }),
    }
    try {
      await this.#ends.wait()
      this.#watch?.ending(turn)
      if (endUser !== undefined && (await this.#finish(endUser, ids, outcome)) === 'taken')
        error ??= new ChatError(
          'service_unavailable',
          'another gateway considered this process dead before the answer was stored',
        )
    } catch (cause) {
      this.#context.log.error({ error: String(cause), messageId: ids.messageId }, 'an answer could not be stored')
      error ??= new ChatError('internal_server_error', 'the answer could not be stored')
    }
    const metadata: ChatAnswerMetadata = {
      usage,
      retriever_resources: resources,
      annotation_reply: results.annotation,
      ...toDegradedMetadata(results.degraded),
    }
    if (error === undefined) turn.finish(metadata)
    else turn.fail(error)
  }

  #finish(endUser: EndUserScope, { messageId: id, conversationId }: TurnIds, outcome: TurnOutcome) {
    const work = () => finishMessage(endUser, { id, conversationId }, outcome)
    // A repeated attempt checks itself what an earlier one has done.
    return writeOnce(this.#context.db, work, readNothing)
  }

  /** Configured prices of the provider of the model that answered. */
  #configuredPrices(meter: TokenMeter): ChatPrices | null {
    const model = meter.model()
    const price = model === undefined ? undefined : findConfiguredPrice(this.#context.options.providers, model)
    return price === undefined ? null : toChatPrices(price)
  }
}

function* readNothing(): Read<undefined> {}

/** The context of a turn: the values of the conversation's variables, and its earlier turns. */
function* loadContext(app: ChatApp, endUser: EndUserScope, ids: TurnIds) {
  const variables = yield* getCurrentValues(app, endUser, ids.conversationId)
  return { variables, turns: yield* loadEarlierTurns(endUser, ids) }
}

/** The sender and inputs of a message that is already stored. */
function* findAdmitted(app: AppScope, messageId: string): Read<AdmittedMessage | undefined> {
  const found = yield* findSender(app, messageId)
  return found === undefined
    ? undefined
    : { endUser: { ...app, userId: found.userId }, inputs: parseJsonCell(found.inputs) }
}

/** Earlier turns as stored, oldest first, as many as fit; failed ones are skipped. */
function* loadEarlierTurns(endUser: EndUserScope, ids: TurnIds): Read<SessionTurn[]> {
  const position = yield* findMessagePosition(endUser, ids.messageId)
  const turns: SessionTurn[] = []
  let remainingChars = MAX_CONTEXT_CHARS
  const rows = yield* listMessagesBefore(endUser, ids.conversationId, position ?? 0, MAX_CONTEXT_TURNS)
  for (const { query, answer: stored, status } of mapReadable(rows, ({ query, answer, status }) => ({
    query,
    answer,
    status,
  }))) {
    // The reasoning of a model is not part of its answer.
    const answer = stripThoughts(stored)
    if (status === 'error' || answer === '') continue
    remainingChars -= query.length + answer.length
    if (remainingChars < 0) break
    turns.unshift({ query, answer })
  }
  return turns
}

/** The degradation of an answer, in the field names of this service. */
function toDegradedMetadata(
  all: readonly Degradation[],
): Pick<ChatAnswerMetadata, 'degraded' | 'degraded_class' | 'degraded_reasons'> {
  const { degradedClass, degradedReasons } = toDegradedFields(all)
  if (degradedClass === undefined) return {}
  return { degraded: true, degraded_class: degradedClass, degraded_reasons: degradedReasons }
}

/** Why an admitted message could not be stored: its conversation was deleted, or the disk failed. */
function toStoreError(cause: unknown): unknown {
  return cause instanceof KsError ? new ChatError('service_unavailable', cause.message) : cause
}

/** Work that ends before an answer starts. */
interface TurnPrerequisites {
  stored: Promise<AdmittedMessage>
  /** The earlier turns of the conversation. */
  before: Promise<void>
}
