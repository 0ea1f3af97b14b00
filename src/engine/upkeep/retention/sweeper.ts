import { setTimeout as sleep } from 'node:timers/promises'
import { BackgroundService } from '../../base/background-service.js'
import {
  type EngineContext,
  getRetentionRules,
  type RetentionRules,
  removeExpiredAnswers,
  runInSpace,
  sweepObjects,
} from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import { NOTHING_REMOVED, type RemovalSlice } from '../../store/slices.js'
import { findNextSpace } from '../rows/retention/spaces.js'
import { SteadyClock } from './steady-clock.js'
import { STEPS } from './steps.js'

/** a daemon that was just started serves its first requests undisturbed */
const FIRST_RUN_MS = 60_000
/** pause between two slices: the clean-up takes at most about half of the event loop */
const PAUSE_MS = 5

/**
 * The background clean-up: periodically visits all spaces and removes, slice by slice, what has outlived the policy. It
 * keeps no state: the next run, in any process, continues an interrupted one.
 */
export class RetentionSweeper extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'the clean-up failed'
  protected override readonly failureLevel = 'error'
  readonly #clock: SteadyClock

  constructor(context: EngineContext) {
    super(context)
    this.#clock = new SteadyClock(context.now)
  }

  override start(): void {
    super.start(this.context, Math.min(FIRST_RUN_MS, this.intervalMs()))
  }

  protected override intervalMs(): number {
    return this.context.options.retention.intervalMs
  }

  protected override async tick(): Promise<void> {
    const { log } = this.context
    const now = this.#clock.read()
    if (now === undefined) {
      log.warn({}, 'the clock jumped by more than a day: nothing is cleaned up before it has been steady for an hour')
      return
    }
    const counts: Record<string, number> = {}
    try {
      await this.#sweep(now, counts)
    } finally {
      if (Object.keys(counts).length > 0) {
        log.info(counts, 'expired data was removed')
        this.context.wake() // reclaims the space that the rows left
      }
    }
  }

  async #sweep(now: number, counts: Record<string, number>): Promise<void> {
    const { db, options } = this.context
    const { batchRows } = options.retention
    const signal = this.stopSignal
    await this.#repeat('answers', counts, () => removeExpiredAnswers(db, now, batchRows))
    await this.#repeat('objects', counts, () => sweepObjects(this.context, now, signal))
    let after = 0
    for (;;) {
      const next = await db.read(findNextSpace(after))
      if (next === undefined || signal.aborted) return
      after = next.key
      for (const [name, step] of STEPS)
        await this.#repeat(name, counts, () =>
          runInSpace(db, after, async () => {
            // a space may be deleted, and a policy changed, during a run
            const target = await db.read(findSpaceAndRules(after))
            if (target === undefined) return NOTHING_REMOVED
            return step({ context: this.context, ...target, now, batchRows, signal })
          }),
        )
    }
  }

  /** Runs slices until there are no more. A step that fails leaves its work to the next run. */
  async #repeat(name: string, counts: Record<string, number>, slice: () => Promise<RemovalSlice>): Promise<void> {
    const signal = this.stopSignal
    try {
      while (!signal.aborted) {
        const { removed, more } = await slice()
        if (removed > 0) counts[name] = (counts[name] ?? 0) + removed
        if (!more) return
        await sleep(PAUSE_MS, undefined, { signal, ref: false })
      }
    } catch (error) {
      if (signal.aborted) throw error
      this.context.log.warn({ step: name, error: String(error) }, 'a step of the clean-up failed')
    }
  }
}

function* findSpaceAndRules(spaceKey: number): Read<{ space: SpaceRow; rules: RetentionRules } | undefined> {
  const space = yield* findSpaceByKey(spaceKey)
  return space === undefined ? undefined : { space, rules: yield* getRetentionRules(space.key) }
}
