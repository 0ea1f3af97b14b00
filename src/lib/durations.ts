/** Count and sum of durations, and the count up to each bound. */
export interface DurationCounts {
  count: number
  totalSeconds: number
  /** cumulative, in rising order of the bounds in seconds */
  buckets: readonly { maxSeconds: number; calls: number }[]
}

/** Counts durations by upper bounds, as a Prometheus histogram does. */
export class Durations {
  readonly #bounds: readonly number[]
  /** count above the previous bound up to this one; the last entry counts those above all bounds */
  readonly #bucketCounts: number[]
  #seconds = 0

  /** @param bounds in seconds, rising */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#bucketCounts = new Array<number>(bounds.length + 1).fill(0)
  }

  record(seconds: number): void {
    const found = this.#bounds.findIndex((maxSeconds) => seconds <= maxSeconds)
    const index = found < 0 ? this.#bounds.length : found
    this.#bucketCounts[index] = (this.#bucketCounts[index] ?? 0) + 1
    this.#seconds += seconds
  }

  counts(): DurationCounts {
    let calls = 0
    const buckets = this.#bounds.map((maxSeconds, index) => {
      calls += this.#bucketCounts[index] ?? 0
      return { maxSeconds, calls }
    })
    return { count: calls + (this.#bucketCounts.at(-1) ?? 0), totalSeconds: this.#seconds, buckets }
  }
}
