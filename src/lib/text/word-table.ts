/** Entries of a set: they evict each other, and a lookup examines one set only. */
const SET_ENTRIES = 8
const FNV_OFFSET = 0x811c9dc5 | 0
const FNV_PRIME = 0x01000193

/** Initial value of the hash of a range of text. */
export const HASH_START = FNV_OFFSET

/** Updates the hash of a range with its next UTF-16 unit. */
export function updateHash(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, FNV_PRIME)
}

/**
 * Caches values by ranges of text without allocating a string for each word. A lookup uses a hash that the caller
 * computes while it scans for the end of the word, then compares unit by unit. A found entry moves one position to the
 * front of its set, and a new entry takes the last position.
 */
export class WordTable<T extends object> {
  readonly #capacity: number
  /** Allocated with the first word, so that programs without text analysis need no memory. */
  #hashes = new Int32Array(0)
  #spellings: string[] = []
  #values: (T | undefined)[] = []

  /** @param capacity count of ranges, a power of two of at least 8 */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The value of a range of a text, if it is cached. */
  get(text: string, start: number, end: number, hash: number): T | undefined {
    const first = this.#findSet(hash)
    for (let index = first; index < first + SET_ENTRIES; index++) {
      if (this.#hashes[index] !== hash || !isTextAt(text, start, end, this.#spellings[index])) continue
      const value = this.#values[index]
      if (index > first && value !== undefined) this.#swapWithPrevious(index)
      return value
    }
    return undefined
  }

  /** @param spelling a copy of the range, which must not retain the text */
  set(spelling: string, hash: number, value: T): void {
    if (this.#values.length === 0) this.#allocate()
    const first = this.#findSet(hash)
    let index = first
    while (index < first + SET_ENTRIES - 1 && this.#values[index] !== undefined) index++
    this.#hashes[index] = hash
    this.#spellings[index] = spelling
    this.#values[index] = value
  }

  #findSet(hash: number): number {
    // The high bits of FNV are mixed better than the low ones.
    return ((hash ^ (hash >>> 16)) * SET_ENTRIES) & (this.#capacity - 1)
  }

  #allocate(): void {
    this.#hashes = new Int32Array(this.#capacity)
    this.#spellings = new Array<string>(this.#capacity).fill('')
    this.#values = new Array<T | undefined>(this.#capacity).fill(undefined)
  }

  #swapWithPrevious(index: number): void {
    const previous = index - 1
    const hash = this.#hashes[previous] ?? 0
    const spelling = this.#spellings[previous] ?? ''
    const value = this.#values[previous]
    this.#hashes[previous] = this.#hashes[index] ?? 0
    this.#spellings[previous] = this.#spellings[index] ?? ''
    this.#values[previous] = this.#values[index]
    this.#hashes[index] = hash
    this.#spellings[index] = spelling
    this.#values[index] = value
  }
}

function isTextAt(text: string, start: number, end: number, spelling: string | undefined): boolean {
  if (spelling === undefined || spelling.length !== end - start) return false
  for (let i = 0; i < spelling.length; i++) if (text.charCodeAt(start + i) !== spelling.charCodeAt(i)) return false
  return true
}
