/** Entries of a set: they evict each other, and a lookup examines one set only. */
const WAYS = 8
const FNV_OFFSET = 0x811c9dc5 | 0
const FNV_PRIME = 0x01000193

/** Initial value of the hash of a range of text. */
export const HASH_START = FNV_OFFSET

/** Updates the hash of a range with its next UTF-16 unit. */
export function hashUnit(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, FNV_PRIME)
}

/**
 * Caches values by ranges of text without allocating a string for each word. A lookup uses a hash that the caller
 * computes while it scans for the end of the word, then compares unit by unit. A found entry moves one position to the
 * front of its set, and a new entry takes the last position.
 */
export class WordTable<T extends object> {
  readonly #size: number
  /** Allocated with the first word, so that programs without text analysis need no memory. */
  #hashes = new Int32Array(0)
  #spelled: string[] = []
  #values: (T | undefined)[] = []

  /** @param capacity count of ranges, a power of two of at least 8 */
  constructor(most: number) {
    this.#size = most
  }

  /** The value of a range of a text, if it is cached. */
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

  /** @param spelled a copy of the range; it must not retain the text */
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
    // The high bits of FNV are mixed better than the low ones.
    return ((hash ^ (hash >>> 16)) * WAYS) & (this.#size - 1)
  }

  #make(): void {
    this.#hashes = new Int32Array(this.#size)
    this.#spelled = new Array<string>(this.#size).fill('')
    this.#values = new Array<T | undefined>(this.#size).fill(undefined)
  }

  /** Swaps an entry with the previous one. */
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
