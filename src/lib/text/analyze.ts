import { stemmer } from 'stemmer'
import { CHINESE_QUESTION_WORDS, DOCUMENT_STOP_WORDS, QUERY_STOP_WORDS } from './stop-words.js'

/**
 * The one text analyser: what the text index, the embedder and the reranker all mean by a term.
 *
 * NFKC, Latin accents folded, lower case, runs of letters and digits. English words are stemmed (Porter).
 * Scripts written without spaces become overlapping pairs of characters. Identifiers (`camelCase`, `snake_case`)
 * give the whole and their parts. A change here asks for a new `ANALYZER_VERSION`, since indexes hold these terms.
 */
export const ANALYZER_VERSION = 1

/** Longer runs are base64, hashes or noise; both sides cut alike, so they still match themselves. */
const MAX_TERM_LENGTH = 64
/** Words remembered with their terms, in each of two generations: English text repeats most of its words. */
const CACHE_WORDS = 32_768

const SEPARATOR = 0
const WORD = 1
const PAIRED = 2
const UNKNOWN = 3

const LETTER = /^[\p{L}\p{M}\p{N}]$/u
const UNSPACED_SCRIPT =
  /^(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|ー)$/u
const NON_ASCII = /[^\x00-\x7f]/
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g
const ACCENTED = /[\u00c0-\u024f\u0370-\u052f\u1e00-\u1fff]|[\u0300-\u036f]/
const ACCENTS = /[\u0300-\u036f]/g
const CONTRACTION = /(?:s|t|d|m|re|ve|ll)(?![\p{L}\p{N}])/iuy
const ASCII_WORD = /^[a-z]+$/

const classes = new Uint8Array(65_536).fill(UNKNOWN)

function classOf(character: string): number {
  if (!LETTER.test(character)) return SEPARATOR
  return UNSPACED_SCRIPT.test(character) ? PAIRED : WORD
}

/** Class of the character at `index`; both halves of a surrogate pair have the class of the pair. */
function classAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit >= 0xd800 && unit <= 0xdfff) {
    const code = text.codePointAt(unit >= 0xdc00 ? index - 1 : index) ?? 0
    return code > 0xffff ? classOf(String.fromCodePoint(code)) : SEPARATOR
  }
  let known = classes[unit] ?? SEPARATOR
  if (known === UNKNOWN) {
    known = classOf(String.fromCharCode(unit))
    classes[unit] = known
  }
  return known
}

function normalise(text: string): string {
  if (!NON_ASCII.test(text)) return text
  const plain = text.normalize('NFKC').replace(INVISIBLE, '')
  return ACCENTED.test(plain) ? plain.normalize('NFD').replace(ACCENTS, '').normalize('NFC') : plain
}

/** Copies a string, so that a remembered word does not hold the whole text it was cut from. */
function detach(text: string): string {
  return text.length < 13 ? text : Buffer.from(text, 'utf16le').toString('utf16le')
}

function stem(word: string): string {
  return ASCII_WORD.test(word) ? stemmer(word) : word
}

/** Parts of an identifier, or nothing when the word is not one (`DNAs` and `iPhone` are words). */
function identifierParts(word: string): string[] {
  const parts = word
    .replace(/_+$/, '')
    .split(/_+/)
    .flatMap((piece) => piece.split(/(?<=[a-z0-9])(?=[A-Z][A-Za-z])|(?<=[A-Z])(?=[A-Z][a-z]{2})/))
  const isIdentifier = parts.length > 1 && (word.includes('_') || parts.every((part) => part.length > 1))
  return isIdentifier ? parts : []
}

/** A word as found in the text, and the terms it stands for; `plain` is what stop lists are asked about. */
interface Word {
  plain: string
  terms: string[]
  stopped: boolean
}

function makeWord(found: string): Word {
  const plain = detach(found.replaceAll('_', '').toLowerCase()).slice(0, MAX_TERM_LENGTH)
  const parts = identifierParts(found)
    .map((part) => part.toLowerCase().slice(0, MAX_TERM_LENGTH))
    .filter((part) => part !== '' && !DOCUMENT_STOP_WORDS.has(part))
    .map((part) => stem(detach(part)))
  return { plain, terms: [stem(plain), ...parts], stopped: DOCUMENT_STOP_WORDS.has(plain) }
}

let young = new Map<string, Word>()
let old = new Map<string, Word>()

function lookUp(found: string): Word {
  const known = young.get(found)
  if (known !== undefined) return known
  const word = old.get(found) ?? makeWord(found)
  if (young.size >= CACHE_WORDS) {
    old = young
    young = new Map()
  }
  young.set(detach(found), word)
  return word
}

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57
const isCapital = (unit: number): boolean => unit >= 65 && unit <= 90
const isWordUnit = (unit: number): boolean => isDigit(unit) || isCapital(unit) || (unit >= 97 && unit <= 122)

