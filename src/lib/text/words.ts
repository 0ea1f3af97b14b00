import { getVotes, votesForEnglish, votesForOthers } from './detect.js'
import { foldAccents } from './fold.js'
import { detectScript, type Language, SCRIPTS, type Script } from './languages.js'
import { stemEnglish, stemIn } from './stems.js'
import { DOCUMENT_STOP_WORDS } from './stop-words.js'
import { HASH_START, updateHash, WordTable } from './word-table.js'

/** Longer runs are base64, hashes or noise. Documents and questions truncate alike, so they still match. */
const MAX_TERM_LENGTH = 64
/** Count of words that are cached with their terms: English text repeats most of its words. */
const CACHE_WORDS = 65_536
/** Maximum length of a cached word; longer ones are noise that does not recur. */
const MAX_CACHED_LENGTH = 128

/** A part with fewer words says less about its language than the enclosing text. */
export const MIN_PART_TOKENS = 3

const SEPARATOR = 0
/** Class of the characters of words. */
export const WORD = 1
/** Class of scripts that are written without spaces. */
export const PAIRED = 2
const UNKNOWN = 3

const LETTER = /^[\p{L}\p{M}\p{N}]$/u
const UNSPACED_SCRIPT =
  /^(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|ー)$/u
const NON_ASCII = /[^\x00-\x7f]/
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g
/** Signs of names and amounts; the letters and digits around them are terms as well. */
const NAME_SIGNS = /[+#&.\p{Sc} ]+/u
const CURRENCY = /\p{Sc}/u
const CONTRACTION = /(?:s|t|d|m|re|ve|ll)(?![\p{L}\p{N}])/iuy

const classes = new Uint8Array(65_536).fill(UNKNOWN)

function classify(character: string): number {
  if (!LETTER.test(character)) return SEPARATOR
  return UNSPACED_SCRIPT.test(character) ? PAIRED : WORD
}

/** Class of the character at `index`; both halves of a surrogate pair have the class of the pair. */
export function getClassAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  if (unit >= 0xd800 && unit <= 0xdfff) {
    const code = text.codePointAt(unit >= 0xdc00 ? index - 1 : index) ?? 0
    return code > 0xffff ? classify(String.fromCodePoint(code)) : SEPARATOR
  }
  let cached = classes[unit] ?? SEPARATOR
  if (cached === UNKNOWN) {
    cached = classify(String.fromCharCode(unit))
    classes[unit] = cached
  }
  return cached
}

/** Applies NFKC and removes invisible characters. Accents stay, because the language and the stem depend on them. */
export function normalize(text: string): string {
  return NON_ASCII.test(text) ? text.normalize('NFKC').replace(INVISIBLE, '') : text
}

/** Copies a string, so that a cached word does not retain the text that contains it. */
function detach(text: string): string {
  return text.length < 13 ? text : Buffer.from(text, 'utf16le').toString('utf16le')
}

/** Splits an identifier into its parts; empty if the word is not an identifier (`DNAs` and `iPhone` are words). */
function splitIdentifier(word: string): string[] {
  const parts = word
    .replace(/_+$/, '')
    .split(/_+/)
    .flatMap((piece) => piece.split(/(?<=[a-z0-9])(?=[A-Z][A-Za-z])|(?<=[A-Z])(?=[A-Z][a-z]{2})/))
  const isIdentifier = parts.length > 1 && (word.includes('_') || parts.every((part) => part.length > 1))
  return isIdentifier ? parts : []
}

/** A word of a text with its analysis. */
export interface AnalyzedWord {
  /** lower case with its accents; the form of lists and stemmers */
  text: string
  /**
   * language-independent terms: the stem in the first language of the script, accents folded, and the parts of an
   * identifier
   */
  terms: string[]
  /** too common in English to be indexed */
  isStopWord: boolean
  /** for languages, see `getVotes` */
  votes: number
  script: Script | undefined
  /** 1 if it votes for English, and 1 if it votes for any other language */
  english: number
  foreign: number
  /** whether it is of a non-Latin alphabet that several languages share */
  isSharedScript: boolean
  /** its forms in other languages, added on demand */
  otherForms: OtherForm[] | undefined
}

/** A word in a language other than the first of its script. */
export interface OtherForm {
  language: Language
  /** accents folded */
  stem: string
  /** the word's `terms` that differ from this stem */
  rest: readonly string[]
}

