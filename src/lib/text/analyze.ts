import { COMPOUND_LANGUAGES, type CompoundQuestion } from './compounds.js'
import { documentLanguage, LanguageVotes, questionLanguage } from './detect.js'
import { foldAccents } from './fold.js'
import { type Language, SCRIPTS, type Script } from './languages.js'
import { otherStopWords } from './other-stop-words.js'
import { questionStopWords } from './stop-words.js'
import { emitContentPairs, emitLone, emitPairs, hasKana } from './unspaced.js'
import { formIn, normalise, PART_TOKENS, type Token, tokensOf, type Word } from './words.js'

/**
 * The one text analyser: what the text index, the embedder and the reranker all mean by a term.
 *
 * NFKC, accents folded, lower case, runs of letters and digits. Every word has a term that hangs on the word alone: its
 * stem in the first language of its script, English (Porter) for Latin letters. A document in another language gives
 * the stem of that language first and the other one at its end; a question gives the stem of its language where that is
 * certain, and otherwise the term that every document holds. So they meet whatever is made of their languages.
 * Scripts written without spaces become overlapping pairs of characters (`unspaced.ts`). Identifiers (`camelCase`,
 * `snake_case`) and names with signs (`C++`, `AT&T`) give the whole and their parts. A change here asks for a new
 * `ANALYZER_VERSION`, since indexes hold these terms.
 */
export const ANALYZER_VERSION = 4

type Emit = (term: string) => void
/** Language of each script of a text. */
type Languages = ReadonlyMap<Script, Language>

/** A stretch of text that has one language. */
interface Part {
  tokens: Token[]
  /** words that speak for English, and those that speak for others: most texts need no more to be told */
  english: number
  foreign: number
  /** whether it has words of other alphabets that several languages share */
  isMixed: boolean
}

const ENGLISH: Languages = new Map([['latin', 'en']])

function partOf(text: string): Part {
  const tokens = tokensOf(normalise(text))
  let [english, foreign, isMixed] = [0, 0, false]
  // by place: this loop sees every word of every document
  for (let i = 0; i < tokens.length; i++) {
    const word = tokens[i]
    if (word === undefined || typeof word === 'string') continue
    english += word.english
    foreign += word.foreign
    isMixed ||= word.isOther
  }
  return { tokens, english, foreign, isMixed }
}

/** Adds the words' votes to a ballot and their scripts to a set. */
function vote({ tokens }: Part, ballot: LanguageVotes, scripts: Set<Script>): void {
  for (const token of tokens) {
    if (typeof token === 'string' || token.script === undefined) continue
    ballot.add(token.votes)
    scripts.add(token.script)
  }
}

/** Used between two awaits only. */
const counted = new LanguageVotes()

/** Languages of a text that is cut into parts. */
function languagesOf(parts: readonly Part[]): Languages {
  let [english, foreign, isMixed] = [0, 0, false]
  for (const part of parts) {
    english += part.english
    foreign += part.foreign
    isMixed ||= part.isMixed
  }
  if (!isMixed && foreign <= english) return ENGLISH
  counted.clear()
  const scripts = new Set<Script>()
  for (const part of parts) vote(part, counted, scripts)
  return new Map(Array.from(scripts, (script) => [script, documentLanguage(counted, script, undefined)]))
}

/** Languages of a part of a text, which may be another one than that around it. */
function languagesIn(part: Part, around: Languages): Languages {
  const isClear = around === ENGLISH && !part.isMixed && part.foreign < 2 + 2 * part.english
  if (isClear || part.tokens.length < PART_TOKENS) return around
  counted.clear()
  const scripts = new Set<Script>()
  vote(part, counted, scripts)
  return new Map(Array.from(scripts, (script) => [script, documentLanguage(counted, script, around.get(script))]))
}

/** Terms of a part in reading order; what its words are in every language follows at the end. */
function emitPart(part: Part, languages: Languages, emit: Emit): void {
  const after: string[] = []
  for (const token of part.tokens) {
    if (typeof token === 'string') {
      emitPairs(token, emit)
      emitLone(token, (term) => after.push(term))
    } else if (!token.stopped) {
      if (languages === ENGLISH) emitAll(token.terms, emit)
      else emitWord(token, languages, emit, after)
    }
  }
  for (const term of after) emit(term)
}

