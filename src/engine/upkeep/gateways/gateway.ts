import { BackgroundService } from '../../base/background-service.js'
import { LEASE_HEARTBEAT_MS, type LeaseInfo } from '../../base/leases.js'
import type { EngineContext } from '../../library/index.js'
import type { Write } from '../../store/program.js'
import {
  countGateways,
  isGatewayAlive,
  isGatewayRegistered,
  recordHeartbeat,
  removeEarlierLockHolders,
  removeGateway,
  removeLostGateways,
} from '../../store/rows/gateways.js'
import { reportLeases } from '../../store/rows/held-leases.js'
import { RECOVERERS } from './recoverers.js'

/** Amount of work that was recovered from lost gateways, by kind; kinds without any are absent. */
type RecoveredCounts = Record<string, number>

/**
 * This engine as other engines on the same database see it: it renews a row, so that no other takes its work, and with
 * each heartbeat it recovers the work of lost gateways.
 */
export class Gateway extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'a heartbeat was not written'
  protected override readonly failureLevel = 'debug'
  readonly #onRecovered: () => void
  readonly #lostCallbacks: (() => void)[] = []
  #count = 1
  #renewedAt = performance.now()

  /** @param taken called when there may be recovered work */
  constructor(context: EngineContext, taken: () => void) {
    super(context)
    this.#onRecovered = taken
  }

  /** Number of gateways, this one included, as of its last heartbeat. */
  get count(): number {
    return Math.max(1, this.#count)
  }

  /** Calls back when other gateways took this one for dead and have taken over its work. */
  onLost(callback: () => void): void {
    this.#lostCallbacks.push(callback)
  }

  /** Inserts the row, and recovers the work of lost gateways. Call it before anything is claimed. */
  override start(): void {
    const { db, instance, now, options, log } = this.context
    db.recover(function* () {
      const { heldLock } = options
      if (heldLock !== undefined) yield* removeEarlierLockHolders(instance, heldLock)
      yield* recordHeartbeat(instance, heldLock)
      // on a full disk the transaction runs later: then only the program has the result
      logRecovered(log, yield* recoverLostWork(instance, now()))
    })
    this.track(this.#countGateways())
    super.start(this.context, LEASE_HEARTBEAT_MS)
  }

  /** Stops in order: remaining claims are released at once. */
  override async stop(): Promise<void> {
    await super.stop()
    const { db, instance } = this.context
    // if the write fails, the next holder of the lock, or the missed heartbeat, ends the claims
    await db.write(() => removeGateway(instance)).catch(() => undefined)
  }

  /** Counts the gateways. Never rejects. */
  async #countGateways(): Promise<void> {
    const { db, isShared, log } = this.context
    if (!isShared) return
    try {
      this.#count = await db.read(countGateways())
    } catch (error) {
      log.debug({ error: String(error) }, 'gateways were not counted')
    }
  }

  /** A slow heartbeat does not delay the next one. */
  protected override intervalMs(): number {
    return Math.max(0, this.#renewedAt + LEASE_HEARTBEAT_MS - performance.now())
  }

  protected override async tick(): Promise<void> {
    this.#renewedAt = performance.now()
    try {
      await this.#renew()
    } finally {
      await this.#countGateways()
    }
  }

  async #renew(): Promise<void> {
    const { db, instance, now, options, log, leases, isShared } = this.context
    const currentLeases = isShared ? leases.listActive() : undefined
    const { wasThere, taken } = await db.write(
      () => renewAndRecover(instance, options.heldLock, now(), currentLeases),
      {
        isUrgent: true,
      },
    )
    if (!wasThere) {
      log.warn({}, 'other gateways took this process for dead and took over its work')
      for (const callback of this.#lostCallbacks) callback()
    }
    logRecovered(log, taken)
    if (Object.keys(taken).length > 0) this.#onRecovered()
  }
}

/**
 * A gateway that slept, or whose clock was moved, finds its own heartbeat too old: the others may have slept too. They
 * get the time of one heartbeat to renew theirs.
 */
function* renewAndRecover(
  instance: string,
  heldLock: string | undefined,
  now: number,
  currentLeases: readonly LeaseInfo[] | undefined,
): Write<{ wasThere: boolean; taken: RecoveredCounts }> {
  const wasThere = yield* isGatewayRegistered(instance)
  const wasAwake = yield* isGatewayAlive(instance)
  yield* recordHeartbeat(instance, heldLock)
  if (currentLeases !== undefined) yield* reportLeases(instance, currentLeases)
  return { wasThere, taken: wasAwake ? yield* recoverLostWork(instance, now) : {} }
}

function* recoverLostWork(instance: string, now: number): Write<RecoveredCounts> {
  yield* removeLostGateways(instance)
  const taken: RecoveredCounts = {}
  for (const { what, recover } of RECOVERERS) {
    const count = yield* recover(now)
    if (count > 0) taken[what] = count
  }
  return taken
}

function logRecovered(log: EngineContext['log'], taken: RecoveredCounts): void {
  if (Object.keys(taken).length > 0) log.info(taken, 'work of lost gateways was recovered')
}