/** The language-independent term of a word. */
export function toBaseTerm(text: string, script: Script | undefined): string {
  if (script === undefined || script === 'latin') return stemEnglish(foldAccents(text))
  const [first] = SCRIPTS[script]
  return foldAccents(stemIn(text, first))
}

/** The amount of a currency in one form: `$50`, `$ 50` and `50 $` are `$50`. Other words are unchanged. */
function normalizeAmount(spelling: string): string {
  const [sign] = CURRENCY.exec(spelling) ?? []
  return sign === undefined ? spelling : sign + spelling.replace(sign, '').trim()
}

function makeWord(spelling: string): AnalyzedWord {
  const lowerCase = normalizeAmount(spelling).replaceAll('_', '').toLowerCase().replaceAll('i\u0307', 'i')
  const text = detach(lowerCase).slice(0, MAX_TERM_LENGTH)
  const script = detectScript(text)
  const parts = (NAME_SIGNS.test(spelling) ? spelling.split(NAME_SIGNS) : splitIdentifier(spelling))
    .map((part) => foldAccents(part.toLowerCase()).slice(0, MAX_TERM_LENGTH))
    .filter((part) => part !== '' && !DOCUMENT_STOP_WORDS.has(part))
    .map((part) => stemEnglish(detach(part)))
  const terms = [toBaseTerm(text, script), ...parts].filter((term) => term !== '')
  const votes = script === undefined ? 0 : getVotes(text)
  // A word of several parts is a name, and names are not inflected.
  const stemmedScript = parts.length > 0 ? undefined : script
  return {
    text,
    terms,
    isStopWord: DOCUMENT_STOP_WORDS.has(foldAccents(text)),
    votes,
    script: stemmedScript,
    otherForms: undefined,
    english: votesForEnglish(votes) ? 1 : 0,
    foreign: votesForOthers(votes) ? 1 : 0,
    isSharedScript: stemmedScript !== undefined && stemmedScript !== 'latin' && SCRIPTS[stemmedScript].length > 1,
  }
}

/** The form of a word in a language other than the first of its script. */
export function getForm(word: AnalyzedWord, language: Language): OtherForm {
  word.otherForms ??= []
  // A space has few languages: a linear search costs less than a map.
  for (let i = 0; i < word.otherForms.length; i++) {
    const cached = word.otherForms[i]
    if (cached?.language === language) return cached
  }
  const stem = foldAccents(stemIn(word.text, language))
  const form = { language, stem, rest: word.terms.filter((term) => term !== stem) }
  word.otherForms.push(form)
  return form
}

const wordCache = new WordTable<AnalyzedWord>(CACHE_WORDS)

/**
 * Finds or makes the word of a range of text.
 *
 * @param hash hash of the range
 */
export function findWord(text: string, start: number, end: number, hash: number): AnalyzedWord {
  const cached = wordCache.get(text, start, end, hash)
  if (cached !== undefined) return cached
  const spelling = text.slice(start, end)
  const word = makeWord(spelling.replaceAll(',', ''))
  if (spelling.length <= MAX_CACHED_LENGTH) wordCache.set(detach(spelling), hash, word)
  return word
}

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57
const isCapital = (unit: number): boolean => unit >= 65 && unit <= 90
export const isWordUnit = (unit: number): boolean => isDigit(unit) || isCapital(unit) || (unit >= 97 && unit <= 122)

/** `1,577` is one number: a comma between digits with exactly three digits after it. */
export function isThousandsComma(text: string, index: number): boolean {
  if (text.charCodeAt(index) !== COMMA || !isDigit(text.charCodeAt(index - 1))) return false
  for (let i = 1; i <= 3; i++) if (!isDigit(text.charCodeAt(index + i))) return false
  return !isWordUnit(text.charCodeAt(index + 4))
}

const PLUS = 43
const HASH = 35
const AMPERSAND = 38
const COMMA = 44
const DOT = 46
const SPACE = 32

/** `R&D` and `AT&T` are one name: an ampersand between capitals. */
export function isNameAmpersand(text: string, index: number): boolean {
  return (
    text.charCodeAt(index) === AMPERSAND &&
    isCapital(text.charCodeAt(index - 1)) &&
    isCapital(text.charCodeAt(index + 1))
  )
}

/** `$`, the signs of Latin-1, and the block of currency signs. */
const isCurrency = (unit: number): boolean =>
  unit === 36 || (unit >= 0xa2 && unit <= 0xa5) || (unit >= 0x20a0 && unit <= 0x20cf)

const isWordAt = (text: string, index: number): boolean => index < text.length && getClassAt(text, index) !== SEPARATOR