/** `1,577` is one number: a comma between digits with exactly three digits after it. */
function isThousandsComma(text: string, index: number): boolean {
  if (text.charCodeAt(index) !== 44 || !isDigit(text.charCodeAt(index - 1))) return false
  for (let i = 1; i <= 3; i++) if (!isDigit(text.charCodeAt(index + i))) return false
  return !isWordUnit(text.charCodeAt(index + 4))
}

/** End of the word that starts at `start`. Underscores inside a word belong to it. */
function wordEnd(text: string, start: number): number {
  let end = start
  for (; end < text.length; end++) {
    const unit = text.charCodeAt(end)
    if (isWordUnit(unit)) continue
    if (unit === 95 ? end > start : unit < 128 ? isThousandsComma(text, end) : classAt(text, end) === WORD) continue
    break
  }
  return end
}

function runEnd(text: string, start: number): number {
  let end = start
  while (end < text.length && text.charCodeAt(end) > 127 && classAt(text, end) === PAIRED) end++
  return end
}

/** Overlapping pairs of a run of characters; a run of one character is its own term. */
function emitPairs(run: string, emit: (term: string) => void): void {
  const characters = Array.from(run.toLowerCase())
  if (characters.length === 1) emit(run)
  for (let i = 1; i < characters.length; i++) emit(`${characters[i - 1]}${characters[i]}`)
}

/** Index after a word and the rest of its contraction or possessive: `'s`, `'t`, `'ll` say nothing of their own. */
function skipContraction(text: string, end: number): number {
  const mark = text.charCodeAt(end)
  if (mark !== 39 && mark !== 0x2019) return end
  CONTRACTION.lastIndex = end + 1
  return CONTRACTION.test(text) ? CONTRACTION.lastIndex : end
}

interface Sink {
  word: (word: Word) => void
  run: (run: string) => void
}

function scan(text: string, sink: Sink): void {
  let index = 0
  while (index < text.length) {
    const unit = text.charCodeAt(index)
    const kind = unit < 128 ? (isWordUnit(unit) ? WORD : SEPARATOR) : classAt(text, index)
    if (kind === SEPARATOR) {
      index++
    } else if (kind === PAIRED) {
      const end = runEnd(text, index)
      sink.run(text.slice(index, end))
      index = end
    } else {
      const end = wordEnd(text, index)
      const found = text.slice(index, end)
      sink.word(lookUp(found.includes(',') ? found.replaceAll(',', '') : found))
      index = skipContraction(text, end)
    }
  }
}

/**
 * Calls `emit` with each term of a document in reading order, stop words left out. Unlike `analyzeDocument` it gives
 * no single characters of unspaced scripts: this is the form for embedding and reranking.
 */
export function forEachTerm(text: string, emit: (term: string) => void): void {
  scan(normalise(text), {
    word: (word) => {
      if (!word.stopped) for (const term of word.terms) emit(term)
    },
    run: (run) => emitPairs(run, emit),
  })
}

/**
 * Terms of a document for the text index, in reading order, stop words left out. Each distinct character of unspaced
 * scripts follows at the end, so that a query of one character can be found. No term holds whitespace.
 */
export function analyzeDocument(text: string): string[] {
  const terms: string[] = []
  const characters = new Set<string>()
  scan(normalise(text), {
    word: (word) => {
      if (!word.stopped) for (const term of word.terms) terms.push(term)
    },
    run: (run) => {
      emitPairs(run, (term) => terms.push(term))
      if (run.length > 1) for (const character of run) characters.add(character)
    },
  })
  for (const character of characters) terms.push(character)
  return terms
}

function queryTerms(text: string, dropped: ReadonlySet<string>): string[] {
  const terms: string[] = []
  scan(text, {
    word: (word) => {
      if (!dropped.has(word.plain)) terms.push(...word.terms)
    },
    run: (run) => emitPairs(run, (term) => terms.push(term)),
  })
  return terms
}

/**
 * Terms of a query in order, repeats kept (a term asked twice weighs twice), question and stop words left out. A query
 * of nothing but such words keeps all of them.
 */
export function analyzeQuery(text: string): string[] {
  const plain = normalise(text)
  const terms = queryTerms(plain.replace(CHINESE_QUESTION_WORDS, ' '), QUERY_STOP_WORDS)
  return terms.length > 0 ? terms : queryTerms(plain, new Set())
}

/** Terms of a query that say what it is about: as `analyzeQuery`, but none of a query of question and stop words alone. */
export function analyzeContent(text: string): string[] {
  return queryTerms(normalise(text).replace(CHINESE_QUESTION_WORDS, ' '), QUERY_STOP_WORDS)
}
