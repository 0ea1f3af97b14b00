import { randomInt } from 'node:crypto'
import { detectDocumentLanguage, LanguageVotes } from './detect.js'
import { LANGUAGES, type Language } from './languages.js'
import { HASH_START, updateHash } from './word-table.js'
import {
  type AnalyzedWord,
  findSignedStart,
  findSignsEnd,
  findWord,
  getClassAt,
  getForm,
  isNameAmpersand,
  isThousandsComma,
  isWordUnit,
  MIN_PART_TOKENS,
  normalize,
  PAIRED,
  skipContraction,
  WORD,
} from './words.js'

/** FNV-1a hash of a term, 32 bits. */
export function hashTerm(term: string): number {
  let hash = HASH_START
  for (let i = 0; i < term.length; i++) hash = updateHash(hash, term.charCodeAt(i))
  return hash
}

/** Count of sets, a power of two. Entries of one set evict each other. */
const SETS = 16_384
const WAYS = 4
/** Fields of an entry: two hashes of the spelling, the hash of its term, its flags, its votes, */
const ENTRY_FIELDS = 8
const SECOND_HASH_FIELD = 1
const TERM_FIELD = 2
const FLAGS_FIELD = 3
const VOTES_FIELD = 4
/** and for the language that was requested last: its number, the hash of the form, and whether its term differs. */
const LANGUAGE_FIELD = 5
const FORM_FIELD = 6
const REST_FIELD = 7
const SET_FIELDS = WAYS * ENTRY_FIELDS

const KNOWN_FLAG = 1
/** too common to be a term */
const STOP_WORD_FLAG = 2
const ENGLISH_FLAG = 4
const FOREIGN_FLAG = 8
/** in the Latin alphabet, so that its language counts */
const LATIN_FLAG = 16
/** an identifier, which has terms for its parts as well */
const IDENTIFIER_FLAG = 32
/** has no term */
const NO_TERM_FLAG = 64
/** in another alphabet */
const OTHER_SCRIPT_FLAG = 128

/**
 * Cache of analysed spellings in one block of memory: a known word costs one access, instead of four for its spelling,
 * object and terms. Two hashes of 32 bits identify a spelling. The second one is seeded at random in each process, so
 * that no text can be crafted to collide with another.
 */
let table = new Int32Array(0)
let words: (AnalyzedWord | undefined)[] = []
let firstTerms: string[] = []
const SECOND_START = randomInt(2 ** 31) | 1
const SECOND_PRIME = (randomInt(2 ** 29) * 4 + 5) | 0
/** whether a known word was evicted from its entry */
let hasEvicted = false

/** Table offsets of the words of the current text. Like all state here, it is never used across an `await`. */
let offsets = new Int32Array(1024)
let offsetCount = 0
const sharedVotes = new LanguageVotes()

interface HashedPart {
  end: number
  english: number
  foreign: number
}

/**
 * Receives the contents of a text: terms of words in their first form, forms in another language, and all terms of an
 * identifier.
 */
interface TermSink {
  /** whether a text of a single part is in one language, as in `forEachTerm` */
  isInOneLanguage?: true
  term(offset: number): void
  form(offset: number, language: Language): void
  identifier(terms: readonly string[]): void
  onPartEnd(part: number): void
}

/**
 * Hashes of the terms of a text in parts, as `forEachTermOfParts` emits them. For ranking, which compares many passages
 * with each question.
 *
 * @param onPartEnd called after the last term of each part
 * @returns false for a text with letters other than Latin ones; then nothing was written
 */
export function hashTermsOfParts(
  parts: readonly string[],
  write: (hash: number) => void,
  onPartEnd: (part: number) => void,
): boolean {
  return emitTextTerms(parts, {
    term: (offset) => write(table[offset + TERM_FIELD] ?? 0),
    form: (offset) => write(table[offset + FORM_FIELD] ?? 0),
    identifier: (terms) => {
      for (const term of terms) write(hashTerm(term))
    },
    onPartEnd,
  })
}

