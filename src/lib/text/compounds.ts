import { foldAccents } from './fold.js'
import type { Language } from './languages.js'
import { englishStem, stemIn } from './stems.js'
import { questionStopWords } from './stop-words.js'

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
const TELLING: Readonly<Record<CompoundLanguage, readonly string[]>> = {
  de: ['und', 'der', 'das', 'nicht', 'ist', 'für', 'auf'],
  nl: ['een', 'het', 'van', 'niet', 'voor', 'zijn'],
  sv: ['och', 'att', 'som', 'inte', 'för', 'är'],
  da: ['og', 'ikke', 'til', 'blev', 'på', 'ved'],
  no: ['og', 'ikke', 'til', 'ble', 'på', 'ved'],
  fi: ['ja', 'ei', 'että', 'tai', 'ovat', 'myös'],
}
/** Minimum occurrences of these words for each passage of a space that contains the language. */
const TELLING_SHARE = 0.05
const TELLING_LEAST = 2

/** Derivational endings. None is a part of a compound, although texts may contain it as a word. */
const AFFIXES = new Set(
  (
    'heit keit schaft ung ungen lich liche lichen isch ische ischen chen lein bar sam haft los lose fach mäßig weise ' +
    'artig heid heden schap lijk lijke loos ing ingen het heter skap lig liga lige ligt ning ningar ninger else elser ' +
    'hed heder skab skaber llinen lliset minen misen'
  ).split(' '),
)

/** Minimum letters of the parts of a compound, one of which may be short, and of the compound. */
const PART = 4
const SHORT_PART = 3
const COMPOUND = PART + SHORT_PART
/** Maximum letters; longer words are noise. */
const LONGEST = 40
/** Maximum content words of a question that are considered, and maximum distance of two words that form a compound. */
const MOST_WORDS = 16
const NEAR = 2
const MOST_REWORDINGS = 16

/** A word of a question in lower case with its accents, and its search term. */
interface AskedWord {
  said: string
  term: string
}

/** The words of a question that may be compounds or parts of one. */
export interface CompoundQuestion {
  words: readonly AskedWord[]
  /** possible languages; if uncertain, the space has to contain the language */
  languages: readonly CompoundLanguage[]
  isCertain: boolean
  /** rewordings by other means: corrections of typos */
  given?: readonly Rewording[]
}

/** Document terms that together mean the same as query terms: the parts of a compound, or the compound of two parts. */
export interface Rewording {
  asked: readonly string[]
  told: readonly string[]
}

export const COMPOUND_LANGUAGES: readonly CompoundLanguage[] = ['de', 'nl', 'sv', 'da', 'no', 'fi']

/**
 * Finds rewordings of a question in the vocabulary of a space.
 *
 * @param frequencyOf number of passages of the space that contain a term
 * @param passages number of passages of the space
 */
export function rewordingsOf(
  { words, languages, isCertain, given = [] }: CompoundQuestion,
  frequencyOf: (term: string) => number,
  passages: number,
): Rewording[] {
  const known = new Map<string, number>()
  const frequency = (term: string): number => {
    const found = known.get(term) ?? frequencyOf(term)
    known.set(term, found)
    return found
  }
  const asked = words.slice(0, MOST_WORDS)
  const found = new Map<string, Rewording>(given.map((one) => [keyOf(one), one]))
  for (const language of languages) {
    if (!isCertain && !holds(language, frequency, passages)) continue
    for (const one of [...partsAsked(asked, language, frequency), ...compoundsAsked(asked, language, frequency)])
      found.set(keyOf(one), one)
  }
  return [...found.values()].slice(0, MOST_REWORDINGS)
}

function keyOf({ asked, told }: Rewording): string {
  return `${asked.join(' ')}=${[...told].sort().join(' ')}`
}

/** Adds to the terms of a text the query terms that it contains in other words. */
export function withReworded(held: Set<string>, rewordings: readonly Rewording[] = []): void {
  const said = rewordings.filter(({ told }) => told.every((term) => held.has(term)))
  for (const { asked } of said) for (const term of asked) held.add(term)
}

