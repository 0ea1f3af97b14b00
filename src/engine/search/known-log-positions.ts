import { setTimeout as sleep } from 'node:timers/promises'
import { CATCHING_UP } from './degraded-reasons.js'

interface CatchUp {
  /** log entry up to which searches see everything now */
  applied: number
  follow(): Promise<void>
  graceMs: number
}

/** The newest log entry of each space that the indexes of this process know of. */
export class KnownLogPositions {
  readonly #newest = new Map<string, number>()

  note(space: string, seq: number): void {
    this.#newest.set(space, Math.max(seq, this.#newest.get(space) ?? 0))
  }

  forget(space: string): void {
    this.#newest.delete(space)
  }

  /**
   * Catches up with an entry that this process does not know of: one of another process, or one whose announcement was
   * lost. Announced entries are being applied already; a search need not show them and does not wait.
   *
   * @returns the degraded reason if the wait exceeds `graceMs`, else an empty list
   */
  async waitFor(space: string, seq: number, { applied, follow, graceMs }: CatchUp): Promise<string[]> {
    if (seq <= Math.max(applied, this.#newest.get(space) ?? 0)) return []
    const caughtUp = follow().then(
      (): string[] => [],
      () => [CATCHING_UP],
    )
    return await Promise.race([caughtUp, sleep(graceMs, [CATCHING_UP], { ref: false })])
  }
}
