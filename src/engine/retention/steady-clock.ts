const DAY = 24 * 60 * 60 * 1000
const HOUR = 60 * 60 * 1000

/** a wall clock that moves this much more or less than time did was set, not read late */
const JUMP_MS = DAY
/** time without a jump after which the wall clock is believed again */
const STEADY_MS = HOUR

/**
 * Tells whether the wall clock can be trusted to say what is old. A clock that jumped by more than a day in either
 * direction is not, until an hour has passed steadily: what a wrong clock deletes does not come back.
 */
export class SteadyClock {
  readonly #now: () => number
  readonly #monotonic: () => number
  #seen: { wall: number; steady: number }
  #jumpedAt: number | undefined

  /** @param monotonic milliseconds that only grow */
  constructor(now: () => number, monotonic: () => number = () => performance.now()) {
    this.#now = now
    this.#monotonic = monotonic
    this.#seen = { wall: now(), steady: monotonic() }
  }

  /** @returns the time in milliseconds since the epoch, or undefined while it is not believed */
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
