import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatFrame } from '../../../../contract/chat/messages.js'
import { BackgroundService } from '../../../base/background-service.js'
import type { EngineContext } from '../../../library/index.js'
import type { Read } from '../../../store/program.js'
import {
  listRunningMessages,
  listTurnRequests,
  removeTurnRequest,
  storeFrames,
  type TurnRequest,
} from '../../../store/rows/chat/turns.js'
import type { RunningTurn } from '../turn.js'

const POLL_MS = 1000
/** Frames that arrive within this time are stored together. */
const BATCH_MS = 250

/**
 * Handles requests of other gateways on the same database about turns of this one: polls every second whether a turn
 * was stopped, taken over or removed with its conversation, and stores the frames of turns followed by others. It
 * writes nothing without a request.
 */
export class RemoteRequestWatcher extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'the requests of other gateways could not be read'
  protected override readonly failureLevel = 'debug'
  /** By message: turns whose rows are stored as running. */
  readonly #running = new Map<string, RunningTurn>()
  /** Turns that may be followed, including finished ones. */
  readonly #replayable = new Map<string, RunningTurn>()
  readonly #followed = new Map<string, AbortController>()
  /** Messages whose frames are all stored. */
  readonly #completed = new Set<string>()
  #hasRequests = false

  /** Called when the row of a turn is stored: from now on others can see it. */
  stored(turn: RunningTurn): void {
    if (!this.#isNeeded) this.wake(POLL_MS)
    this.#running.set(turn.ids.messageId, turn)
    this.#replayable.set(turn.ids.messageId, turn)
  }

  /** Called before the end is stored: later changes of the row come from this process. */
  ending({ ids }: RunningTurn): void {
    this.#running.delete(ids.messageId)
  }

  /** Called when a turn cannot be replayed any more. */
  forget({ ids }: RunningTurn): void {
    this.#replayable.delete(ids.messageId)
  }

  get #isNeeded(): boolean {
    return this.#hasRequests || this.#replayable.size > 0
  }

  protected override intervalMs(): number {
    return this.#isNeeded ? POLL_MS : Number.POSITIVE_INFINITY
  }

  protected override async tick(): Promise<void> {
    const { db, instance } = this.context
    const before = [...this.#running]
    const { answered, requests } = await db.read(loadGatewayState(instance))
    for (const [id, turn] of before) if (!answered.has(id) && this.#running.get(id) === turn) turn.abort('stopped')
    for (const request of requests) await this.#handleRequest(request)
    this.#hasRequests = requests.length > 0
  }

  async #handleRequest(request: TurnRequest): Promise<void> {
    const { message_id: id } = request
    if (request.stop === 1) this.#running.get(id)?.abort('stopped')
    if (request.is_followed === 1) {
      if (!this.#followed.has(id) && !this.#completed.has(id)) this.#follow(request)
      return
    }
    this.#followed.get(id)?.abort()
    if (this.#running.has(id) || this.#followed.has(id)) return
    this.#completed.delete(id)
    await this.context.db.write(() => removeTurnRequest(request))
  }

  #follow(request: TurnRequest): void {
    const id = request.message_id
    const stop = new AbortController()
    const done = this.#storeFrames(request, stop.signal)
      .catch((error: unknown) =>
        this.context.log.debug(
          { error: String(error) },
          'the frames of an answer could not be stored for another gateway',
        ),
      )
      .finally(() => this.#followed.delete(id))
    this.#followed.set(id, stop)
    this.track(done)
  }

  /**
   * Stores the frames of a turn until it ends or is not followed any more; for an unknown turn, stores that there are
   * none.
   */
  async #storeFrames(request: TurnRequest, signal: AbortSignal): Promise<void> {
    const { db } = this.context
    const turn = this.#replayable.get(request.message_id)
    const buffer = new FrameBuffer(turn, signal)
    for (let first = 0; ; ) {
      const isEnding = signal.aborted || this.isStopped
      const isLast = buffer.isOver
      const frames = buffer.take()
      const batch = { first, count: frames.length, frames: JSON.stringify(frames), last: isLast ? 1 : 0 }
      if (frames.length > 0 || isLast) await db.write(() => storeFrames(request, batch))
      first += frames.length
      if (isLast) this.#completed.add(request.message_id)
      if (isLast || isEnding) return
      await sleep(BATCH_MS)
    }
  }
}

/** Buffer of frames that were not taken yet. */
class FrameBuffer {
  #frames: ChatFrame[] = []
  isOver = false

  constructor(turn: RunningTurn | undefined, signal: AbortSignal) {
    if (turn === undefined) this.isOver = true
    else void this.#read(turn, signal)
  }

  take(): ChatFrame[] {
    return this.#frames.splice(0)
  }

  async #read(turn: RunningTurn, signal: AbortSignal): Promise<void> {
    for await (const frame of turn.frames()) {
      if (signal.aborted) return
      this.#frames.push(frame)
    }
    this.isOver = true
  }
}

/** The messages that a gateway answers, and the requests to it. */
function* loadGatewayState(gateway: string): Read<{ answered: ReadonlySet<string>; requests: TurnRequest[] }> {
  return { answered: new Set(yield* listRunningMessages(gateway)), requests: yield* listTurnRequests(gateway) }
}
