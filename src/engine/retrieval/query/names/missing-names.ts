import { UNSPACED } from '../../../../lib/text/unspaced.js'
import { findNames, type QuestionName } from './question-names.js'

/** A passage with all texts that may name its subject. */
export interface NamedPassage {
  text: string
  /** title of its document and its headings */
  title: string
  /** name of its file, or another name of its document */
  source?: string
}

/** Shorter words must match completely: of four letters the first two are not distinctive. */
const MIN_INFLECTED_LENGTH = 5
/** Number of final letters that inflection and derivation change: `Italy`, `Italian`; `Москва`, `в Москве`. */
const ENDING_LENGTH = 2
/** Minimum length of words that may differ in one letter, and of words that may have two letters swapped. */
const MIN_MISSPELLED_LENGTH = 6
const MIN_SWAPPED_LENGTH = 4
/** Shorter names are not searched in words that were run together. */
const MIN_JOINED_LENGTH = 4
/** Maximum difference in length between a word and the name that it is derived from. */
const MAX_ENDING_LENGTH = 4
const WORD = /[\p{L}\p{N}]+/gu
const ASCII = /^[\x00-\x7f]*$/
const LINK_WORD = /^(?:of|the|and|for|in|de|la|du|des|et|y|und|von)$/
const CAPITAL = /^[\p{Lu}\p{N}]/u

/** Names of the same thing; each may replace the others in its group. */
const ALIASES: readonly (readonly string[])[] = [
  ['us', 'usa', 'u.s.', 'u.s.a.', 'united states', 'america', 'american', 'americans'],
  ['uk', 'u.k.', 'united kingdom', 'great britain', 'britain', 'british', 'england', 'english'],
  ['eu', 'european union', 'europe', 'european'],
  ['wwi', 'world war i', 'first world war', 'great war', '1914'],
  ['wwii', 'ww-ii', 'ww2', 'world war ii', 'second world war', '1939', '1945'],
  ['france', 'french'],
  ['spain', 'spanish', 'spaniards'],
  ['netherlands', 'dutch', 'holland'],
  ['greece', 'greek', 'greeks'],
  ['wales', 'welsh'],
  ['ireland', 'irish'],
  ['switzerland', 'swiss'],
  ['denmark', 'danish', 'danes'],
  ['poland', 'polish', 'poles'],
  ['turkey', 'turkish', 'turks'],
  ['christ', 'christian', 'christianity', 'christians'],
]

/**
 * Finds the names of a question that no passage mentions in its text, headings, document title or file, spelled as in
 * the question: a passage on Amcor does not answer a question about Boeing. A name counts as mentioned when half of its
 * distinctive words occur, inflected, run together (`ULTABEAUTY`), abbreviated or spelled out (`J&J`). Doubtful cases
 * count as mentioned.
 */
export function findMissingNames(question: string, passages: readonly NamedPassage[]): string[] {
  const names = findNames(question)
  if (names.length === 0 || passages.length === 0) return []
  const passageWords = passages.map(toMentionWords)
  return names.filter((name) => !passageWords.some((words) => mentions(words, name))).map(({ name }) => name)
}

/** Prepared texts of a passage in which names are looked up. */
export interface MentionWords {
  /** lower case without accents */
  text: string
  /** distinct words of `text` */
  all: ReadonlySet<string>
  /** words that are capitalised at least once */
  capitalised: ReadonlySet<string>
  /** title and file name with their words run together */
  joined: string
  /** initials of its words in order (`all`), and of its capitalised words (`capital`), without link words */
  initials: { all: string; capital: string }
}

/** Prepares a passage for `mentions`. */
export function toMentionWords({ text, title, source = '' }: NamedPassage): MentionWords {
  const named = `${source}\n${title}`
  const folded = removeAccents(`${named}\n${text}`)
  const inOrder = (folded.match(WORD) ?? []).filter((word) => !LINK_WORD.test(word))
  const initials = inOrder.map((word) => word.slice(0, 1))
  const small = folded.toLowerCase()
  return {
    text: small,
    all: new Set(small.match(WORD)),
    capitalised: new Set(inOrder.filter((word) => CAPITAL.test(word)).map((word) => word.toLowerCase())),
    joined: fold(named).replace(/[^\p{L}\p{N}]/gu, ''),
    initials: {
      all: initials.join('').toLowerCase(),
      capital: initials
        .filter((letter) => CAPITAL.test(letter))
        .join('')
        .toLowerCase(),
    },
  }
}

