/** Separates two parts of a text that may belong to one word: a run of letters with another format begins. */
export const SEAM = '\u0001'

const MIN_SLOTS = 1024
const WORD_CHARACTER = /^[\p{L}\p{N}\p{M}]$/u

/** Separates words; is part of a word; is a word by itself; is between parts of a word. */
const SEPARATOR = 1
const PART = 2
const SINGLE = 3
const BETWEEN = 4
/** Kinds of characters by UTF-16 unit; 0 until the first is met. */
const kinds = new Uint8Array(0x10000)

function findKind(code: number): number {
  const isHalf = code >= 0xd800 && code <= 0xdfff
  const isWord = isHalf || WORD_CHARACTER.test(String.fromCharCode(code))
  const isWide = (code >= 0x3041 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff)
  const kind = code === SEAM.charCodeAt(0) ? BETWEEN : !isWord ? SEPARATOR : isWide ? SINGLE : PART
  kinds[code] = kind
  return kind
}

/**
 * Calls `visit` for each word of a text with a hash that ignores the case of ASCII letters, and seams. Words are runs of
 * letters and digits; each Han and Kana character is one.
 */
export function forEachWord(text: string, visit: (hash: number, start: number, end: number) => void): void {
  const table = kinds
  const { length } = text
  let start = -1
  let hash = 0
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index)
    let kind = table[code]
    if (kind === 0) kind = findKind(code)
    if (kind === PART) {
      if (start === -1) {
        start = index
        hash = 0x811c9dc5
      }
      // the case of ASCII letters is one bit
      hash = Math.imul(hash ^ (code | 0x20), 0x01000193)
    } else if (kind !== BETWEEN) {
      if (start !== -1) visit(hash, start, index)
      start = -1
      if (kind === SINGLE) visit(code, index, index + 1)
    }
  }
  if (start !== -1) visit(hash, start, length)
}

/** A multiset of words by their hashes, in typed arrays: a long document has millions of words. */
export class WordCounts {
  #keys = new Int32Array(MIN_SLOTS)
  #counts = new Int32Array(MIN_SLOTS)
  #used = 0

  add(text: string): void {
    forEachWord(text, (hash) => this.#addHash(hash))
  }

  /** Whether there is or was such a word. */
  has(hash: number): boolean {
    return this.#keys[this.#findSlot(hash)] !== 0
  }

  /** Removes one such word. @returns whether there was one */
  take(hash: number): boolean {
    const slot = this.#findSlot(hash)
    const count = this.#counts[slot] ?? 0
    if (count > 0) this.#counts[slot] = count - 1
    return count > 0
  }

  #addHash(hash: number): void {
    const slot = this.#findSlot(hash)
    if (this.#keys[slot] === 0) {
      this.#keys[slot] = hash === 0 ? 1 : hash
      this.#used++
    }
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1
    if (this.#used * 2 > this.#keys.length) this.#grow()
  }

  /** The slot of a hash, or the empty one for it; the key 0 marks empty slots. */
  #findSlot(hash: number): number {
    const key = hash === 0 ? 1 : hash | 0
    const mask = this.#keys.length - 1
    let slot = (key ^ (key >>> 15)) & mask
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const [keys, counts] = [this.#keys, this.#counts]
    this.#keys = new Int32Array(keys.length * 2)
    this.#counts = new Int32Array(keys.length * 2)
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] ?? 0
      if (key === 0) continue
      const slot = this.#findSlot(key)
      this.#keys[slot] = key
      this.#counts[slot] = counts[index] ?? 0
    }
  }
}
