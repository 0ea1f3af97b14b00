import { foldAccents } from './fold.js'
import { LANGUAGE_MARKS } from './function-words.js'
import { LANGUAGES, type Language, SCRIPTS, type Script } from './languages.js'
import { QUERY_STOP_WORDS } from './stop-words.js'

/**
 * Detects the language of words by votes. A word votes for the languages that use it as a function word, for which it
 * is typical, or whose special letters it contains. A vote is a bit, so that a word can store its votes.
 */

/** Typical English words that are nevertheless content. */
const ENGLISH_COMMON =
  'one two three four five six seven eight nine ten hundred day days hour hours week weeks month months year years monday tuesday wednesday thursday friday saturday sunday every always after before into out off up all none much many cost costs'
/** Words of other languages that are also in English texts: alone they are no evidence of their language. */
const WEAK =
  'die man war hat hay per come van von der den des dan pot bin art son sin tan para mine sur dove due sole fine cent plus chat mission me do pro fat gut rot tag tage hut bald fast arm wand gift chef band land stand hand plan test pain main sale tour point mode type air base date case pan once dial red real sea tempo media data ben mar ran bed bad god lag fin tre min men var under hus de la el le los las du un une et al il lo di da si se e y ja je os em com vs via op ora mai mi ma tu ti te va ve bu ki on ya kan i u s t d l m n c x ni ci par dos mil era eres o a as no in am an is it so'

const INDEXES: ReadonlyMap<Language, number> = new Map(LANGUAGES.map((language, index) => [language, index]))
const toBit = (language: Language): number => 1 << (INDEXES.get(language) ?? 0)

/** in addition to the bits of the languages */
const WEAK_BIT = 1 << 30

const BITS_BY_WORD = new Map<string, number>()
const BITS_BY_LETTERS: [RegExp, number][] = []

function addWord(word: string, bit: number): void {
  for (const form of new Set([word, foldAccents(word)])) BITS_BY_WORD.set(form, (BITS_BY_WORD.get(form) ?? 0) | bit)
}

for (const language of LANGUAGES) {
  if (language === 'en') continue
  const { functionWords, common = '', letters } = LANGUAGE_MARKS[language]
  for (const word of `${functionWords} ${common}`.split(' ')) if (word !== '') addWord(word, toBit(language))
  if (letters !== undefined) BITS_BY_LETTERS.push([letters, toBit(language)])
}
for (const word of [...QUERY_STOP_WORDS, ...ENGLISH_COMMON.split(' ')]) addWord(word, toBit('en'))
for (const word of WEAK.split(' ')) addWord(word, WEAK_BIT)

/** Whether a word is in the lists of any language. */
export function isListed(word: string): boolean {
  return BITS_BY_WORD.has(word)
}

const NON_ASCII = /[^\x00-\x7f]/

/** Votes of a word in lower case with its accents. A word with only the letters of a language may be a name. */
export function getVotes(word: string): number {
  const known = BITS_BY_WORD.get(word)
  if (known !== undefined || !NON_ASCII.test(word)) return known ?? 0
  let votes = 0
  for (const [letters, bit] of BITS_BY_LETTERS) if (letters.test(word)) votes |= bit
  return votes === 0 ? 0 : votes | WEAK_BIT
}

/** Whether a word is an English function word or typical of English. */
export function votesForEnglish(votes: number): boolean {
  return (votes & 1) !== 0
}

/** Whether a word is a function word or typical of another language. */
export function votesForOthers(votes: number): boolean {
  return (votes & ~(WEAK_BIT | 1)) !== 0
}

interface LeadingLanguage {
  language: Language
  votes: number
  /** votes of words that are not English as well */
  strong: number
  /** votes of the runner-up */
  second: number
}

/** Vote counts by index in `LANGUAGES`, and the count of the words. */
export class LanguageVotes {
  readonly #counts = new Int32Array(LANGUAGES.length)
  readonly #strong = new Int32Array(LANGUAGES.length)
  #words = 0

  clear(): void {
    this.#counts.fill(0)
    this.#strong.fill(0)
    this.#words = 0
  }

  add(votes: number): void {
    this.#words++
    const isStrong = (votes & (WEAK_BIT | 1)) === 0
    for (let rest = votes & ~WEAK_BIT; rest !== 0; rest &= rest - 1) {
      const index = 31 - Math.clz32(rest & -rest)
      this.#counts[index] = (this.#counts[index] ?? 0) + 1
      if (isStrong) this.#strong[index] = (this.#strong[index] ?? 0) + 1
    }
  }

  get words(): number {
    return this.#words
  }

  count(language: Language): number {
    return this.#counts[INDEXES.get(language) ?? 0] ?? 0
  }

  /** The language of a script with the most votes; the first one of equals. */
  best(script: Script): LeadingLanguage {
    const [first] = SCRIPTS[script]
    const best: LeadingLanguage = { language: first, votes: this.count(first), strong: 0, second: -1 }
    for (const language of SCRIPTS[script]) {
      if (language === first) continue
      const votes = this.count(language)
      const strong = this.#strong[INDEXES.get(language) ?? 0] ?? 0
      if (votes > best.votes || (votes === best.votes && strong > best.strong && best.language !== first))
        Object.assign(best, { language, votes, strong, second: best.votes })
      else if (votes > best.second) best.second = votes
    }
    return best
  }
}

/**
 * Minimum fraction of a document's words that vote for its language. A stray foreign word in a long text is no proof.
 */
const MIN_DOCUMENT_FRACTION = 0.06
/**
 * The same for long texts and for their parts. Manual pages of eighteen languages have fractions of .25 to .6
 * (Indonesian .15). Names, program text and invented words reach .1, because some language happens to have such words.
 */
const LONG_TEXT = { words: 30, minFraction: 0.12 }
const MIN_PART_FRACTION = 0.2
/** A question with more words than this needs two votes. */
const MAX_SHORT_QUESTION_WORDS = 6

/**
 * Language of a document's words of one script. One vote is enough in a short text: documents also have the terms of an
 * unknown language, so a wrong guess loses nothing.
 *
 * @param around language of the enclosing text; more than one vote is needed to differ from it
 */
export function detectDocumentLanguage(
  ballot: LanguageVotes,
  script: Script,
  outerLanguage: Language | undefined,
): Language {
  const { language, votes, strong } = ballot.best(script)
  const [first] = SCRIPTS[script]
  if (outerLanguage !== undefined && SCRIPTS[script].some((candidate) => candidate === outerLanguage)) {
    const isOther = votes >= 2 + 2 * ballot.count(outerLanguage) && votes >= MIN_PART_FRACTION * ballot.words
    return isOther ? language : outerLanguage
  }
  const isCertain = strong > 0 || votes > 1 || script !== 'latin'
  const minFraction = ballot.words > LONG_TEXT.words ? LONG_TEXT.minFraction : MIN_DOCUMENT_FRACTION
  return isCertain && votes >= minFraction * ballot.words ? language : first
}

/**
 * Language of a question's words of one script; the script's first language if uncertain, because every document has
 * its terms.
 */
export function detectQuestionScriptLanguage(ballot: LanguageVotes, script: Script): Language {
  const { language, votes, strong, second } = ballot.best(script)
  const [first] = SCRIPTS[script]
  if (script !== 'latin') return votes > 0 ? language : first
  const isAlone = votes === 1 && second < 1 && ballot.words <= MAX_SHORT_QUESTION_WORDS
  return strong > 0 && (votes > 1 || isAlone) ? language : first
}
