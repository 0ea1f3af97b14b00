import { COMPOUND_LANGUAGES, type CompoundQuestion } from './compounds.js'
import { documentLanguage, LanguageVotes, questionLanguage } from './detect.js'
import { foldAccents } from './fold.js'
import { type Language, SCRIPTS, type Script } from './languages.js'
import { otherStopWords } from './other-stop-words.js'
import { questionStopWords } from './stop-words.js'
import { emitContentPairs, emitLone, emitPairs, hasKana } from './unspaced.js'
import { formIn, normalise, PART_TOKENS, type Token, tokensOf, type Word } from './words.js'

/**
 * The only text analyser: it defines the terms of the text index, the embedder and the reranker.
 *
 * NFKC, accents folded, lower case, runs of letters and digits. Every word has a language-independent term: its stem in
 * the first language of its script, English (Porter) for Latin letters. A document in another language has the stems of
 * that language first and the language-independent terms at its end. A question has the stems of its language if that
 * is certain, otherwise the language-independent terms. So both match whatever language is detected. Scripts without
 * spaces become overlapping pairs of characters (`unspaced.ts`). Identifiers (`camelCase`, `snake_case`) and names with
 * signs (`C++`, `AT&T`) give the complete name and its parts. Any change here needs a new `ANALYZER_VERSION`, because
 * indexes contain these terms.
 */
export const ANALYZER_VERSION = 4

type Emit = (term: string) => void
/** Language of each script of a text. */
type Languages = ReadonlyMap<Script, Language>

/** An analysed part of a text that has one language. */
interface Part {
  tokens: Token[]
  /** votes for English and for other languages; for most texts these counts decide */
  english: number
  foreign: number
  /** whether it has words of a non-Latin alphabet that several languages share */
  isMixed: boolean
}

const ENGLISH: Languages = new Map([['latin', 'en']])

function partOf(text: string): Part {
  const tokens = tokensOf(normalise(text))
  let [english, foreign, isMixed] = [0, 0, false]
  // An indexed loop: it visits every word of every document.
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

/** Detects the languages of a text from all of its parts. */
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

/** Detects the languages of a part, which may differ from those of the enclosing text. */
function languagesIn(part: Part, around: Languages): Languages {
  const isClear = around === ENGLISH && !part.isMixed && part.foreign < 2 + 2 * part.english
  if (isClear || part.tokens.length < PART_TOKENS) return around
  counted.clear()
  const scripts = new Set<Script>()
  vote(part, counted, scripts)
  return new Map(Array.from(scripts, (script) => [script, documentLanguage(counted, script, around.get(script))]))
}

/** Emits the terms of a part in reading order; language-independent terms follow at the end. */
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

/** An indexed loop: it visits every word of every document. */
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

/** Lines are separate parts: a document may change its language between them. */
function linesOf(text: string): Part[] {
  return text.split('\n').map(partOf)
}

function emitLines(lines: readonly Part[], around: Languages, emit: Emit): void {
  for (const line of lines) emitPart(line, lines.length === 1 ? around : languagesIn(line, around), emit)
}

/**
 * Calls `emit` with each term of a document in reading order, without stop words. Unlike `analyzeDocument`, it emits no
 * single characters of unspaced scripts: this form is for embedding and reranking.
 */
export function forEachTerm(text: string, emit: Emit): void {
  const lines = linesOf(text)
  emitLines(lines, languagesOf(lines), emit)
}

/**
 * Like `forEachTerm`, for a text in parts, such as the sentences of one passage. All parts together decide the
 * language.
 *
 * @param onPartEnd called after the last term of each part
 */
export function forEachTermOf(parts: readonly string[], emit: Emit, ended: (part: number) => void): void {
  const all = parts.map(partOf)
  const around = languagesOf(all)
  for (const [place, part] of all.entries()) {
    emitPart(part, languagesIn(part, around), emit)
    ended(place)
  }
}

/** Each distinct character of unspaced scripts, so that a query of one character matches. */
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
 * Terms of a document for the text index, in reading order, without stop words. Each distinct character of unspaced
 * scripts follows at the end. No term contains white space.
 */
export function analyzeDocument(text: string): string[] {
  const lines = linesOf(text)
  return indexTerms(lines, languagesOf(lines))
}

/** Like `analyzeDocument`, for a title and its body. The body decides the language of the title. */
export function analyzeTitled(title: string, body: string): { title: string[]; body: string[] } {
  const [titles, lines] = [linesOf(title), linesOf(body)]
  const around = languagesOf(lines)
  return { title: indexTerms(titles, around), body: indexTerms(lines, around) }
}

/**
 * Terms of a question without its question and stop words.
 *
 * @param keepsOrder see `QuestionForm`
 * @param isCommon whether to return the language-independent terms
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

/** How the words of a question are interpreted. */
interface Reading {
  languages: Languages
  /** stop words of languages that are neither detected in documents nor stemmed */
  dropped: ReadonlySet<Word>
}

/** The last question, parsed: several steps of a search analyse the same question. */
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

/** Detects the language of a question; English if uncertain. */
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

/** Every term of a question in the language-independent form. */
function allTerms(text: string): string[] {
  const terms: string[] = []
  for (const token of partOf(text).tokens) {
    if (typeof token === 'string') emitPairs(token, (term) => terms.push(term))
    else terms.push(...token.terms)
  }
  return terms
}

/**
 * Terms of a query in order. Repeats stay, because a repeated term has twice the weight. Question and stop words of its
 * language are removed, unless the query has no other words.
 */
export function analyzeQuery(text: string): string[] {
  const terms = contentTerms(text, true)
  return terms.length > 0 ? terms : allTerms(text)
}

/**
 * Content terms of a query: like `analyzeQuery`, but empty for a query of question and stop words alone, and without
 * Chinese pairs that contain grammar.
 */
export function analyzeContent(text: string): string[] {
  return contentTerms(text, false)
}

/**
 * The words of a query that may be compounds or parts of one. Undefined if there are none, or if the language, such as
 * English, has no compounds.
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
  const words = part.tokens.flatMap((token): CompoundQuestion['words'] => {
    if (typeof token === 'string' || token.script !== 'latin') return []
    return contentOf(token, reading, false).map((term) => ({ said: token.said, term }))
  })
  return words.length === 0 ? undefined : { words, languages, isCertain: said !== 'en' }
}

/** A content word of a query in lower case with its accents, and its search term. */
export interface QueryWord {
  said: string
  term: string
  script: Script
}

/** The content words of a query whose letters are of one alphabet. */
export function analyzeWords(text: string): QueryWord[] {
  const { part, reading } = parseQuestion(text)
  return part.tokens.flatMap((token): QueryWord[] => {
    if (typeof token === 'string') return []
    const { said, script } = token
    return script === undefined ? [] : contentOf(token, reading, false).map((term) => ({ said, term, script }))
  })
}

/** A word of a document in lower case with its accents, and its term that does not depend on the language. */
interface DocumentWord {
  said: string
  term: string
}

/** Analyses the words of a document. */
export function documentWords(text: string): DocumentWord[] {
  return tokensOf(normalise(text)).flatMap((token) => {
    if (typeof token === 'string') return []
    return { said: token.said, term: token.terms[0] ?? '' }
  })
}

/** Terms of a query in the order of `analyzeQuery`, each in the language-independent form. */
export function analyzeCommon(text: string): string[] {
  return contentTerms(text, true, true)
}
