import { setTimeout as sleep } from 'node:timers/promises'
import { CATCHING_UP } from './notes.js'

interface Catching {
  /** the entry up to which searches see all now */
  at: number
  follow(): Promise<void>
  graceMs: number
}

/** The newest entry of each space's log that the indexes of this process were told of. */
export class ToldEntries {
  readonly #newest = new Map<string, number>()

  note(space: string, seq: number): void {
    this.#newest.set(space, Math.max(seq, this.#newest.get(space) ?? 0))
  }

  forget(space: string): void {
    this.#newest.delete(space)
  }

  /**
   * Catches up with an entry that nobody here was told of: one of another process, or one whose news was lost. What is under
   * way here is no part of what the search may show, and is not waited for.
   *
   * @returns why the text index is behind, when the grace is over
   */
  async untilSeen(space: string, seq: number, { at, follow, graceMs }: Catching): Promise<string[]> {
    if (seq <= Math.max(at, this.#newest.get(space) ?? 0)) return []
    const seen = follow().then(
      (): string[] => [],
      () => [CATCHING_UP],
    )
    return await Promise.race([seen, sleep(graceMs, [CATCHING_UP], { ref: false })])
  }
}
