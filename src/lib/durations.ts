/** How long things took: all of them, and how many took at most so many seconds. */
export interface DurationCounts {
  count: number
  seconds: number
  /** cumulative, by rising bounds */
  upTo: readonly { most: number; calls: number }[]
}

/** Counts durations by upper bounds, as a histogram of Prometheus has them. */
export class Durations {
  readonly #bounds: readonly number[]
  /** of each bound what is not within the one before; last what is beyond all */
  readonly #within: number[]
  #seconds = 0

  /** @param bounds in seconds, rising */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#within = new Array<number>(bounds.length + 1).fill(0)
  }

  took(seconds: number): void {
    const found = this.#bounds.findIndex((most) => seconds <= most)
    const place = found < 0 ? this.#bounds.length : found
    this.#within[place] = (this.#within[place] ?? 0) + 1
    this.#seconds += seconds
  }

  counts(): DurationCounts {
    let calls = 0
    const upTo = this.#bounds.map((most, place) => {
      calls += this.#within[place] ?? 0
      return { most, calls }
    })
    return { count: calls + (this.#within.at(-1) ?? 0), seconds: this.#seconds, upTo }
  }
}