/**
 * Index of the first letter of a name or digit of an amount that starts with the sign at `index`: `.NET`, `$50`, `€ 50`.
 * In `end.Next` and `...more` the dot separates words.
 *
 * @returns 0 if the sign separates words
 */
export function findSignedStart(text: string, index: number, unit: number): number {
  if (unit === DOT) {
    const isFirst = index === 0 || (text.charCodeAt(index - 1) !== DOT && !isWordAt(text, index - 1))
    const next = text.charCodeAt(index + 1)
    return isFirst && isWordUnit(next) && !isDigit(next) ? index + 1 : 0
  }
  if (!isCurrency(unit)) return 0
  const first = text.charCodeAt(index + 1) === SPACE ? index + 2 : index + 1
  return isDigit(text.charCodeAt(first)) ? first : 0
}

/** Whether the digits at `start` follow a number and its point or comma. */
const isDecimalPart = (text: string, start: number): boolean =>
  (text.charCodeAt(start - 1) === DOT || text.charCodeAt(start - 1) === COMMA) && isDigit(text.charCodeAt(start - 2))

/** Index after the signs at the end of a name or amount: `C++`, `C#`, `A+`, `50 €`. In `C#4` they separate words. */
export function findSignsEnd(text: string, start: number, end: number): number {
  const unit = text.charCodeAt(end)
  if (isDigit(text.charCodeAt(start))) {
    if (isDecimalPart(text, start)) return end
    const sign = unit === SPACE ? end + 1 : end
    return isCurrency(text.charCodeAt(sign)) && !isDigit(text.charCodeAt(sign + 1)) ? sign + 1 : end
  }
  if ((unit !== PLUS && unit !== HASH) || isDigit(text.charCodeAt(end - 1))) return end
  const after = unit === PLUS && text.charCodeAt(end + 1) === PLUS ? end + 2 : end + 1
  return isWordAt(text, after) || text.charCodeAt(after) === unit ? end : after
}

/** Hash of the word that `findWordEnd` scanned last. */
let lastHash = HASH_START

/**
 * End of the word that starts at `start`. Underscores inside a word belong to it.
 *
 * @param first index of its first letter or digit
 */
function findWordEnd(text: string, start: number, first: number): number {
  let end = start
  let hash = HASH_START
  for (; end < first; end++) hash = updateHash(hash, text.charCodeAt(end))
  for (; end < text.length; end++) {
    const unit = text.charCodeAt(end)
    if (!isWordUnit(unit)) {
      const isInside =
        unit === 95
          ? end > first
          : unit < 128
            ? isThousandsComma(text, end) || isNameAmpersand(text, end)
            : getClassAt(text, end) === WORD
      if (!isInside) break
    }
    hash = updateHash(hash, unit)
  }
  const after = findSignsEnd(text, start, end)
  for (; end < after; end++) hash = updateHash(hash, text.charCodeAt(end))
  lastHash = hash
  return end
}

function findRunEnd(text: string, start: number): number {
  let end = start
  while (end < text.length && text.charCodeAt(end) > 127 && getClassAt(text, end) === PAIRED) end++
  return end
}

/** Index after a word and the rest of its contraction or possessive: `'s`, `'t` and `'ll` have no content. */
export function skipContraction(text: string, end: number): number {
  const mark = text.charCodeAt(end)
  if (mark !== 39 && mark !== 0x2019) return end
  CONTRACTION.lastIndex = end + 1
  return CONTRACTION.test(text) ? CONTRACTION.lastIndex : end
}

/** A word, or a run of an unspaced script. */
export type Token = AnalyzedWord | string

/** Splits a normalised text into tokens, in reading order. */
export function toTokens(text: string): Token[] {
  const tokens: Token[] = []
  let index = 0
  while (index < text.length) {
    const unit = text.charCodeAt(index)
    const kind = unit < 128 ? (isWordUnit(unit) ? WORD : SEPARATOR) : getClassAt(text, index)
    const first = kind === SEPARATOR ? findSignedStart(text, index, unit) : index
    if (kind === SEPARATOR && first === 0) {
      index++
    } else if (kind === PAIRED) {
      const end = findRunEnd(text, index)
      tokens.push(text.slice(index, end))
      index = end
    } else {
      const end = findWordEnd(text, index, first)
      const word = findWord(text, index, end, lastHash)
      // A separate accent, or one on a character of an unspaced script, is not a word.
      if (word.terms.length > 0) tokens.push(word)
      index = skipContraction(text, end)
    }
  }
  return tokens
}
