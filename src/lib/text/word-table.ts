/** Places of a set: what meets in one set gives way to each other, and a look-up never looks further. */
const WAYS = 8
const FNV_OFFSET = 0x811c9dc5 | 0
const FNV_PRIME = 0x01000193

/** Begins the hash of a stretch of text. */
export const HASH_START = FNV_OFFSET

/** Goes on with the hash of a stretch by its next UTF-16 unit. */
export function hashUnit(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, FNV_PRIME)
}

/**
 * Remembers what stretches of text stand for, so that a text is looked through without a string for each of its words:
 * they are found by a hash that the caller makes while it looks for their ends, and then compared unit by unit. Of each
 * set, what is asked for moves to the front, and what comes anew takes the last place.
 */
export class WordTable<T extends object> {
  readonly #size: number
  /** made with the first word: who analyses nothing pays nothing */
  #hashes = new Int32Array(0)
  #spelled: string[] = []
  #values: (T | undefined)[] = []

  /** @param most stretches remembered, a power of two of at least 8 */
  constructor(most: number) {
    this.#size = most
  }

  /** What the stretch of a text stands for, where it is remembered. */
  get(text: string, start: number, end: number, hash: number): T | undefined {
    const first = this.#firstOf(hash)
    for (let at = first; at < first + WAYS; at++) {
      if (this.#hashes[at] !== hash || !isAt(text, start, end, this.#spelled[at])) continue
      const value = this.#values[at]
      if (at > first && value !== undefined) this.#swap(at)
      return value
    }
    return undefined
  }

  /** @param spelled the stretch by itself; it must not hold the text that it was cut from */
  set(spelled: string, hash: number, value: T): void {
    if (this.#values.length === 0) this.#make()
    const first = this.#firstOf(hash)
    let at = first
    while (at < first + WAYS - 1 && this.#values[at] !== undefined) at++
    this.#hashes[at] = hash
    this.#spelled[at] = spelled
    this.#values[at] = value
  }

  #firstOf(hash: number): number {
    // high bits of FNV are mixed better than low ones
    return ((hash ^ (hash >>> 16)) * WAYS) & (this.#size - 1)
  }

  #make(): void {
    this.#hashes = new Int32Array(this.#size)
    this.#spelled = new Array<string>(this.#size).fill('')
    this.#values = new Array<T | undefined>(this.#size).fill(undefined)
  }

  /** With the place before it. */
  #swap(at: number): void {
    const before = at - 1
    const hash = this.#hashes[before] ?? 0
    const spelled = this.#spelled[before] ?? ''
    const value = this.#values[before]
    this.#hashes[before] = this.#hashes[at] ?? 0
    this.#spelled[before] = this.#spelled[at] ?? ''
    this.#values[before] = this.#values[at]
    this.#hashes[at] = hash
    this.#spelled[at] = spelled
    this.#values[at] = value
  }
}

function isAt(text: string, start: number, end: number, spelled: string | undefined): boolean {
  if (spelled === undefined || spelled.length !== end - start) return false
  for (let i = 0; i < spelled.length; i++) if (text.charCodeAt(start + i) !== spelled.charCodeAt(i)) return false
  return true
}
