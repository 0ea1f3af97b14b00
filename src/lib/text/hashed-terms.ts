import { randomInt } from 'node:crypto'
import { documentLanguage, LanguageVotes } from './detect.js'
import { LANGUAGES, type Language } from './languages.js'
import { HASH_START, hashUnit } from './word-table.js'
import {
  classAt,
  formIn,
  isNameAmpersand,
  isThousandsComma,
  isWordUnit,
  lookUp,
  normalise,
  PAIRED,
  PART_TOKENS,
  signsEnd,
  skipContraction,
  WORD,
  type Word,
} from './words.js'

/** FNV-1a hash of a term, 32 bits. */
export function hashOf(term: string): number {
  let hash = HASH_START
  for (let i = 0; i < term.length; i++) hash = hashUnit(hash, term.charCodeAt(i))
  return hash
}

/** Count of sets, a power of two. Entries of one set evict each other. */
const SETS = 16_384
const WAYS = 4
/** Fields of an entry: two hashes of the spelling, the hash of its term, its flags, its votes, … */
const FIELDS = 8
const SECOND = 1
const TERM = 2
const IS = 3
const VOTES = 4
/** … and for the language that was requested last: its number, the hash of the form, and whether its term differs. */
const IN = 5
const FORM = 6
const REST = 7
const SET_FIELDS = WAYS * FIELDS

const KNOWN = 1
/** too common to be a term */
const STOPPED = 2
const ENGLISH = 4
const FOREIGN = 8
/** in the Latin alphabet, so that its language counts */
const LATIN = 16
/** an identifier, which has terms for its parts as well */
const SEVERAL = 32
/** has no term */
const NOTHING = 64
/** in another alphabet */
const OTHER = 128

/**
 * Cache of analysed spellings in one block of memory: a known word costs one access, instead of four for its spelling,
 * object and terms. Two hashes of 32 bits identify a spelling. The second one is seeded at random in each process, so
 * that no text can be crafted to collide with another.
 */
let table = new Int32Array(0)
let words: (Word | undefined)[] = []
let firstTerms: string[] = []
const SECOND_START = randomInt(2 ** 31) | 1
const SECOND_PRIME = (randomInt(2 ** 29) * 4 + 5) | 0
/** whether a known word was evicted from its entry */
let displaced = false

/** Table offsets of the words of the current text. Like all state here, it is used between two awaits only. */
let read = new Int32Array(1024)
let written = 0
const counted = new LanguageVotes()

interface Part {
  end: number
  english: number
  foreign: number
}

/**
 * Receives the contents of a text: terms of words in their first form, forms in another language, and all terms of an
 * identifier.
 */
interface Taker {
  term(place: number): void
  form(place: number, language: Language): void
  all(terms: readonly string[]): void
  ended(part: number): void
}

/**
 * Hashes of the terms of a text in parts, as `forEachTermOfParts` emits them. For ranking, which compares many passages
 * with each question.
 *
 * @param onPartEnd called after the last term of each part
 * @returns false for a text with letters other than Latin ones; then nothing was written
 */
export function hashTermsOf(
  parts: readonly string[],
  write: (hash: number) => void,
  ended: (part: number) => void,
): boolean {
  return take(parts, hashTaker(write, ended), false)
}

function hashTaker(write: (hash: number) => void, ended: (part: number) => void): Taker {
  return {
    term: (place) => write(table[place + TERM] ?? 0),
    form: (place) => write(table[place + FORM] ?? 0),
    all: (terms) => {
      for (const term of terms) write(hashOf(term))
    },
    ended,
  }
}

/** Terms of a text as `forEachTerm` emits them; undefined for a text with letters other than Latin ones. */
export function latinTermsOf(text: string): string[] | undefined {
  const terms: string[] = []
  const isTaken = take(
    text.split('\n'),
    {
      term: (place) => {
        terms.push(firstTerms[place / FIELDS] ?? '')
      },
      form: (place, language) => {
        const word = words[place / FIELDS]
        if (word !== undefined) terms.push(formIn(word, language).stem)
      },
      all: (several) => {
        terms.push(...several)
      },
      ended: () => {},
    },
    true,
  )
  return isTaken ? terms : undefined
}

/** @param isOne whether a text of a single part is in one language, as in `forEachTerm` */
function take(texts: readonly string[], taker: Taker, isOne: boolean): boolean {
  if (table.length === 0) {
    table = new Int32Array(SETS * SET_FIELDS)
    words = new Array<Word | undefined>(SETS * WAYS).fill(undefined)
    firstTerms = new Array<string>(SETS * WAYS).fill('')
  }
  // If words of one text evicted each other, most of them are cached at the second attempt.
  const parts = readAll(texts) ?? (displaced ? readAll(texts) : undefined)
  if (parts === undefined) return false
  const around = languageOf(parts)
  let from = 0
  for (const [place, part] of parts.entries()) {
    emit(from, part.end, isOne && parts.length === 1 ? around : languageIn(part, from, around), taker)
    taker.ended(place)
    from = part.end
  }
  return true
}

/** See `detectLanguages`. */
function languageOf(parts: readonly Part[]): Language {
  let [english, foreign] = [0, 0]
  for (const part of parts) {
    english += part.english
    foreign += part.foreign
  }
  if (foreign <= english) return 'en'
  vote(0, written)
  return documentLanguage(counted, 'latin', undefined)
}

/** See `detectPartLanguages`. */
function languageIn({ end, english, foreign }: Part, from: number, around: Language): Language {
  if (end - from < PART_TOKENS || (around === 'en' && foreign < 2 + 2 * english)) return around
  vote(from, end)
  return documentLanguage(counted, 'latin', around)
}

