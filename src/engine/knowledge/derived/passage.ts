import { forEachTermOfParts } from '../../../lib/text/analyze.js'
import { hashTerm, hashTermsOfParts } from '../../../lib/text/hashed-terms.js'
import { splitSentences } from '../../../lib/text/sentences.js'

/** A node as ranking needs it. */
export interface DerivedPassage {
  key: number
  /** document title and heading path */
  title: string
  body: string
}

/**
 * A passage's terms as hashes, with sentence boundaries: a range of `words`, which many passages share. Its title is
 * `[title, body)`, its body `[body, ends)`, and `[ends, end)` has, for each sentence, the number of body terms up to
 * its end.
 */
export interface AnalysedPassage {
  readonly words: Int32Array
  readonly title: number
  readonly body: number
  readonly ends: number
  readonly end: number
}

/** Hash of a term, 32 bits. A query's term and a passage's term collide about once in ten million passages. */
export function termHash(term: string): number {
  return hashTerm(term)
}

/** Buffer for analysing passages of unknown length; only used synchronously. */
let scratch = new Int32Array(4096)
let written = 0

function writeWord(word: number): void {
  if (written === scratch.length) {
    const larger = new Int32Array(2 * scratch.length)
    larger.set(scratch)
    scratch = larger
  }
  scratch[written++] = word
}

const writeTerm = (term: string): void => writeWord(termHash(term))

/** Analyses into `scratch`, up to `written`. */
function analyse({ title, body }: DerivedPassage): Omit<AnalysedPassage, 'words'> {
  written = 0
  let sentences: number[] = []
  let bodyOffset = 0
  const endPart = (part: number): void => {
    if (part === 0) bodyOffset = written
    else if (written - bodyOffset > (sentences.at(-1) ?? 0)) sentences.push(written - bodyOffset)
  }
  const parts = [title, ...splitSentences(body).map(({ start, end }) => body.slice(start, end))]
  if (!hashTermsOfParts(parts, writeWord, endPart)) {
    written = 0
    sentences = []
    forEachTermOfParts(parts, writeTerm, endPart)
  }
  const ends = written
  for (const sentence of sentences) writeWord(sentence)
  return { title: 0, body: bodyOffset, ends, end: written }
}

/** Analyses a passage into hashed terms and sentence boundaries. */
export function analysePassage(passage: DerivedPassage): AnalysedPassage {
  const bounds = analyse(passage)
  return { words: scratch.slice(0, bounds.end), ...bounds }
}

/** Terms that a passage or its title contains, without duplicates, in the order of `terms`. */
export function findContainedTerms({ words, title, ends }: AnalysedPassage, terms: readonly string[]): string[] {
  const termByHash = new Map(terms.map((term) => [termHash(term), term]))
  const contained = new Set<string>()
  for (let index = title; index < ends && contained.size < termByHash.size; index++) {
    const term = termByHash.get(words[index] ?? 0)
    if (term !== undefined) contained.add(term)
  }
  return [...new Set(terms)].filter((term) => contained.has(term))
}

/** About 10,000 passages of 300 words. */
const MAX_CACHE_BYTES = 16 * 1024 * 1024
/** The oldest slab is evicted as a whole, so there are many; one is larger than the longest passage. */
const MAX_SLABS = 16
/** Header words of a passage: its key in two halves, and the ends of its parts. */
const HEADER_WORDS = 5
/** Bytes of an index entry in addition to its words. */
const ENTRY_BYTES = 48
const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT
const HALF = 2 ** 32

interface Slab {
  words: Int32Array
  /** number of passages, including those that were moved on */
  entries: number
  used: number
}

/**
 * Cache of analysed passages by node key, in a few large buffers that are filled one after the other: one buffer per
 * passage would leave the process with fragmented memory. The oldest slab is evicted with the passages that were not
 * used since it became one of the older half; slabs in use stay unchanged. A node's text never changes under its key,
 * so nothing has to be invalidated.
 */
