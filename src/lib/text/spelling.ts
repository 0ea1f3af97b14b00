import { distance } from 'fastest-levenshtein'
import { getCommonWordList, loadCommonWords } from './common-words.js'
import { foldAccents } from './fold.js'
import { LANGUAGE_MARKS } from './function-words.js'
import { detectScript, type Language, SCRIPTS, type Script } from './languages.js'
import { DOCUMENT_STOP_WORDS } from './stop-words.js'
import { toBaseTerm } from './words.js'

/** Other forms of a word that a space may contain: of the same derivation, or without a typo. */

/** Shorter words have too many neighbours. */
const MIN_LETTERS = 4
const MIN_LETTERS_TWO_TYPOS = 8
/** Longer words are noise. */
const MAX_LETTERS = 24
const MIN_ROOT = 3
const LATIN = Array.from('abcdefghijklmnopqrstuvwxyz')
/**
 * English derivational endings that Porter's stemmer keeps after short roots. Others (`-al`, `-ion`) change the meaning
 * after short roots: `port`, `portal`, `portion`.
 */
const DERIVED_ENDING = /(?:ers|ors|er|or|ments|ment|ings|ing|ed|es|e|s)$/u
const ADDED_ENDINGS = ['er', 'or', 'ment', 'ing', 'ed', 'e']

/** A form of a word, and its term in documents. */
export interface WordForm {
  text: string
  term: string
  /** whether it results from one of the most frequent kinds of typos */
  isLikely?: boolean
}

const alphabets = new Map<Script, readonly string[]>()

/** Letters of the function words of the script's languages. */
function getAlphabet(script: Script): readonly string[] {
  if (script === 'latin') return LATIN
  const cached = alphabets.get(script)
  if (cached !== undefined) return cached
  const words = SCRIPTS[script].flatMap((language) => LANGUAGE_MARKS[language].functionWords.split(' '))
  const letters = [
    ...new Set(words.filter((word) => detectScript(word) === script).flatMap((word) => [...foldAccents(word)])),
  ]
  alphabets.set(script, letters)
  return letters
}

/** Whether a word or its stem is among the 10,000 most frequent words of a language or of English. */
export function isCommonWord(text: string, language: Language): boolean {
  const forms = [foldAccents(text), toBaseTerm(text, detectScript(text))]
  return getWordLists(language).some((list) => forms.some((form) => getStems(list).has(form)))
}

function getWordLists(language: Language): string[] {
  return [...new Set([getCommonWordList('en'), getCommonWordList(language)])]
}

const stemsByList = new Map<string, ReadonlySet<string>>()

/** The words of a list with their stems. */
function getStems(list: string): ReadonlySet<string> {
  const cached = stemsByList.get(list)
  if (cached !== undefined) return cached
  const words = loadCommonWords(list).map(foldAccents)
  const found = new Set([...words, ...words.map((word) => toBaseTerm(word, detectScript(word)))])
  stemsByList.set(list, found)
  return found
}

/** Forms of an English word with another ending: `owns` and `owner`. */
export function buildDerivedForms(text: string): WordForm[] {
  const [ending = ''] = DERIVED_ENDING.exec(text) ?? []
  const root = text.slice(0, text.length - ending.length)
  if (root.length < MIN_ROOT) return []
  // `tens` from `tenses` is another word
  const base = ending === 'e' || ending === 'es' ? [] : [root]
  return toForms([...base, ...ADDED_ENDINGS.map((added) => root + added)])
}

/** Forms at one typo from a word: swapped, missing, superfluous or wrong letters. The first letter stays. */
export function buildFormsWithoutTypo(text: string, script: Script): WordForm[] {
  const word = foldAccents(text)
  if (word.length < MIN_LETTERS || word.length > MAX_LETTERS) return []
  const likely = new Set(toForms(makeFrequentTypos(word)).map(({ term }) => term))
  // Endings are typed correctly more often than not.
  const words = makeNeighbours(word, getAlphabet(script)).sort(
    (a, b) => countSharedEnding(word, b) - countSharedEnding(word, a),
  )
  return toForms(words).map((form) => ({ ...form, isLikely: likely.has(form.term) }))
}

/**
 * Forms at two typos from a word of at least eight letters: common words, and forms where both typos are of the most
 * frequent kinds. Other words at this distance are often different terms, such as `hypo-` and `hyper-`.
 */
export function buildFormsWithoutTwoTypos(text: string, language: Language): WordForm[] {
  const word = foldAccents(text)
  if (word.length < MIN_LETTERS_TWO_TYPOS || word.length > MAX_LETTERS) return []
  const common = getWordLists(language)
    .flatMap((list) => loadCommonWords(list).map(foldAccents))
    .filter((candidate) => Math.abs(candidate.length - word.length) <= 2 && distance(candidate, word) <= 2)
  const near = makeFrequentTypos(word).flatMap(makeFrequentTypos)
  return toForms([...common, ...near].filter((candidate) => candidate.charAt(0) === word.charAt(0)))
}

/** Count of letters that two words share at their end. */
function countSharedEnding(word: string, other: string): number {
  let shared = 0
  while (shared < word.length && word.at(-1 - shared) === other.at(-1 - shared)) shared++
  return shared
}

/** Results of the most frequent kinds of typos: a letter omitted, doubled, or swapped with the next. */
function makeFrequentTypos(word: string): string[] {
  const letters = [...word]
  return letters.flatMap((letter, index) => {
    const [before, after] = [letters.slice(0, index), letters.slice(index + 1)]
    const [next = '', ...rest] = after
    return [
      [...before, ...after].join(''),
      [...before, letter, letter, ...after].join(''),
      ...(next === '' ? [] : [[...before, next, letter, ...rest].join('')]),
    ]
  })
}

function makeNeighbours(word: string, alphabet: readonly string[]): string[] {
  const letters = [...word]
  const found = makeFrequentTypos(word)
  for (let index = 1; index <= letters.length; index++) {
    const [before, after] = [letters.slice(0, index).join(''), letters.slice(index).join('')]
    const rest = letters.slice(index + 1).join('')
    for (const letter of alphabet) {
      found.push(before + letter + after)
      if (index < letters.length) found.push(before + letter + rest)
    }
  }
  return found.filter(
    (candidate) =>
      candidate !== word && (candidate.startsWith(word.charAt(0)) || candidate.charAt(1) === word.charAt(0)),
  )
}

/** Removes duplicate terms: prefers a common word, otherwise the first. */
function toForms(words: readonly string[]): WordForm[] {
  const forms = new Map<string, WordForm>()
  const common = getStems(getCommonWordList('en'))
  for (const text of words) {
    if (text.length < MIN_ROOT || DOCUMENT_STOP_WORDS.has(text)) continue
    const term = toBaseTerm(text, detectScript(text))
    const cached = forms.get(term)
    if (cached === undefined || (!common.has(cached.text) && common.has(text))) forms.set(term, { text, term })
  }
  return [...forms.values()]
}
