import { distance } from 'fastest-levenshtein'
import { commonWordList, commonWords } from './common-words.js'
import { foldAccents } from './fold.js'
import { MARKS } from './function-words.js'
import { type Language, SCRIPTS, type Script, scriptOf } from './languages.js'
import { DOCUMENT_STOP_WORDS } from './stop-words.js'
import { baseTerm } from './words.js'

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
const ENDINGS = /(?:ers|ors|er|or|ments|ment|ings|ing|ed|es|e|s)$/u
const ADDED = ['er', 'or', 'ment', 'ing', 'ed', 'e']

/** A form of a word, and its term in documents. */
export interface WordForm {
  said: string
  term: string
  /** whether it results from one of the most frequent kinds of typos */
  isLikely?: boolean
}

const alphabets = new Map<Script, readonly string[]>()

/** Letters of the function words of the script's languages. */
function alphabetOf(script: Script): readonly string[] {
  if (script === 'latin') return LATIN
  const known = alphabets.get(script)
  if (known !== undefined) return known
  const words = SCRIPTS[script].flatMap((language) => MARKS[language].said.split(' '))
  const letters = [
    ...new Set(words.filter((word) => scriptOf(word) === script).flatMap((word) => [...foldAccents(word)])),
  ]
  alphabets.set(script, letters)
  return letters
}

/** Whether a word or its stem is among the 10,000 most frequent words of a language or of English. */
export function isCommonWord(said: string, language: Language): boolean {
  const forms = [foldAccents(said), baseTerm(said, scriptOf(said))]
  return listsOf(language).some((list) => forms.some((form) => stemsIn(list).has(form)))
}

function listsOf(language: Language): string[] {
  return [...new Set([commonWordList('en'), commonWordList(language)])]
}

const stems = new Map<string, ReadonlySet<string>>()

/** The words of a list with their stems. */
function stemsIn(list: string): ReadonlySet<string> {
  const known = stems.get(list)
  if (known !== undefined) return known
  const words = commonWords(list).map(foldAccents)
  const found = new Set([...words, ...words.map((word) => baseTerm(word, scriptOf(word)))])
  stems.set(list, found)
  return found
}

/** Forms of an English word with another ending: `owns` and `owner`. */
export function derivedForms(said: string): WordForm[] {
  const [ending = ''] = ENDINGS.exec(said) ?? []
  const root = said.slice(0, said.length - ending.length)
  if (root.length < MIN_ROOT) return []
  // `tens` from `tenses` is another word
  const base = ending === 'e' || ending === 'es' ? [] : [root]
  return formsOf([...base, ...ADDED.map((added) => root + added)])
}

/** Forms at one typo from a word: swapped, missing, superfluous or wrong letters. The first letter stays. */
export function formsWithoutTypo(said: string, script: Script): WordForm[] {
  const word = foldAccents(said)
  if (word.length < MIN_LETTERS || word.length > MAX_LETTERS) return []
  const likely = new Set(formsOf(frequentSlips(word)).map(({ term }) => term))
  // Endings are typed correctly more often than not.
  const words = neighbours(word, alphabetOf(script)).sort((a, b) => endingOf(word, b) - endingOf(word, a))
  return formsOf(words).map((form) => ({ ...form, isLikely: likely.has(form.term) }))
}

/**
 * Forms at two typos from a word of at least eight letters: common words, and forms where both typos are of the most
 * frequent kinds. Other words at this distance are often different terms, such as `hypo-` and `hyper-`.
 */
export function formsWithoutTwoTypos(said: string, language: Language): WordForm[] {
  const word = foldAccents(said)
  if (word.length < MIN_LETTERS_TWO_TYPOS || word.length > MAX_LETTERS) return []
  const common = listsOf(language)
    .flatMap((list) => commonWords(list).map(foldAccents))
    .filter((one) => Math.abs(one.length - word.length) <= 2 && distance(one, word) <= 2)
  const near = frequentSlips(word).flatMap(frequentSlips)
  return formsOf([...common, ...near].filter((one) => one.charAt(0) === word.charAt(0)))
}

/** Count of letters that two words share at their end. */
function endingOf(one: string, other: string): number {
  let shared = 0
  while (shared < one.length && one.at(-1 - shared) === other.at(-1 - shared)) shared++
  return shared
}

/** Results of the most frequent kinds of typos: a letter omitted, doubled, or swapped with the next. */
function frequentSlips(word: string): string[] {
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

function neighbours(word: string, alphabet: readonly string[]): string[] {
  const letters = [...word]
  const found = frequentSlips(word)
  for (let index = 1; index <= letters.length; index++) {
    const [before, after] = [letters.slice(0, index).join(''), letters.slice(index).join('')]
    const rest = letters.slice(index + 1).join('')
    for (const letter of alphabet) {
      found.push(before + letter + after)
      if (index < letters.length) found.push(before + letter + rest)
    }
  }
  return found.filter((one) => one !== word && (one.startsWith(word.charAt(0)) || one.charAt(1) === word.charAt(0)))
}

/** Removes duplicate terms: prefers a common word, otherwise the first. */
function formsOf(words: readonly string[]): WordForm[] {
  const forms = new Map<string, WordForm>()
  const common = stemsIn(commonWordList('en'))
  for (const said of words) {
    if (said.length < MIN_ROOT || DOCUMENT_STOP_WORDS.has(said)) continue
    const term = baseTerm(said, scriptOf(said))
    const known = forms.get(term)
    if (known === undefined || (!common.has(known.said) && common.has(said))) forms.set(term, { said, term })
  }
  return [...forms.values()]
}