/** Terms of a text as `forEachTerm` emits them; undefined for a text with letters other than Latin ones. */
export function analyzeLatin(text: string): string[] | undefined {
  const terms: string[] = []
  const isLatin = emitTextTerms(text.split('\n'), {
    isInOneLanguage: true,
    term: (offset) => {
      terms.push(firstTerms[offset / ENTRY_FIELDS] ?? '')
    },
    form: (offset, language) => {
      const word = words[offset / ENTRY_FIELDS]
      if (word !== undefined) terms.push(getForm(word, language).stem)
    },
    identifier: (identifierTerms) => {
      terms.push(...identifierTerms)
    },
    onPartEnd: () => {},
  })
  return isLatin ? terms : undefined
}

function emitTextTerms(texts: readonly string[], sink: TermSink): boolean {
  if (table.length === 0) {
    table = new Int32Array(SETS * SET_FIELDS)
    words = new Array<AnalyzedWord | undefined>(SETS * WAYS).fill(undefined)
    firstTerms = new Array<string>(SETS * WAYS).fill('')
  }
  // If words of one text evicted each other, most of them are cached at the second attempt.
  const parts = scanTexts(texts) ?? (hasEvicted ? scanTexts(texts) : undefined)
  if (parts === undefined) return false
  const outerLanguage = detectLanguage(parts)
  let start = 0
  for (const [index, part] of parts.entries()) {
    emitPartTerms(
      start,
      part.end,
      sink.isInOneLanguage === true && parts.length === 1
        ? outerLanguage
        : detectPartLanguage(part, start, outerLanguage),
      sink,
    )
    sink.onPartEnd(index)
    start = part.end
  }
  return true
}

/** See `detectLanguages`. */
function detectLanguage(parts: readonly HashedPart[]): Language {
  let [english, foreign] = [0, 0]
  for (const part of parts) {
    english += part.english
    foreign += part.foreign
  }
  if (foreign <= english) return 'en'
  addVotes(0, offsetCount)
  return detectDocumentLanguage(sharedVotes, 'latin', undefined)
}

/** See `detectPartLanguages`. */
function detectPartLanguage({ end, english, foreign }: HashedPart, start: number, outerLanguage: Language): Language {
  if (end - start < MIN_PART_TOKENS || (outerLanguage === 'en' && foreign < 2 + 2 * english)) return outerLanguage
  addVotes(start, end)
  return detectDocumentLanguage(sharedVotes, 'latin', outerLanguage)
}

function addVotes(start: number, end: number): void {
  sharedVotes.clear()
  for (let i = start; i < end; i++) {
    const offset = offsets[i] ?? 0
    if (((table[offset + FLAGS_FIELD] ?? 0) & LATIN_FLAG) !== 0) sharedVotes.add(table[offset + VOTES_FIELD] ?? 0)
  }
}

/** See `emitPart`. */
function emitPartTerms(start: number, end: number, language: Language, sink: TermSink): void {
  const languageNumber = LANGUAGES.indexOf(language)
  let trailing: number[] | undefined
  for (let i = start; i < end; i++) {
    const offset = offsets[i] ?? 0
    const flags = table[offset + FLAGS_FIELD] ?? 0
    if ((flags & STOP_WORD_FLAG) !== 0) continue
    if ((flags & IDENTIFIER_FLAG) !== 0) sink.identifier(words[offset / ENTRY_FIELDS]?.terms ?? [])
    else if (languageNumber === 0 || (flags & LATIN_FLAG) === 0) sink.term(offset)
    else {
      if (table[offset + LANGUAGE_FIELD] !== languageNumber) setForm(offset, language, languageNumber)
      sink.form(offset, language)
      if (table[offset + REST_FIELD] === 1) {
        trailing ??= []
        trailing.push(offset)
      }
    }
  }
  if (trailing !== undefined) for (const offset of trailing) sink.term(offset)
}

function setForm(offset: number, language: Language, languageNumber: number): void {
  const word = words[offset / ENTRY_FIELDS]
  if (word === undefined) return
  const { stem, rest } = getForm(word, language)
  table[offset + LANGUAGE_FIELD] = languageNumber
  table[offset + FORM_FIELD] = hashTerm(stem)
  table[offset + REST_FIELD] = rest.length
}

/** @returns undefined if only the full analysis can read the text, or if its words evicted each other */
function scanTexts(texts: readonly string[]): HashedPart[] | undefined {
  offsetCount = 0
  hasEvicted = false
  const parts: HashedPart[] = []
  for (const text of texts) {
    const part = scanText(normalize(text))
    if (part === undefined) return undefined
    parts.push(part)
  }
  return hasEvicted ? undefined : parts
}

