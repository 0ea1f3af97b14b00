import { type DurationCounts, Durations } from '../../lib/durations.js'
import type { Degradation } from './degraded.js'

/** Histogram bounds of waits for a claim, in seconds: from immediately to a wait that an operator should look into. */
const CLAIM_SECONDS = [0.05, 0.25, 1, 5, 15, 60, 300, 1800]

/** Number of answers that had to do without a part, by failure class. */
export interface DegradedCount {
  part: Degradation['part']
  class: Degradation['class']
  answers: number
}

/** Counters of this process since its start, for the operator's metrics. They contain no tenant, space or text. */
export class EngineMetrics {
  readonly #claims = new Durations(CLAIM_SECONDS)
  readonly #degraded = new Map<string, DegradedCount>()
  #answers = 0

  /** Records that a job was claimed, and its wait in milliseconds. */
  recordClaim(waitedMs: number): void {
    this.#claims.record(Math.max(0, waitedMs) / 1000)
  }

  /** Records an answered question, and the parts that it had to do without. */
  recordAnswer(degradations: readonly Degradation[]): void {
    this.#answers++
    // once for each answer, however often a part failed
    const distinct = new Map(degradations.map((one) => [`${one.part} ${one.class}`, one]))
    for (const [name, { part, class: degradedClass }] of distinct) {
      const counted = this.#degraded.get(name) ?? { part, class: degradedClass, answers: 0 }
      counted.answers++
      this.#degraded.set(name, counted)
    }
  }

  getClaimWaits(): DurationCounts {
    return this.#claims.counts()
  }

  getAnswerCounts(): { all: number; degraded: readonly DegradedCount[] } {
    return { all: this.#answers, degraded: [...this.#degraded.values()] }
  }
}
