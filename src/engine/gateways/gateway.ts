import { HEARTBEAT_MS, type KnownLease } from '../base/leases.js'
import { asDeployment } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { beat, countGateways, isCurrent, isThere, removeGateway, removeOfLock, removeSilent } from '../rows/gateways.js'
import { tellLeases } from '../rows/held-leases.js'
import type { Write } from '../storage/program.js'
import { RECOVERERS } from './recoverers.js'

/** Amount of work that was recovered from lost gateways, by kind; kinds without any are absent. */
type Taken = Record<string, number>

/**
 * This engine as other engines on the same database see it: it renews a row, so that no other takes its work, and with
 * each heartbeat it recovers the work of lost gateways.
 */
export class Gateway {
  readonly #context: EngineContext
  readonly #taken: () => void
  readonly #lost: (() => void)[] = []
  #timer: NodeJS.Timeout | undefined
  #count = 1
  #beating: Promise<void> = Promise.resolve()

  /** @param taken called when there may be recovered work */
  constructor(context: EngineContext, taken: () => void) {
    this.#context = context
    this.#taken = taken
  }

  /** Number of gateways, this one included, as of its last heartbeat. */
  get count(): number {
    return Math.max(1, this.#count)
  }

  /** Calls back when other gateways took this one for dead and have taken over its work. */
  whenLost(lost: () => void): void {
    this.#lost.push(lost)
  }

  /** Inserts the row, and recovers the work of lost gateways. Call it before anything is claimed. */
  start(): void {
    const { db, instance, now, options, log } = this.#context
    db.recover(function* () {
      const { heldLock } = options
      if (heldLock !== undefined) yield* removeOfLock(instance, heldLock)
      yield* beat(instance, heldLock)
      // on a full disk the transaction runs later: then only the program has the result
      tell(log, yield* sweep(instance, now()))
    })
    this.#beating = this.#look()
    this.#timer = setInterval(() => {
      this.#beating = asDeployment(() => this.#beating.then(() => this.#beat()).then(() => this.#look()))
    }, HEARTBEAT_MS).unref()
  }

  /** Stops in order: remaining claims are released at once. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#beating
    const { db, instance } = this.#context
    // if the write fails, the next holder of the lock, or the missed heartbeat, ends the claims
    await db.write(() => removeGateway(instance)).catch(() => undefined)
  }

  /** Counts the gateways. Never rejects. */
  async #look(): Promise<void> {
    const { db, isShared, log } = this.#context
    if (!isShared) return
    try {
      this.#count = await db.read(countGateways())
    } catch (error) {
      log.debug({ error: String(error) }, 'gateways were not counted')
    }
  }

  /** Never rejects. */
  async #beat(): Promise<void> {
    const { db, instance, now, options, log, leases, isShared } = this.#context
    try {
      const held = isShared ? leases.all() : undefined
      const { wasThere, taken } = await db.write(() => beatAndSweep(instance, options.heldLock, now(), held), {
        isUrgent: true,
      })
      if (!wasThere) {
        log.warn({}, 'other gateways took this process for dead and took over its work')
        for (const lost of this.#lost) lost()
      }
      tell(log, taken)
      if (Object.keys(taken).length > 0) this.#taken()
    } catch (error) {
      log.debug({ error: String(error) }, 'a heartbeat was not written')
    }
  }
}

/**
 * A gateway that slept, or whose clock was moved, finds its own heartbeat too old: the others may have slept too. They
 * get the time of one heartbeat to renew theirs.
 */
function* beatAndSweep(
  instance: string,
  heldLock: string | undefined,
  now: number,
  held: readonly KnownLease[] | undefined,
): Write<{ wasThere: boolean; taken: Taken }> {
  const wasThere = yield* isThere(instance)
  const wasAwake = yield* isCurrent(instance)
  yield* beat(instance, heldLock)
  if (held !== undefined) yield* tellLeases(instance, held)
  return { wasThere, taken: wasAwake ? yield* sweep(instance, now) : {} }
}

function* sweep(instance: string, now: number): Write<Taken> {
  yield* removeSilent(instance)
  const taken: Taken = {}
  for (const { what, recover } of RECOVERERS) {
    const count = yield* recover(now)
    if (count > 0) taken[what] = count
  }
  return taken
}

function tell(log: EngineContext['log'], taken: Taken): void {
  if (Object.keys(taken).length > 0) log.info(taken, 'work of lost gateways was recovered')
}