/** Scans a text as `toTokens` does. */
function scanText(text: string): HashedPart | undefined {
  let [english, foreign] = [0, 0]
  const { length } = text
  for (let index = 0; index < length; ) {
    const unit = text.charCodeAt(index)
    const kind = unit < 128 ? (isWordUnit(unit) ? WORD : 0) : getClassAt(text, index)
    if (kind === PAIRED) return undefined
    const first = kind === WORD ? index : findSignedStart(text, index, unit)
    if (kind !== WORD && first === 0) {
      index++
      continue
    }
    const start = index
    let hash = HASH_START
    let second = SECOND_START
    for (; index < length; index++) {
      const next = text.charCodeAt(index)
      if (index >= first && !isWordUnit(next) && !isInsideWord(text, first, index, next)) break
      hash = updateHash(hash, next)
      second = Math.imul(second ^ next, SECOND_PRIME)
    }
    for (const trailing = findSignsEnd(text, start, index); index < trailing; index++) {
      const sign = text.charCodeAt(index)
      hash = updateHash(hash, sign)
      second = Math.imul(second ^ sign, SECOND_PRIME)
    }
    const offset = findEntry(hash, second) ?? addEntry(findWord(text, start, index, hash), hash, second)
    const flags = table[offset + FLAGS_FIELD] ?? 0
    if ((flags & OTHER_SCRIPT_FLAG) !== 0) return undefined
    if ((flags & NO_TERM_FLAG) === 0) {
      if (offsetCount === offsets.length) {
        const larger = new Int32Array(2 * offsets.length)
        larger.set(offsets)
        offsets = larger
      }
      offsets[offsetCount++] = offset
      if ((flags & ENGLISH_FLAG) !== 0) english++
      if ((flags & FOREIGN_FLAG) !== 0) foreign++
    }
    index = skipContraction(text, index)
  }
  return { end: offsetCount, english, foreign }
}

/** Whether a unit that is no ASCII letter or digit belongs to a word, as in `findWordEnd`. */
function isInsideWord(text: string, start: number, index: number, unit: number): boolean {
  if (unit === 95) return index > start
  return unit < 128 ? isThousandsComma(text, index) || isNameAmpersand(text, index) : getClassAt(text, index) === WORD
}

function toSetOffset(hash: number): number {
  // The high bits of FNV are mixed better than the low ones.
  return ((hash ^ (hash >>> 16)) & (SETS - 1)) * SET_FIELDS
}

function findEntry(hash: number, second: number): number | undefined {
  const first = toSetOffset(hash)
  for (let offset = first; offset < first + SET_FIELDS; offset += ENTRY_FIELDS)
    if (table[offset] === hash && table[offset + SECOND_HASH_FIELD] === second) return offset
  return undefined
}

/** @returns the offset of the new entry in the table */
function addEntry(word: AnalyzedWord, hash: number, second: number): number {
  const [term] = word.terms
  const first = toSetOffset(hash)
  let offset = first
  while (offset < first + SET_FIELDS && table[offset + FLAGS_FIELD] !== 0) offset += ENTRY_FIELDS
  if (offset === first + SET_FIELDS) {
    // Evicts any entry.
    offset = first + ((second >>> 20) & (WAYS - 1)) * ENTRY_FIELDS
    hasEvicted = true
  }
  table[offset] = hash
  table[offset + SECOND_HASH_FIELD] = second
  table[offset + TERM_FIELD] = term === undefined ? 0 : hashTerm(term)
  table[offset + FLAGS_FIELD] =
    KNOWN_FLAG |
    (word.isStopWord ? STOP_WORD_FLAG : 0) |
    (word.english === 1 ? ENGLISH_FLAG : 0) |
    (word.foreign === 1 ? FOREIGN_FLAG : 0) |
    (word.script === 'latin' ? LATIN_FLAG : 0) |
    (word.terms.length > 1 && !word.isStopWord ? IDENTIFIER_FLAG : 0) |
    (term === undefined ? NO_TERM_FLAG : 0) |
    (word.script === undefined || word.script === 'latin' ? 0 : OTHER_SCRIPT_FLAG)
  table[offset + VOTES_FIELD] = word.votes
  table[offset + LANGUAGE_FIELD] = 0
  words[offset / ENTRY_FIELDS] = word
  firstTerms[offset / ENTRY_FIELDS] = term ?? ''
  return offset
}
