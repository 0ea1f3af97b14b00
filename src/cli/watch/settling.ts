/** Time without changes before a file is read: editors write in several steps. */
export const SETTLE_MS = 100
/** The same for a file that changed while waiting: a slow program is writing it. */
export const GROWING_MS = 1000
/** Editors that save by renaming leave a moment without the file. */
export const GONE_MS = 250
/** A file without changes for this time needs no second scan. */
const OLD_MS = 2000

interface Seen {
  fingerprint: string
  since: number
  isGrowing: boolean
}

const GONE = 'gone'

/** Debounces changes: stores fingerprints of files until they were unchanged for long enough. Times in milliseconds. */
export class Settling {
  readonly #seen = new Map<string, Seen>()

  /** @returns the delay before the next scan; 0 if the file can be read */
  present(path: string, fingerprint: string, changedAt: number, now: number): number {
    const known = this.#seen.get(path)
    if (known === undefined && now - changedAt > OLD_MS) return 0
    return this.#waitFor(path, fingerprint, now)
  }

  /** @returns the delay before the next scan; 0 if the file counts as deleted */
  gone(path: string, now: number): number {
    return this.#waitFor(path, GONE, now)
  }

  /** Forgets a file without pending changes. */
  forget(path: string): void {
    this.#seen.delete(path)
  }

  #waitFor(path: string, fingerprint: string, now: number): number {
    const before = this.#seen.get(path)
    const isSame = before?.fingerprint === fingerprint
    const seen = isSame
      ? before
      : {
          fingerprint,
          since: now,
          isGrowing: before !== undefined && before.fingerprint !== GONE && fingerprint !== GONE,
        }
    const needed = fingerprint === GONE ? GONE_MS : seen.isGrowing ? GROWING_MS : SETTLE_MS
    const left = seen.since + needed - now
    if (left <= 0) this.#seen.delete(path)
    else this.#seen.set(path, seen)
    return Math.max(0, left)
  }
}
