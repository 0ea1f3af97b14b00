import type { TraceStep } from '../../../contract/gateway/queries.js'

/** Collects the steps of one query run. A step is added when its stage has ended. */
export class TraceRecorder {
  readonly steps: TraceStep[] = []
  readonly #now: () => number

  /** @param now time in milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Times a stage and records it when it succeeds. `describe` computes its metadata. */
  async step<T>(
    name: string,
    stage: () => Promise<T> | T,
    describe: (result: T, durationMs: number) => Record<string, unknown>,
  ): Promise<T> {
    const startedAt = this.#now()
    const started = performance.now()
    const result = await stage()
    const durationMs = Math.round((performance.now() - started) * 100) / 100
    this.add(name, 'ok', startedAt, describe(result, durationMs))
    return result
  }

  add(name: string, status: TraceStep['status'], startedAt: number, metadata: Record<string, unknown>): void {
    this.steps.push({
      name,
      status,
      startedAt: new Date(startedAt).toISOString(),
      endedAt: new Date(this.#now()).toISOString(),
      metadata,
    })
  }
}