export class PassageCache {
  readonly #slabBytes: number
  /** oldest first */
  readonly #slabs: Slab[] = []
  /** number of evicted slabs */
  #dropped = 0
  /** by key: number of its slab since the start, times the words of a slab, plus its offset there */
  readonly #offsets = new Map<number, number>()

  /** @param maxBytes of passages, including their index entries */
  constructor(maxBytes = MAX_CACHE_BYTES) {
    this.#slabBytes = Math.floor(maxBytes / MAX_SLABS)
  }

  /** The analysed passage, from the cache if possible. */
  get(passage: DerivedPassage): AnalysedPassage {
    return this.#find(passage.key) ?? this.#analyse(passage)
  }

  #find(key: number): AnalysedPassage | undefined {
    const position = this.#offsets.get(key)
    if (position === undefined) return undefined
    const size = this.#slabWords
    const number = Math.floor(position / size)
    const slab = this.#slabs[number - this.#dropped]
    if (slab === undefined) return undefined
    const found = readPassage(slab.words, position % size)
    return number - this.#dropped < this.#slabs.length - MAX_SLABS / 2 ? this.#moveToNewest(key, found) : found
  }

  /** Copies a used passage into the newest slab. */
  #moveToNewest(key: number, { words, title, body, ends, end }: AnalysedPassage): AnalysedPassage {
    const found = words.subarray(title, end)
    return this.#store(key, found, { title: 0, body: body - title, ends: ends - title, end: end - title })
  }

  #analyse(passage: DerivedPassage): AnalysedPassage {
    const bounds = analyse(passage)
    return this.#store(passage.key, scratch.subarray(0, bounds.end), bounds)
  }

  #store(key: number, words: Int32Array, bounds: Omit<AnalysedPassage, 'words'>): AnalysedPassage {
    const length = HEADER_WORDS + words.length
    // a passage larger than a slab is not cached
    if (length * WORD_BYTES + ENTRY_BYTES > this.#slabBytes) return { words: words.slice(), ...bounds }
    const slab = this.#slabFor(length)
    const offset = slab.used
    slab.words[offset] = key % HALF
    slab.words[offset + 1] = Math.floor(key / HALF)
    slab.words[offset + 2] = bounds.body
    slab.words[offset + 3] = bounds.ends
    slab.words[offset + 4] = bounds.end
    slab.words.set(words, offset + HEADER_WORDS)
    slab.used += length
    slab.entries++
    this.#offsets.set(key, (this.#dropped + this.#slabs.length - 1) * this.#slabWords + offset)
    return readPassage(slab.words, offset)
  }

  get #slabWords(): number {
    return Math.floor(this.#slabBytes / WORD_BYTES)
  }

  /** The newest slab, with capacity for this many words. */
  #slabFor(length: number): Slab {
    const newest = this.#slabs.at(-1)
    if (newest !== undefined) {
      const bytes = (newest.used + length) * WORD_BYTES + (newest.entries + 1) * ENTRY_BYTES
      if (bytes <= this.#slabBytes) return newest
    }
    if (this.#slabs.length === MAX_SLABS) this.#dropOldest()
    const slab = { words: new Int32Array(this.#slabWords), entries: 0, used: 0 }
    this.#slabs.push(slab)
    return slab
  }

  /** The buffer is not reused: a query may still read it. */
  #dropOldest(): void {
    const oldest = this.#slabs.shift()
    const base = this.#dropped * this.#slabWords
    this.#dropped++
    if (oldest === undefined) return
    const { words, used } = oldest
    for (let offset = 0; offset < used; offset += HEADER_WORDS + (words[offset + 4] ?? 0)) {
      const key = ((words[offset] ?? 0) >>> 0) + (words[offset + 1] ?? 0) * HALF
      if (this.#offsets.get(key) === base + offset) this.#offsets.delete(key)
    }
  }
}

function readPassage(words: Int32Array, offset: number): AnalysedPassage {
  const title = offset + HEADER_WORDS
  return {
    words,
    title,
    body: title + (words[offset + 2] ?? 0),
    ends: title + (words[offset + 3] ?? 0),
    end: title + (words[offset + 4] ?? 0),
  }
}