function holds(language: CompoundLanguage, frequency: (term: string) => number, passages: number): boolean {
  let sum = 0
  for (const word of TELLING[language]) sum += frequency(englishStem(foldAccents(word)))
  return sum >= Math.max(TELLING_LEAST, TELLING_SHARE * passages)
}

/** Splits compounds of the question into terms of the space. */
function partsAsked(
  words: readonly AskedWord[],
  language: CompoundLanguage,
  frequency: (term: string) => number,
): Rewording[] {
  return words.flatMap(({ said, term }): Rewording[] => {
    if (said.length < COMPOUND || said.length > LONGEST) return []
    const best = { mean: 0, told: [''] }
    for (let at = SHORT_PART; at <= said.length - SHORT_PART; at++) {
      const [left, right] = [said.slice(0, at), said.slice(at)]
      const head = isPart(right, language) ? termOf(right, language) : ''
      const heads = head === '' ? 0 : frequency(head)
      if (heads === 0) continue
      for (const modifier of modifiersIn(left, right, language)) {
        const mean = Math.sqrt(heads * frequency(modifier))
        if (mean > best.mean && modifier !== head) Object.assign(best, { mean, told: [modifier, head] })
      }
    }
    return best.mean > 0 && best.mean >= frequency(term) ? [{ asked: [term], told: best.told }] : []
  })
}

/** Terms of the first part of a compound, with and without the link to the second part. */
function modifiersIn(left: string, right: string, language: CompoundLanguage): Set<string> {
  const terms = new Set<string>()
  for (const link of LINKS[language]) {
    const part = left.slice(0, left.length - link.length)
    if (!left.endsWith(link) || part.length + right.length < COMPOUND || !isPart(part, language)) continue
    terms.add(termOf(part, language))
  }
  return terms
}

function isPart(part: string, language: CompoundLanguage): boolean {
  return part.length >= SHORT_PART && !AFFIXES.has(part) && !questionStopWords(language).has(part)
}

/** Compounds of two words of the question that the space contains. */
function compoundsAsked(
  words: readonly AskedWord[],
  language: CompoundLanguage,
  frequency: (term: string) => number,
): Rewording[] {
  const found: Rewording[] = []
  for (const [place, one] of words.entries()) {
    for (const other of words.slice(place + 1, place + 1 + NEAR)) {
      if (one.term === other.term) continue
      for (const term of [...joinedOf(other, one, language), ...joinedOf(one, other, language)])
        if (frequency(term) > 0) found.push({ asked: [one.term, other.term], told: [term] })
    }
  }
  return found
}

/** `parkeren` in `parkeerkosten`: the vowel of a closed syllable is doubled. */
const DUTCH_VERB = /(?<![aeiou])([aeou])([bdfgklmnprt])en$/

function joinedOf(modifier: AskedWord, head: AskedWord, language: CompoundLanguage): Set<string> {
  if (head.said.length < SHORT_PART) return new Set()
  const firsts = new Set([modifier.said, stemIn(modifier.said, language)])
  for (const ending of ENDINGS[language])
    if (modifier.said.endsWith(ending)) firsts.add(modifier.said.slice(0, modifier.said.length - ending.length))
  if (language === 'nl') firsts.add(modifier.said.replace(DUTCH_VERB, '$1$1$2'))
  const end = endOf(modifier.said, head.said, language)
  const terms = new Set<string>()
  for (const first of firsts) {
    if (first.length < SHORT_PART || first.length + head.said.length < COMPOUND) continue
    for (const link of LINKS[language]) terms.add(foldAccents(first) + link + end)
  }
  return terms
}

/**
 * The second part after stemming of the compound. The stemmer may find a longer ending in the compound than in the
 * part.
 */
function endOf(first: string, second: string, language: CompoundLanguage): string {
  const [stem, start] = [termOf(first + second, language), foldAccents(first)]
  return stem.startsWith(start) ? stem.slice(start.length) : termOf(second, language)
}

function termOf(said: string, language: CompoundLanguage): string {
  return foldAccents(stemIn(said, language))
}
