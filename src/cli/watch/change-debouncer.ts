/** Time without changes before a file is read: editors write in several steps. */
export const SETTLE_MS = 100
/** The same for a file that changed while waiting: a slow program is writing it. */
export const GROWING_SETTLE_MS = 1000
/** Editors that save by renaming leave a moment without the file. */
export const MISSING_SETTLE_MS = 250
/** A file without changes for this time needs no second scan. */
const MIN_UNCHANGED_MS = 2000

interface SeenFile {
  fingerprint: string
  /** Time at which a scan first found this fingerprint. */
  since: number
  /** Whether the file changed while its last change was pending. */
  isGrowing: boolean
}

/** Stands for the fingerprint of a missing file. */
const MISSING = 'gone'

/** Debounces changes: stores fingerprints of files until they were unchanged for long enough. Times in milliseconds. */
export class ChangeDebouncer {
  readonly #seen = new Map<string, SeenFile>()

  /** @returns the delay before the next scan; 0 if the file can be read */
  getPresentDelay(path: string, fingerprint: string, changedAt: number, now: number): number {
    if (!this.#seen.has(path) && now - changedAt > MIN_UNCHANGED_MS) return 0
    return this.#computeDelay(path, fingerprint, now)
  }

  /** @returns the delay before the next scan; 0 if the file counts as deleted */
  getMissingDelay(path: string, now: number): number {
    return this.#computeDelay(path, MISSING, now)
  }

  /** Forgets a file without pending changes. */
  forget(path: string): void {
    this.#seen.delete(path)
  }

  #computeDelay(path: string, fingerprint: string, now: number): number {
    const previous = this.#seen.get(path)
    const isSame = previous?.fingerprint === fingerprint
    const seen = isSame
      ? previous
      : {
          fingerprint,
          since: now,
          isGrowing: previous !== undefined && previous.fingerprint !== MISSING && fingerprint !== MISSING,
        }
    const settleMs = fingerprint === MISSING ? MISSING_SETTLE_MS : seen.isGrowing ? GROWING_SETTLE_MS : SETTLE_MS
    const remainingMs = seen.since + settleMs - now
    if (remainingMs <= 0) this.#seen.delete(path)
    else this.#seen.set(path, seen)
    return Math.max(0, remainingMs)
  }
}