/** By place: this loop sees every word of every document. */
function emitAll(terms: readonly string[], emit: Emit): void {
  for (let i = 0; i < terms.length; i++) emit(terms[i] ?? '')
}

function emitWord(word: Word, languages: Languages, emit: Emit, after: string[]): void {
  const language = word.script === undefined ? undefined : languages.get(word.script)
  if (language === undefined || isFirst(word.script, language)) {
    emitAll(word.terms, emit)
    return
  }
  const { stem, rest } = formIn(word, language)
  emit(stem)
  for (let i = 0; i < rest.length; i++) after.push(rest[i] ?? '')
}

function isFirst(script: Script | undefined, language: Language): boolean {
  return script === undefined || SCRIPTS[script][0] === language
}

/** Lines are parts of their own: a document may change its language between them. */
function linesOf(text: string): Part[] {
  return text.split('\n').map(partOf)
}

function emitLines(lines: readonly Part[], around: Languages, emit: Emit): void {
  for (const line of lines) emitPart(line, lines.length === 1 ? around : languagesIn(line, around), emit)
}

/**
 * Calls `emit` with each term of a document in reading order, stop words left out. Unlike `analyzeDocument` it gives no
 * single characters of unspaced scripts: this is the form for embedding and reranking.
 */
export function forEachTerm(text: string, emit: Emit): void {
  const lines = linesOf(text)
  emitLines(lines, languagesOf(lines), emit)
}

/**
 * As `forEachTerm`, for a text that comes in parts, as sentences of one passage: all of them tell what language it is in.
 *
 * @param ended called after the last term of each part
 */
export function forEachTermOf(parts: readonly string[], emit: Emit, ended: (part: number) => void): void {
  const all = parts.map(partOf)
  const around = languagesOf(all)
  for (const [place, part] of all.entries()) {
    emitPart(part, languagesIn(part, around), emit)
    ended(place)
  }
}

/** Each distinct character of unspaced scripts, so that a query of one character can be found. */
function charactersOf(lines: readonly Part[]): Set<string> {
  const characters = new Set<string>()
  for (const line of lines)
    for (const run of line.tokens)
      if (typeof run === 'string' && run.length > 1) for (const one of run) characters.add(one)
  return characters
}

function indexTerms(lines: readonly Part[], around: Languages): string[] {
  const terms: string[] = []
  emitLines(lines, around, (term) => terms.push(term))
  for (const character of charactersOf(lines)) terms.push(character)
  return terms
}

/**
 * Terms of a document for the text index, in reading order, stop words left out. Each distinct character of unspaced
 * scripts follows at the end. No term holds whitespace.
 */
export function analyzeDocument(text: string): string[] {
  const lines = linesOf(text)
  return indexTerms(lines, languagesOf(lines))
}

/** As `analyzeDocument`, for a title and the text below it, which tells what language the title is in. */
export function analyzeTitled(title: string, body: string): { title: string[]; body: string[] } {
  const [titles, lines] = [linesOf(title), linesOf(body)]
  const around = languagesOf(lines)
  return { title: indexTerms(titles, around), body: indexTerms(lines, around) }
}

/**
 * Terms of a question without its question and stop words.
 *
 * @param keepsOrder see `QuestionForm`
 * @param isCommon those that every document holds, whatever its language
 */
function contentTerms(text: string, keepsOrder: boolean, isCommon = false): string[] {
  const { part, reading } = parseQuestion(text)
  const form = { isJapanese: hasKana(text), keepsOrder }
  const terms: string[] = []
  for (const token of part.tokens) {
    if (typeof token === 'string') emitContentPairs(token, form, (term) => terms.push(term))
    else terms.push(...contentOf(token, reading, isCommon))
  }
  return terms
}

/** How the words of a question are read. */
interface Reading {
  languages: Languages
  /** stop words of a language that documents are not stemmed in */
  dropped: ReadonlySet<Word>
}

/** The last question, parsed: several steps of a search analyse the same one. */
let lastQuestion: { text: string; part: Part; reading: Reading } | undefined

