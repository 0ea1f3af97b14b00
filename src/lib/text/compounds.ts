import { foldAccents } from './fold.js'
import type { Language } from './languages.js'
import { stemEnglish, stemIn } from './stems.js'
import { getQuestionStopWords } from './stop-words.js'

/**
 * Compounds of German and its neighbours: `Urlaubsanspruch` means `Anspruch auf Urlaub`. The vocabulary of the space
 * replaces a dictionary: it decides where a word is split and whether the compound of two words exists. A word is split
 * where both parts are terms of the space and the geometric mean of their frequencies is largest, and only if that mean
 * is not below the frequency of the compound (Koehn and Knight, Empirical Methods for Compound Splitting, EACL 2003).
 */

/** Letters that link the two parts. Stemmers take most of them for an ending. */
const LINKS = {
  de: ['', 's', 'es', 'n', 'en', 'er', 'e', 'ens', 'ns'],
  nl: ['', 's', 'en', 'n', 'e', 'er'],
  sv: ['', 's', 'e'],
  da: ['', 's', 'e'],
  no: ['', 's', 'e'],
  fi: ['', 'n', 's'],
} as const satisfies Partial<Record<Language, readonly string[]>>

type CompoundLanguage = keyof typeof LINKS

/** Endings that a word loses as the first part of a compound: `Parken` in `Parkgebühr`, `arbete` in `arbetstid`. */
const ENDINGS: Readonly<Record<CompoundLanguage, readonly string[]>> = {
  de: ['e', 'n', 'en', 's', 'es', 'er'],
  nl: ['e', 'en', 's'],
  sv: ['a', 'e', 'n', 'en', 'et', 't', 'ar', 'or', 'er'],
  da: ['e', 'n', 'en', 'et', 't', 'er'],
  no: ['e', 'n', 'en', 'et', 't', 'a', 'er'],
  fi: ['n', 'nen', 'en'],
}

/**
 * Words that are in most texts of a language and in few of others. They show whether a space contains that language.
 */
const TYPICAL_WORDS: Readonly<Record<CompoundLanguage, readonly string[]>> = {
  de: ['und', 'der', 'das', 'nicht', 'ist', 'für', 'auf'],
  nl: ['een', 'het', 'van', 'niet', 'voor', 'zijn'],
  sv: ['och', 'att', 'som', 'inte', 'för', 'är'],
  da: ['og', 'ikke', 'til', 'blev', 'på', 'ved'],
  no: ['og', 'ikke', 'til', 'ble', 'på', 'ved'],
  fi: ['ja', 'ei', 'että', 'tai', 'ovat', 'myös'],
}
/** Minimum occurrences of these words for each passage of a space that contains the language. */
const MIN_TYPICAL_PER_PASSAGE = 0.05
const MIN_TYPICAL_COUNT = 2

/** Derivational endings. None is a part of a compound, although texts may contain it as a word. */
const AFFIXES = new Set(
  (
    'heit keit schaft ung ungen lich liche lichen isch ische ischen chen lein bar sam haft los lose fach mäßig weise ' +
    'artig heid heden schap lijk lijke loos ing ingen het heter skap lig liga lige ligt ning ningar ninger else elser ' +
    'hed heder skab skaber llinen lliset minen misen'
  ).split(' '),
)

/** Minimum letters of the parts of a compound, one of which may be short, and of the compound. */
const MIN_PART_LETTERS = 4
const MIN_SHORT_PART_LETTERS = 3
const MIN_COMPOUND_LETTERS = MIN_PART_LETTERS + MIN_SHORT_PART_LETTERS
/** Maximum letters; longer words are noise. */
const MAX_LETTERS = 40
/** Maximum content words of a question that are considered, and maximum distance of two words that form a compound. */
const MAX_WORDS = 16
const MAX_WORD_DISTANCE = 2
const MAX_REWORDINGS = 16

/** A word of a question in lower case with its accents, and its search term. */
interface QuestionWord {
  text: string
  term: string
}

/** The words of a question that may be compounds or parts of one. */
export interface CompoundQuestion {
  words: readonly QuestionWord[]
  /** possible languages; if uncertain, the space has to contain the language */
  languages: readonly CompoundLanguage[]
  isCertain: boolean
  /** rewordings by other means: corrections of typos */
  otherRewordings?: readonly Rewording[]
}

/** Document terms that together mean the same as query terms: the parts of a compound, or the compound of two parts. */
export interface Rewording {
  queryTerms: readonly string[]
  documentTerms: readonly string[]
}

export const COMPOUND_LANGUAGES: readonly CompoundLanguage[] = ['de', 'nl', 'sv', 'da', 'no', 'fi']

/**
 * Finds rewordings of a question in the vocabulary of a space.
 *
 * @param frequencyOf number of passages of the space that contain a term
 * @param passages number of passages of the space
 */
export function findRewordings(
  { words, languages, isCertain, otherRewordings = [] }: CompoundQuestion,
  frequencyOf: (term: string) => number,
  passageCount: number,
): Rewording[] {
  const frequencies = new Map<string, number>()
  const getFrequency = (term: string): number => {
    const found = frequencies.get(term) ?? frequencyOf(term)
    frequencies.set(term, found)
    return found
  }
  const considered = words.slice(0, MAX_WORDS)
  const found = new Map<string, Rewording>(otherRewordings.map((rewording) => [toRewordingKey(rewording), rewording]))
  for (const language of languages) {
    if (!isCertain && !containsLanguage(language, getFrequency, passageCount)) continue
    for (const rewording of [
      ...splitCompounds(considered, language, getFrequency),
      ...joinWords(considered, language, getFrequency),
    ])
      found.set(toRewordingKey(rewording), rewording)
  }
  return [...found.values()].slice(0, MAX_REWORDINGS)
}