function vote(from: number, end: number): void {
  counted.clear()
  for (let i = from; i < end; i++) {
    const place = read[i] ?? 0
    if (((table[place + IS] ?? 0) & LATIN) !== 0) counted.add(table[place + VOTES] ?? 0)
  }
}

/** See `emitPart`. */
function emit(from: number, end: number, language: Language, taker: Taker): void {
  const number = LANGUAGES.indexOf(language)
  let after: number[] | undefined
  for (let i = from; i < end; i++) {
    const place = read[i] ?? 0
    const is = table[place + IS] ?? 0
    if ((is & STOPPED) !== 0) continue
    if ((is & SEVERAL) !== 0) taker.all(words[place / FIELDS]?.terms ?? [])
    else if (number === 0 || (is & LATIN) === 0) taker.term(place)
    else {
      if (table[place + IN] !== number) setForm(place, language, number)
      taker.form(place, language)
      if (table[place + REST] === 1) {
        after ??= []
        after.push(place)
      }
    }
  }
  if (after !== undefined) for (const place of after) taker.term(place)
}

function setForm(place: number, language: Language, number: number): void {
  const word = words[place / FIELDS]
  if (word === undefined) return
  const { stem, rest } = formIn(word, language)
  table[place + IN] = number
  table[place + FORM] = hashOf(stem)
  table[place + REST] = rest.length
}

/** @returns undefined if only the full analysis can read the text, or if its words evicted each other */
function readAll(texts: readonly string[]): Part[] | undefined {
  written = 0
  displaced = false
  const parts: Part[] = []
  for (const text of texts) {
    const part = readPart(normalise(text))
    if (part === undefined) return undefined
    parts.push(part)
  }
  return displaced ? undefined : parts
}

/** Scans a text as `toTokens` does. */
function readPart(text: string): Part | undefined {
  let [english, foreign] = [0, 0]
  const { length } = text
  for (let at = 0; at < length; ) {
    const unit = text.charCodeAt(at)
    const kind = unit < 128 ? (isWordUnit(unit) ? WORD : 0) : classAt(text, at)
    if (kind === PAIRED) return undefined
    if (kind !== WORD) {
      at++
      continue
    }
    const start = at
    let hash = HASH_START
    let second = SECOND_START
    for (; at < length; at++) {
      const next = text.charCodeAt(at)
      if (!isWordUnit(next) && !isInside(text, start, at, next)) break
      hash = hashUnit(hash, next)
      second = Math.imul(second ^ next, SECOND_PRIME)
    }
    for (const after = signsEnd(text, at); at < after; at++) {
      const sign = text.charCodeAt(at)
      hash = hashUnit(hash, sign)
      second = Math.imul(second ^ sign, SECOND_PRIME)
    }
    const place = placeOf(hash, second) ?? remember(text, start, at, hash, second)
    const is = table[place + IS] ?? 0
    if ((is & OTHER) !== 0) return undefined
    if ((is & NOTHING) === 0) {
      if (written === read.length) grow()
      read[written++] = place
      if ((is & ENGLISH) !== 0) english++
      if ((is & FOREIGN) !== 0) foreign++
    }
    at = skipContraction(text, at)
  }
  return { end: written, english, foreign }
}

function grow(): void {
  const larger = new Int32Array(2 * read.length)
  larger.set(read)
  read = larger
}

/** Whether a unit that is no ASCII letter or digit belongs to a word, as in `findWordEnd`. */
function isInside(text: string, start: number, at: number, unit: number): boolean {
  if (unit === 95) return at > start
  return unit < 128 ? isThousandsComma(text, at) || isNameAmpersand(text, at) : classAt(text, at) === WORD
}

function setOf(hash: number): number {
  // The high bits of FNV are mixed better than the low ones.
  return ((hash ^ (hash >>> 16)) & (SETS - 1)) * SET_FIELDS
}

function placeOf(hash: number, second: number): number | undefined {
  const first = setOf(hash)
  for (let place = first; place < first + SET_FIELDS; place += FIELDS)
    if (table[place] === hash && table[place + SECOND] === second) return place
  return undefined
}

/** @returns the offset of the new entry in the table */
function remember(text: string, start: number, end: number, hash: number, second: number): number {
  const word = lookUp(text, start, end, hash)
  const [term] = word.terms
  const first = setOf(hash)
  let place = first
  while (place < first + SET_FIELDS && table[place + IS] !== 0) place += FIELDS
  if (place === first + SET_FIELDS) {
    // Evicts any entry.
    place = first + ((second >>> 20) & (WAYS - 1)) * FIELDS
    displaced = true
  }
  table[place] = hash
  table[place + SECOND] = second
  table[place + TERM] = term === undefined ? 0 : hashOf(term)
  table[place + IS] =
    KNOWN |
    (word.stopped ? STOPPED : 0) |
    (word.english === 1 ? ENGLISH : 0) |
    (word.foreign === 1 ? FOREIGN : 0) |
    (word.script === 'latin' ? LATIN : 0) |
    (word.terms.length > 1 && !word.stopped ? SEVERAL : 0) |
    (term === undefined ? NOTHING : 0) |
    (word.script === undefined || word.script === 'latin' ? 0 : OTHER)
  table[place + VOTES] = word.votes
  table[place + IN] = 0
  words[place / FIELDS] = word
  firstTerms[place / FIELDS] = term ?? ''
  return place
}
