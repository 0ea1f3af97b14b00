import { forEachTermOf } from '../../lib/text/analyze.js'
import { hashOf, hashTermsOf } from '../../lib/text/hashed-terms.js'
import { splitSentences } from '../../lib/text/sentences.js'

/** A node as ranking needs it. */
export interface Passage {
  key: number
  /** document title and heading path */
  title: string
  body: string
}

/**
 * A passage's terms as numbers, with its sentence borders: a stretch of `words`, which many passages share. Its title is
 * `[title, body)`, its body `[body, ends)`, and `[ends, end)` counts the terms of the body up to the end of each
 * sentence.
 */
export interface AnalysedPassage {
  readonly words: Int32Array
  readonly title: number
  readonly body: number
  readonly ends: number
  readonly end: number
}

/** Hash of a term, 32 bits. Two of a query's terms and a passage's meet by chance once in ten million passages. */
export function termHash(term: string): number {
  return hashOf(term)
}

/** Where passages are analysed before it is known how long they are; used between two awaits only. */
let scratch = new Int32Array(4096)
let written = 0

function write(word: number): void {
  if (written === scratch.length) {
    const larger = new Int32Array(2 * scratch.length)
    larger.set(scratch)
    scratch = larger
  }
  scratch[written++] = word
}

const writeTerm = (term: string): void => write(termHash(term))

/** Analyses into `scratch`, up to `written`. */
function analyse({ title, body }: Passage): Omit<AnalysedPassage, 'words'> {
  written = 0
  let sentences: number[] = []
  let bodyAt = 0
  const ended = (part: number): void => {
    if (part === 0) bodyAt = written
    else if (written - bodyAt > (sentences.at(-1) ?? 0)) sentences.push(written - bodyAt)
  }
  const parts = [title, ...splitSentences(body).map(({ start, end }) => body.slice(start, end))]
  if (!hashTermsOf(parts, write, ended)) {
    written = 0
    sentences = []
    forEachTermOf(parts, writeTerm, ended)
  }
  const ends = written
  for (const sentence of sentences) write(sentence)
  return { title: 0, body: bodyAt, ends, end: written }
}

/** Cuts a passage into hashed terms and sentences. */
export function analysePassage(passage: Passage): AnalysedPassage {
  const places = analyse(passage)
  return { words: scratch.slice(0, places.end), ...places }
}

/** Which of some terms a passage or its title holds, each once, in the order of the terms. */
export function termsHeld({ words, title, ends }: AnalysedPassage, terms: readonly string[]): string[] {
  const wanted = new Map(terms.map((term) => [termHash(term), term]))
  const held = new Set<string>()
  for (let at = title; at < ends && held.size < wanted.size; at++) {
    const term = wanted.get(words[at] ?? 0)
    if (term !== undefined) held.add(term)
  }
  return [...new Set(terms)].filter((term) => held.has(term))
}

/** About 10,000 passages of 300 words. */
const CACHE_BYTES = 16 * 1024 * 1024
/** The oldest gives way as a whole, so they are many; one is more than the longest passage. */
const SLABS = 16
/** Words before each passage: its key, in two halves, and where its parts end. */
const HEADER = 5
/** What the index of an entry takes beside its words. */
const ENTRY_BYTES = 48
const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT
const HALF = 2 ** 32

interface Slab {
  words: Int32Array
  /** passages in it, those that were moved on among them */
  entries: number
  used: number
}

/**
 * Analysed passages by node key, in a few large buffers that fill one after the other: a buffer for each passage would
 * leave the process with holes between small allocations that it never gives back. The oldest slab is dropped with what
 * nobody asked for since it became one of the older half; a slab in hand stays as it is. A node's text never changes
 * under its key, so nothing has to be forgotten.
 */
export class PassageCache {
  readonly #slabBytes: number
  /** oldest first */
  readonly #slabs: Slab[] = []
  /** slabs dropped before the first */
  #dropped = 0
  /** of a key, its slab counted from the first ever times the words of a slab, and its place there */
  readonly #places = new Map<number, number>()

  /** @param maxBytes of passages, with what their index takes */
  constructor(maxBytes = CACHE_BYTES) {
    this.#slabBytes = Math.floor(maxBytes / SLABS)
  }

  /** The passage's terms, analysed now where they are not remembered. */
  of(passage: Passage): AnalysedPassage {
    return this.#known(passage.key) ?? this.#analysed(passage)
  }

  #known(key: number): AnalysedPassage | undefined {
    const place = this.#places.get(key)
    if (place === undefined) return undefined
    const size = this.#slabWords
    const number = Math.floor(place / size)
    const slab = this.#slabs[number - this.#dropped]
    if (slab === undefined) return undefined
    const found = read(slab.words, place % size)
    return number - this.#dropped < this.#slabs.length - SLABS / 2 ? this.#moved(key, found) : found
  }

  /** Into the newest slab, since it was asked for. */
  #moved(key: number, { words, title, body, ends, end }: AnalysedPassage): AnalysedPassage {
    const found = words.subarray(title, end)
    return this.#stored(key, found, { title: 0, body: body - title, ends: ends - title, end: end - title })
  }

  #analysed(passage: Passage): AnalysedPassage {
    const places = analyse(passage)
    return this.#stored(passage.key, scratch.subarray(0, places.end), places)
  }

  #stored(key: number, words: Int32Array, places: Omit<AnalysedPassage, 'words'>): AnalysedPassage {
    const length = HEADER + words.length
    // longer than a whole slab: not remembered
    if (length * WORD_BYTES + ENTRY_BYTES > this.#slabBytes) return { words: words.slice(), ...places }
    const slab = this.#room(length)
    const at = slab.used
    slab.words[at] = key % HALF
    slab.words[at + 1] = Math.floor(key / HALF)
    slab.words[at + 2] = places.body
    slab.words[at + 3] = places.ends
    slab.words[at + 4] = places.end
    slab.words.set(words, at + HEADER)
    slab.used += length
    slab.entries++
    this.#places.set(key, (this.#dropped + this.#slabs.length - 1) * this.#slabWords + at)
    return read(slab.words, at)
  }

  get #slabWords(): number {
    return Math.floor(this.#slabBytes / WORD_BYTES)
  }

  /** The newest slab, with room for so many words. */
  #room(length: number): Slab {
    const newest = this.#slabs.at(-1)
    if (newest !== undefined) {
      const bytes = (newest.used + length) * WORD_BYTES + (newest.entries + 1) * ENTRY_BYTES
      if (bytes <= this.#slabBytes) return newest
    }
    if (this.#slabs.length === SLABS) this.#dropOldest()
    const slab = { words: new Int32Array(this.#slabWords), entries: 0, used: 0 }
    this.#slabs.push(slab)
    return slab
  }

  /** Its buffer is not used again: a query may still read it. */
  #dropOldest(): void {
    const oldest = this.#slabs.shift()
    const base = this.#dropped * this.#slabWords
    this.#dropped++
    if (oldest === undefined) return
    const { words, used } = oldest
    for (let at = 0; at < used; at += HEADER + (words[at + 4] ?? 0)) {
      const key = ((words[at] ?? 0) >>> 0) + (words[at + 1] ?? 0) * HALF
      if (this.#places.get(key) === base + at) this.#places.delete(key)
    }
  }
}

function read(words: Int32Array, at: number): AnalysedPassage {
  const title = at + HEADER
  return {
    words,
    title,
    body: title + (words[at + 2] ?? 0),
    ends: title + (words[at + 3] ?? 0),
    end: title + (words[at + 4] ?? 0),
  }
}
