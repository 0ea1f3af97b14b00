const HOUR_MS = 60 * 60 * 1000

/** a wall clock that differs by more than this from the elapsed time was set, not read late */
const JUMP_MS = 24 * HOUR_MS
/** time without a jump after which the wall clock is trusted again */
const STEADY_MS = HOUR_MS

/**
 * Decides whether the wall clock can be trusted for expiry. After a jump by more than a day in either direction it is
 * not trusted for an hour: deletions by a wrong clock cannot be undone.
 */
export class SteadyClock {
  readonly #now: () => number
  readonly #monotonic: () => number
  #seen: { wall: number; steady: number }
  #jumpedAt: number | undefined

  /** @param monotonic monotonic time in milliseconds */
  constructor(now: () => number, monotonic: () => number = () => performance.now()) {
    this.#now = now
    this.#monotonic = monotonic
    this.#seen = { wall: now(), steady: monotonic() }
  }

  /** @returns the time in milliseconds since the epoch, or undefined while it is not trusted */
  read(): number | undefined {
    const wall = this.#now()
    const steady = this.#monotonic()
    const drift = wall - this.#seen.wall - (steady - this.#seen.steady)
    this.#seen = { wall, steady }
    if (Math.abs(drift) > JUMP_MS) this.#jumpedAt = steady
    if (this.#jumpedAt !== undefined && steady - this.#jumpedAt < STEADY_MS) return undefined
    this.#jumpedAt = undefined
    return wall
  }
}
