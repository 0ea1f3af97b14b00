/** How long a file has to look the same before it is read: editors write in several steps. */
export const SETTLE_MS = 100
/** A file that was seen to change while it was waited for is being written by something slow. */
export const GROWING_MS = 1000
/** Editors that save by renaming leave a moment without the file. */
export const GONE_MS = 250
/** What was changed longer ago than this needs no second look. */
const OLD_MS = 2000

interface Seen {
  print: string
  since: number
  isGrowing: boolean
}

const GONE = 'gone'

/** Remembers how files looked, until they have looked the same for long enough. Times in milliseconds. */
export class Settling {
  readonly #seen = new Map<string, Seen>()

  /** @returns how long to wait before the next look; 0 when the file may be read */
  present(path: string, print: string, changedAt: number, now: number): number {
    const known = this.#seen.get(path)
    if (known === undefined && now - changedAt > OLD_MS) return 0
    return this.#look(path, print, now)
  }

  /** @returns how long to wait before the next look; 0 when the file may be taken as deleted */
  gone(path: string, now: number): number {
    return this.#look(path, GONE, now)
  }

  /** Nothing is to be done about the file. */
  forget(path: string): void {
    this.#seen.delete(path)
  }

  #look(path: string, print: string, now: number): number {
    const before = this.#seen.get(path)
    const isSame = before?.print === print
    const seen = isSame
      ? before
      : { print, since: now, isGrowing: before !== undefined && before.print !== GONE && print !== GONE }
    const needed = print === GONE ? GONE_MS : seen.isGrowing ? GROWING_MS : SETTLE_MS
    const left = seen.since + needed - now
    if (left <= 0) this.#seen.delete(path)
    else this.#seen.set(path, seen)
    return Math.max(0, left)
  }
}
