import { type DurationCounts, Durations } from '../../lib/durations.js'
import type { Degradation } from './degraded.js'

/** Bounds of waits for a claim, in seconds: from at once to the time after which somebody should look. */
const CLAIM_SECONDS = [0.05, 0.25, 1, 5, 15, 60, 300, 1800]

/** How often answers had to do without a part, and why. */
export interface DegradedCount {
  part: Degradation['part']
  class: Degradation['class']
  answers: number
}

/**
 * What this process counted since its start, for the metrics of its operator. Nothing in it tells whose it was: no tenant,
 * no space, no text.
 */
export class Measures {
  readonly #claims = new Durations(CLAIM_SECONDS)
  readonly #degraded = new Map<string, DegradedCount>()
  #answers = 0

  /** A job was claimed so many milliseconds after it could have been. */
  claimed(waitedMs: number): void {
    this.#claims.took(Math.max(0, waitedMs) / 1000)
  }

  /** A question was answered, without these parts. */
  answered(without: readonly Degradation[]): void {
    this.#answers++
    // once for each answer, however often a part failed
    const distinct = new Map(without.map((one) => [`${one.part} ${one.class}`, one]))
    for (const [name, { part, class: why }] of distinct) {
      const counted = this.#degraded.get(name) ?? { part, class: why, answers: 0 }
      counted.answers++
      this.#degraded.set(name, counted)
    }
  }

  claimWaits(): DurationCounts {
    return this.#claims.counts()
  }

  answers(): { all: number; degraded: readonly DegradedCount[] } {
    return { all: this.#answers, degraded: [...this.#degraded.values()] }
  }
}
