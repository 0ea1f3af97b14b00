import { HEARTBEAT_MS, type KnownLease } from '../base/leases.js'
import { asDeployment } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { beat, countGateways, isCurrent, isThere, removeGateway, removeOfLock, removeSilent } from '../rows/gateways.js'
import { tellLeases } from '../rows/held-leases.js'
import type { Write } from '../storage/program.js'
import { RECOVERERS } from './recoverers.js'

/** How much of what was taken from gateways that are gone, by kind; kinds of which there was nothing are absent. */
type Taken = Record<string, number>

/**
 * This engine, as the others that are open on the same database see it: it has a row there and renews it, so that nobody
 * takes its work, and with each beat it takes the work of those that are gone.
 */
export class Gateway {
  readonly #context: EngineContext
  readonly #taken: () => void
  readonly #lost: (() => void)[] = []
  #timer: NodeJS.Timeout | undefined
  #count = 1
  #beating: Promise<void> = Promise.resolve()

  /** @param taken called when there may be work that others have left */
  constructor(context: EngineContext, taken: () => void) {
    this.#context = context
    this.#taken = taken
  }

  /** How many there are, this one among them, as of its last heartbeat. */
  get count(): number {
    return Math.max(1, this.#count)
  }

  /** Calls back when others took this gateway for dead: what it has in hand is theirs. */
  whenLost(lost: () => void): void {
    this.#lost.push(lost)
  }

  /** Makes the row, and takes up what gateways have left that are gone. Before anything is claimed. */
  start(): void {
    const { db, instance, now, options, log } = this.#context
    db.recover(function* () {
      const { heldLock } = options
      if (heldLock !== undefined) yield* removeOfLock(instance, heldLock)
      yield* beat(instance, heldLock)
      // on a full disk this runs later: then only the program knows what there was
      tell(log, yield* sweep(instance, now()))
    })
    this.#beating = this.#look()
    this.#timer = setInterval(() => {
      this.#beating = asDeployment(() => this.#beating.then(() => this.#beat()).then(() => this.#look()))
    }, HEARTBEAT_MS).unref()
  }

  /** Leaves in order: what is still claimed is anybody's at once. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#beating
    const { db, instance } = this.#context
    // where it cannot be written, the next to hold the lock knows, or the heartbeat is missed
    await db.write(() => removeGateway(instance)).catch(() => undefined)
  }

  /** Counts those that are there. Never rejects. */
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
        log.warn({}, 'others took this process for dead, and took over what it was at')
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
 * Who slept, or whose clock was moved, finds its own beat too old: so may be those of others that slept too. They get the
 * time of one beat to say that they are there.
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
  if (Object.keys(taken).length > 0) log.info(taken, 'work of processes that are gone was taken up')
}