function parseQuestion(text: string): { part: Part; reading: Reading } {
  if (lastQuestion?.text === text) return lastQuestion
  const part = partOf(text)
  lastQuestion = { text, part, reading: readQuestion(part) }
  return lastQuestion
}

function readQuestion(part: Part): Reading {
  const scripts = new Set<Script>()
  counted.clear()
  vote(part, counted, scripts)
  const languages = new Map(Array.from(scripts, (script) => [script, questionLanguage(counted, script)]))
  const words = part.tokens.filter((token) => typeof token !== 'string')
  const votes = Math.max(part.english, ...Array.from(scripts, (script) => counted.best(script).votes))
  const stopped = otherStopWords(
    words.map(({ said }) => said),
    votes,
  )
  return { languages, dropped: new Set(words.filter((_, index) => stopped.has(index))) }
}

/** The language of a question as its words tell: English where they do not. */
export function languageOfQuestion(text: string): Language {
  counted.clear()
  vote(partOf(text), counted, new Set())
  return questionLanguage(counted, 'latin')
}

function contentOf(word: Word, { languages, dropped: others }: Reading, isCommon: boolean): string[] {
  if (others.has(word)) return []
  const language = (word.script === undefined ? undefined : languages.get(word.script)) ?? 'en'
  const dropped = questionStopWords(language)
  if (word.stopped || dropped.has(word.said) || dropped.has(foldAccents(word.said))) return []
  return isCommon || isFirst(word.script, language) ? word.terms : [formIn(word, language).stem]
}

/** Every term of a question, as documents give them. */
function allTerms(text: string): string[] {
  const terms: string[] = []
  for (const token of partOf(text).tokens) {
    if (typeof token === 'string') emitPairs(token, (term) => terms.push(term))
    else terms.push(...token.terms)
  }
  return terms
}

/**
 * Terms of a query in order, repeats kept (a term asked twice weighs twice), question and stop words of its language
 * left out. A query of nothing but such words keeps all of them.
 */
export function analyzeQuery(text: string): string[] {
  const terms = contentTerms(text, true)
  return terms.length > 0 ? terms : allTerms(text)
}

/**
 * Terms of a query that say what it is about: as `analyzeQuery`, but none of a query of question and stop words alone,
 * and no Chinese pairs that hold grammar.
 */
export function analyzeContent(text: string): string[] {
  return contentTerms(text, false)
}

/**
 * The words of a query that may be compounds or parts of one; nothing for one in English or another language that writes
 * none, or without such words.
 */
export function analyzeCompounds(text: string): CompoundQuestion | undefined {
  const part = partOf(text)
  counted.clear()
  vote(part, counted, new Set())
  const said = questionLanguage(counted, 'latin')
  const english = counted.count('en')
  const languages = COMPOUND_LANGUAGES.filter((one) => (said === 'en' ? counted.count(one) >= english : one === said))
  if (languages.length === 0) return undefined
  const reading: Reading = { languages: new Map([['latin', said]]), dropped: new Set() }
  const words = part.tokens.flatMap((token) => {
    if (typeof token === 'string' || token.script !== 'latin') return []
    return contentOf(token, reading, false).map((term) => ({ said: token.said, term }))
  })
  return words.length === 0 ? undefined : { words, languages, isCertain: said !== 'en' }
}

/** A content word of a query, in lower case with its accents, and the term that it is searched by. */
export interface QueryWord {
  said: string
  term: string
  script: Script
}

/** The content words of a query that consist of letters of one alphabet. */
export function analyzeWords(text: string): QueryWord[] {
  const { part, reading } = parseQuestion(text)
  return part.tokens.flatMap((token): QueryWord[] => {
    if (typeof token === 'string') return []
    const { said, script } = token
    return script === undefined ? [] : contentOf(token, reading, false).map((term) => ({ said, term, script }))
  })
}

/** The words of a document, each with the term that does not depend on the language. */
export function documentWords(text: string): { said: string; term: string }[] {
  return tokensOf(normalise(text)).flatMap((token) => {
    if (typeof token === 'string') return []
    return { said: token.said, term: token.terms[0] ?? '' }
  })
}

/** Terms of a query in order as `analyzeQuery` gives them, each in the form that every document holds. */
export function analyzeCommon(text: string): string[] {
  return contentTerms(text, true, true)
}