function toRewordingKey({ queryTerms, documentTerms }: Rewording): string {
  return `${queryTerms.join(' ')}=${[...documentTerms].sort().join(' ')}`
}

/** Adds to the terms of a text the query terms that it contains in other words. */
export function addReworded(terms: Set<string>, rewordings: readonly Rewording[] = []): void {
  const matching = rewordings.filter(({ documentTerms }) => documentTerms.every((term) => terms.has(term)))
  for (const { queryTerms } of matching) for (const term of queryTerms) terms.add(term)
}

function containsLanguage(
  language: CompoundLanguage,
  getFrequency: (term: string) => number,
  passageCount: number,
): boolean {
  let sum = 0
  for (const word of TYPICAL_WORDS[language]) sum += getFrequency(stemEnglish(foldAccents(word)))
  return sum >= Math.max(MIN_TYPICAL_COUNT, MIN_TYPICAL_PER_PASSAGE * passageCount)
}

/** Splits compounds of the question into terms of the space. */
function splitCompounds(
  words: readonly QuestionWord[],
  language: CompoundLanguage,
  getFrequency: (term: string) => number,
): Rewording[] {
  return words.flatMap(({ text, term }): Rewording[] => {
    if (text.length < MIN_COMPOUND_LETTERS || text.length > MAX_LETTERS) return []
    const best = { mean: 0, documentTerms: [''] }
    for (let index = MIN_SHORT_PART_LETTERS; index <= text.length - MIN_SHORT_PART_LETTERS; index++) {
      const [left, right] = [text.slice(0, index), text.slice(index)]
      const head = isPart(right, language) ? toTerm(right, language) : ''
      const headFrequency = head === '' ? 0 : getFrequency(head)
      if (headFrequency === 0) continue
      for (const modifier of findModifierTerms(left, right, language)) {
        const mean = Math.sqrt(headFrequency * getFrequency(modifier))
        if (mean > best.mean && modifier !== head) Object.assign(best, { mean, documentTerms: [modifier, head] })
      }
    }
    return best.mean > 0 && best.mean >= getFrequency(term)
      ? [{ queryTerms: [term], documentTerms: best.documentTerms }]
      : []
  })
}

/** Terms of the first part of a compound, with and without the link to the second part. */
function findModifierTerms(left: string, right: string, language: CompoundLanguage): Set<string> {
  const terms = new Set<string>()
  for (const link of LINKS[language]) {
    const part = left.slice(0, left.length - link.length)
    if (!left.endsWith(link) || part.length + right.length < MIN_COMPOUND_LETTERS || !isPart(part, language)) continue
    terms.add(toTerm(part, language))
  }
  return terms
}

function isPart(part: string, language: CompoundLanguage): boolean {
  return part.length >= MIN_SHORT_PART_LETTERS && !AFFIXES.has(part) && !getQuestionStopWords(language).has(part)
}

/** Compounds of two words of the question that the space contains. */
function joinWords(
  words: readonly QuestionWord[],
  language: CompoundLanguage,
  getFrequency: (term: string) => number,
): Rewording[] {
  const found: Rewording[] = []
  for (const [index, first] of words.entries()) {
    for (const second of words.slice(index + 1, index + 1 + MAX_WORD_DISTANCE)) {
      if (first.term === second.term) continue
      for (const term of [...buildJoinedTerms(second, first, language), ...buildJoinedTerms(first, second, language)])
        if (getFrequency(term) > 0) found.push({ queryTerms: [first.term, second.term], documentTerms: [term] })
    }
  }
  return found
}

/** `parkeren` in `parkeerkosten`: the vowel of a closed syllable is doubled. */
const DUTCH_VERB = /(?<![aeiou])([aeou])([bdfgklmnprt])en$/

function buildJoinedTerms(modifier: QuestionWord, head: QuestionWord, language: CompoundLanguage): Set<string> {
  if (head.text.length < MIN_SHORT_PART_LETTERS) return new Set()
  const firsts = new Set([modifier.text, stemIn(modifier.text, language)])
  for (const ending of ENDINGS[language])
    if (modifier.text.endsWith(ending)) firsts.add(modifier.text.slice(0, modifier.text.length - ending.length))
  if (language === 'nl') firsts.add(modifier.text.replace(DUTCH_VERB, '$1$1$2'))
  const end = findStemEnd(modifier.text, head.text, language)
  const terms = new Set<string>()
  for (const first of firsts) {
    if (first.length < MIN_SHORT_PART_LETTERS || first.length + head.text.length < MIN_COMPOUND_LETTERS) continue
    for (const link of LINKS[language]) terms.add(foldAccents(first) + link + end)
  }
  return terms
}

/**
 * The second part after stemming of the compound. The stemmer may find a longer ending in the compound than in the
 * part.
 */
function findStemEnd(first: string, second: string, language: CompoundLanguage): string {
  const [stem, start] = [toTerm(first + second, language), foldAccents(first)]
  return stem.startsWith(start) ? stem.slice(start.length) : toTerm(second, language)
}

function toTerm(word: string, language: CompoundLanguage): string {
  return foldAccents(stemIn(word, language))
}
