import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatFrame } from '../../../contract/chat/messages.js'
import { asDeployment } from '../../base/tenant-scope.js'
import type { EngineContext } from '../../context.js'
import { answeredBy, removeRequest, requestsTo, storeFrames, type TurnRequest } from '../../rows/chat/turns.js'
import type { Read } from '../../storage/program.js'
import type { RunningTurn } from '../turn.js'

const LOOK_MS = 1000
/** frames that come within this time are stored together */
const GATHER_MS = 250

/**
 * What other gateways want of the turns of this one: where several answer on one server, it looks once a second whether one
 * was stopped, taken from it or removed with its conversation, and stores the frames of those that are followed elsewhere.
 * It writes nothing that nobody asked for.
 */
export class TurnWatch {
  readonly #context: EngineContext
  /** by message: turns whose rows are stored as running */
  readonly #running = new Map<string, RunningTurn>()
  /** those that may be followed, also when they are over */
  readonly #known = new Map<string, RunningTurn>()
  readonly #followed = new Map<string, { stop: AbortController; done: Promise<void> }>()
  /** messages whose frames were all stored */
  readonly #told = new Set<string>()
  #looking: Promise<void> | undefined
  readonly #closing = new AbortController()

  constructor(context: EngineContext) {
    this.#context = context
  }

  /** The row of a turn is stored: from now on others can see it. */
  stored(turn: RunningTurn): void {
    this.#running.set(turn.ids.messageId, turn)
    this.#known.set(turn.ids.messageId, turn)
    // whoever began the first of the turns: they are of all tenants
    this.#looking ??= asDeployment(() => this.#look()).finally(() => {
      this.#looking = undefined
    })
  }

  /** Its end is being stored: what its row says from now on was written here. */
  ending({ ids }: RunningTurn): void {
    this.#running.delete(ids.messageId)
  }

  /** It cannot be replayed any more. */
  forget({ ids }: RunningTurn): void {
    this.#known.delete(ids.messageId)
  }

  /** Stores the last frames of what is followed. All turns are over. */
  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([this.#looking, ...[...this.#followed.values()].map(({ done }) => done)])
  }

  async #look(): Promise<void> {
    const { db, instance, log } = this.#context
    const { signal } = this.#closing
    for (let isAsked = false; (isAsked || this.#known.size > 0) && !signal.aborted; ) {
      await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) return
      const before = [...this.#running]
      try {
        const { answered, requests } = await db.read(seenBy(instance))
        for (const [id, turn] of before) if (!answered.has(id) && this.#running.get(id) === turn) turn.cut('stopped')
        for (const request of requests) await this.#fulfil(request)
        isAsked = requests.length > 0
      } catch (error) {
        log.debug({ error: String(error) }, 'it could not be asked what others want of the answers of this process')
      }
    }
  }

  async #fulfil(request: TurnRequest): Promise<void> {
    const { message_id: id } = request
    if (request.stop === 1) this.#running.get(id)?.cut('stopped')
    if (request.is_followed === 1) {
      if (!this.#followed.has(id) && !this.#told.has(id)) this.#follow(request)
      return
    }
    this.#followed.get(id)?.stop.abort()
    if (this.#running.has(id) || this.#followed.has(id)) return
    this.#told.delete(id)
    await this.#context.db.write(() => removeRequest(request))
  }

  #follow(request: TurnRequest): void {
    const id = request.message_id
    const stop = new AbortController()
    const done = this.#tell(request, stop.signal)
      .catch((error: unknown) =>
        this.#context.log.debug({ error: String(error) }, 'frames of an answer could not be handed on'),
      )
      .finally(() => this.#followed.delete(id))
    this.#followed.set(id, { stop, done })
  }

  /** Stores the frames of a turn until it is over or nobody follows; of one that is not known here, that there are none. */
  async #tell(request: TurnRequest, signal: AbortSignal): Promise<void> {
    const { db } = this.#context
    const turn = this.#known.get(request.message_id)
    const came = new Frames(turn, signal)
    for (let first = 0; ; ) {
      const isEnding = signal.aborted || this.#closing.signal.aborted
      const isLast = came.isOver
      const frames = came.take()
      const batch = { first, count: frames.length, frames: JSON.stringify(frames), last: isLast ? 1 : 0 }
      if (frames.length > 0 || isLast) await db.write(() => storeFrames(request, batch))
      first += frames.length
      if (isLast) this.#told.add(request.message_id)
      if (isLast || isEnding) return
      await sleep(GATHER_MS)
    }
  }
}

/** Frames that have come and were not taken. */
class Frames {
  #came: ChatFrame[] = []
  isOver = false

  constructor(turn: RunningTurn | undefined, signal: AbortSignal) {
    if (turn === undefined) this.isOver = true
    else void this.#read(turn, signal)
  }

  take(): ChatFrame[] {
    return this.#came.splice(0)
  }

  async #read(turn: RunningTurn, signal: AbortSignal): Promise<void> {
    for await (const frame of turn.frames()) {
      if (signal.aborted) return
      this.#came.push(frame)
    }
    this.isOver = true
  }
}

/** What a gateway answers, and what is asked of it. */
function* seenBy(gateway: string): Read<{ answered: ReadonlySet<string>; requests: TurnRequest[] }> {
  return { answered: new Set(yield* answeredBy(gateway)), requests: yield* requestsTo(gateway) }
}
