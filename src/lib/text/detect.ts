import { foldAccents } from './fold.js'
import { MARKS } from './function-words.js'
import { LANGUAGES, type Language, SCRIPTS, type Script } from './languages.js'
import { QUERY_STOP_WORDS } from './stop-words.js'

/**
 * Which language words are in, by counting: each word votes for the languages that use it as a function word, that it is
 * telling of, or that alone write a letter of it. A vote is a bit, so that a word can carry its votes with it.
 */

/** English words that other languages have too; alone they say nothing of a language. */
const ENGLISH_TOO =
  'die man war hat hay per come ten van dan pot bin art son sin tan para mine sur dove due sole fine cent plus chat mission not has me do go an as pro fat gut rot tag tage hut bald fast arm wand gift chef band land stand hand plan fall test ton pain main sale son tour point mode type air base date case costs cost pan once dial red real sea tempo casa vista media data den get ben mar ran bed bad god lag fin tre min men var under after hus at de la el le un en et al il lo di da si se no o e y ja je on os em com vs via op den ora mai mi ma tu ti te te va ve bu var ki iki hem an on ya ile de da a i u s t d l m n c x kan dit door met of over was is wie hoe wat up out off all one two three four five six seven eight nine ten hundred day days hour hours week weeks month months year years monday tuesday wednesday thursday friday saturday sunday not none does into who much many'

const BITS: ReadonlyMap<Language, number> = new Map(LANGUAGES.map((language, place) => [language, 1 << place]))
const bitOf = (language: Language): number => BITS.get(language) ?? 0

const WORDS = new Map<string, number>()
const LETTERS: [RegExp, number][] = []

function add(word: string, bit: number): void {
  for (const form of new Set([word, foldAccents(word)])) WORDS.set(form, (WORDS.get(form) ?? 0) | bit)
}

for (const language of LANGUAGES) {
  if (language === 'en') continue
  const { said, common = '', letters } = MARKS[language]
  for (const word of `${said} ${common}`.split(' ')) if (word !== '') add(word, bitOf(language))
  if (letters !== undefined) LETTERS.push([letters, bitOf(language)])
}
for (const word of [...QUERY_STOP_WORDS, ...ENGLISH_TOO.split(' ')]) add(word, bitOf('en'))

const NON_ASCII = /[^\x00-\x7f]/

/** Votes of a word, lower case with its accents: the bits of `LANGUAGES`. */
export function votesOf(word: string): number {
  let votes = WORDS.get(word) ?? 0
  if (NON_ASCII.test(word)) for (const [letters, bit] of LETTERS) if (letters.test(word)) votes |= bit
  return votes
}

/** Counts of votes, a place for each of `LANGUAGES`, and how many words they are of. */
export class Ballot {
  readonly #counts = new Int32Array(LANGUAGES.length)
  #words = 0

  clear(): void {
    this.#counts.fill(0)
    this.#words = 0
  }

  add(votes: number): void {
    this.#words++
    for (let place = 0, rest = votes; rest !== 0; place++, rest >>>= 1)
      if ((rest & 1) === 1) this.#counts[place] = (this.#counts[place] ?? 0) + 1
  }

  get words(): number {
    return this.#words
  }

  count(language: Language): number {
    return this.#counts[LANGUAGES.indexOf(language)] ?? 0
  }

  /** The language of a script with the most votes, the first where several have as many, and the votes of the second. */
  best(script: Script): { language: Language; votes: number; second: number } {
    const [first] = SCRIPTS[script]
    let language: Language = first
    let votes = this.count(first)
    let second = -1
    for (const other of SCRIPTS[script]) {
      if (other === first) continue
      const count = this.count(other)
      if (count > votes) {
        second = votes
        votes = count
        language = other
      } else if (count > second) second = count
    }
    return { language, votes, second }
  }
}

/** Share of a document's words that vote for its language at least; a stray foreign word in a long text is no proof. */
const DOCUMENT_SHARE = 0.06
/** A question of more words than these needs two votes. */
const SHORT_QUESTION = 6

/**
 * Language of a document's words of one script. One vote is enough in a short text: documents hold the terms of an
 * unknown language as well, so that a wrong guess loses nothing.
 *
 * @param around language of the text that this is a part of, which more than one vote has to speak against
 */
export function documentLanguage(ballot: Ballot, script: Script, around: Language | undefined): Language {
  const { language, votes } = ballot.best(script)
  const [first] = SCRIPTS[script]
  if (around !== undefined && SCRIPTS[script].some((one) => one === around)) {
    return votes >= 2 + 2 * ballot.count(around) ? language : around
  }
  return votes > 0 && votes >= DOCUMENT_SHARE * ballot.words ? language : first
}

/**
 * Language of a question's words of one script, the script's first where it is not certain: then the terms are those
 * that documents hold whatever their language.
 */
export function questionLanguage(ballot: Ballot, script: Script): Language {
  const { language, votes, second } = ballot.best(script)
  const [first] = SCRIPTS[script]
  if (votes >= 2) return language
  return votes === 1 && second < 1 && ballot.words <= SHORT_QUESTION ? language : first
}