/** Whether a passage mentions a name. */
export function mentions(words: MentionWords, { name, distinctive }: QuestionName): boolean {
  // Words of a longer name may be everyday words (`Best Buy`), so they must be capitalised, unless the text has no
  // capitals.
  const asNames = distinctive.length > 1 && words.capitalised.size > 0
  if (asNames && words.text.includes(fold(name))) return true
  const all = asNames ? words.capitalised : words.all
  const found = distinctive.filter((word) => containsWord(words, all, fold(word)))
  if (found.length > 0 && 2 * found.length >= distinctive.length) return true
  return containsAlias(words, name) || isSpelledOut(words, name) || isAbbreviated(words, name)
}

function fold(text: string): string {
  return removeAccents(text).toLowerCase()
}

function removeAccents(text: string): string {
  return ASCII.test(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '')
}

function containsWord({ text, joined }: MentionWords, all: ReadonlySet<string>, word: string): boolean {
  if (all.has(word)) return true
  const letters = word.replace(/[^\p{L}\p{N}]/gu, '')
  if (letters === '' || all.has(letters)) return true
  // A name with inner punctuation, or of a script without spaces.
  if ((letters !== word || UNSPACED.test(word)) && text.includes(word)) return true
  if (letters.length >= MIN_JOINED_LENGTH && joined.includes(letters)) return true
  if (all.has(`${letters}s`)) return true
  if (letters.length < MIN_SWAPPED_LENGTH) return false
  const stem = letters.slice(0, Math.max(MIN_INFLECTED_LENGTH - 1, letters.length - ENDING_LENGTH))
  for (const other of all) {
    if (Math.abs(other.length - letters.length) > MAX_ENDING_LENGTH) continue
    if (letters.length >= MIN_INFLECTED_LENGTH && other.startsWith(stem)) return true
    if (isMisspelling(letters, other)) return true
  }
  return false
}

/** Whether two words begin alike and differ in one letter: replaced, added, removed, or swapped with its neighbour. */
function isMisspelling(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a[0] !== b[0]) return false
  let start = 1
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const differing = Math.max(a.length, b.length) - start - end
  // In a short word one more letter makes a different word: `being`, `Boeing`.
  if (differing <= 1) return start > 1 && a.length >= MIN_MISSPELLED_LENGTH
  return differing === 2 && a.length === b.length && a[start] === b[start + 1] && a[start + 1] === b[start]
}

function containsAlias({ all, text }: MentionWords, name: string): boolean {
  const key = fold(name)
  const aliases = ALIASES.find((group) => group.includes(key))
  return aliases?.some((alias) => all.has(alias) || (/[ .]/.test(alias) && text.includes(alias))) ?? false
}

/**
 * Whether the letters of an abbreviation begin consecutive words (`IBM`, `J&J`); two letters must begin capitalised
 * words.
 */
function isSpelledOut({ initials }: MentionWords, name: string): boolean {
  if (!/^\p{Lu}[\p{Lu}&.]{1,6}s?$/u.test(name)) return false
  const letters = fold(name.replace(/s$/u, '')).replace(/\P{L}/gu, '')
  return (letters.length > 2 ? initials.all : initials.capital).includes(letters)
}

/** Whether the initials of a name of several words occur: `Johnson & Johnson` as `J&J`. */
function isAbbreviated({ all, text }: MentionWords, name: string): boolean {
  const words = (name.match(WORD) ?? []).filter((word) => CAPITAL.test(word))
  if (words.length < 2) return false
  const initials = words.map((word) => fold(word).slice(0, 1))
  return all.has(initials.join('')) || (words.length === 2 && text.includes(initials.join('&')))
}
