import { COMPOUND_LANGUAGES, type CompoundQuestion } from './compounds.js'
import { detectDocumentLanguage, detectQuestionScriptLanguage, LanguageVotes } from './detect.js'
import { foldAccents } from './fold.js'
import { type Language, SCRIPTS, type Script } from './languages.js'
import { findOtherStopWords } from './other-stop-words.js'
import { getQuestionStopWords } from './stop-words.js'
import { emitContentPairs, emitPairs, emitSingleCharacters, hasKana } from './unspaced.js'
import { type AnalyzedWord, getForm, MIN_PART_TOKENS, normalize, type Token, toTokens } from './words.js'

/**
 * The only text analyser: it defines the terms of the text index, the embedder and the reranker.
 *
 * NFKC, accents folded, lower case, runs of letters and digits. Every word has a language-independent term: its stem in
 * the first language of its script, English (Porter) for Latin letters. A document in another language has the stems of
 * that language first and the language-independent terms at its end. A question has the stems of its language if that
 * is certain, otherwise the language-independent terms. So both match whatever language is detected. Scripts without
 * spaces become overlapping pairs of characters (`unspaced.ts`). Identifiers (`camelCase`, `snake_case`) and names with
 * signs (`C++`, `AT&T`, `.NET`) give the complete name and its parts; so do amounts (`$50`). Any change here needs a new
 * `ANALYZER_VERSION`, because indexes contain these terms.
 */
export const ANALYZER_VERSION = 5

type EmitTerm = (term: string) => void
/** Language of each script of a text. */
type Languages = ReadonlyMap<Script, Language>

/** An analysed part of a text that has one language. */
interface AnalyzedPart {
  tokens: Token[]
  /** votes for English and for other languages; for most texts these counts decide */
  english: number
  foreign: number
  /** whether it has words of a non-Latin alphabet that several languages share */
  isMixed: boolean
}

const ENGLISH: Languages = new Map([['latin', 'en']])

function analyzePart(text: string): AnalyzedPart {
  const tokens = toTokens(normalize(text))
  let [english, foreign, isMixed] = [0, 0, false]
  // An indexed loop: it visits every word of every document.
  for (let index = 0; index < tokens.length; index++) {
    const word = tokens[index]
    if (word === undefined || typeof word === 'string') continue
    english += word.english
    foreign += word.foreign
    isMixed ||= word.isSharedScript
  }
  return { tokens, english, foreign, isMixed }
}

/** Adds the words' votes to a ballot and their scripts to a set. */
function addVotes({ tokens }: AnalyzedPart, ballot: LanguageVotes, scripts: Set<Script>): void {
  for (const token of tokens) {
    if (typeof token === 'string' || token.script === undefined) continue
    ballot.add(token.votes)
    scripts.add(token.script)
  }
}

/** Shared by all texts, because it is never used across an `await`. */
const sharedVotes = new LanguageVotes()

/** Detects the languages of a text from all of its parts. */
function detectLanguages(parts: readonly AnalyzedPart[]): Languages {
  let [english, foreign, isMixed] = [0, 0, false]
  for (const part of parts) {
    english += part.english
    foreign += part.foreign
    isMixed ||= part.isMixed
  }
  if (!isMixed && foreign <= english) return ENGLISH
  sharedVotes.clear()
  const scripts = new Set<Script>()
  for (const part of parts) addVotes(part, sharedVotes, scripts)
  return new Map(Array.from(scripts, (script) => [script, detectDocumentLanguage(sharedVotes, script, undefined)]))
}

/** Detects the languages of a part, which may differ from those of the enclosing text. */
function detectPartLanguages(part: AnalyzedPart, outerLanguages: Languages): Languages {
  const isClear = outerLanguages === ENGLISH && !part.isMixed && part.foreign < 2 + 2 * part.english
  if (isClear || part.tokens.length < MIN_PART_TOKENS) return outerLanguages
  sharedVotes.clear()
  const scripts = new Set<Script>()
  addVotes(part, sharedVotes, scripts)
  return new Map(
    Array.from(scripts, (script) => [script, detectDocumentLanguage(sharedVotes, script, outerLanguages.get(script))]),
  )
}

/** Emits the terms of a part in reading order; language-independent terms follow at the end. */
function emitPart(part: AnalyzedPart, languages: Languages, emit: EmitTerm): void {
  const trailing: string[] = []
  for (const token of part.tokens) {
    if (typeof token === 'string') {
      emitPairs(token, emit)
      emitSingleCharacters(token, (term) => trailing.push(term))
    } else if (!token.isStopWord) {
      if (languages === ENGLISH) emitTerms(token.terms, emit)
      else emitWord(token, languages, emit, trailing)
    }
  }
  for (const term of trailing) emit(term)
}

/** An indexed loop: it visits every word of every document. */
function emitTerms(terms: readonly string[], emit: EmitTerm): void {
  for (let index = 0; index < terms.length; index++) emit(terms[index] ?? '')
}

function emitWord(word: AnalyzedWord, languages: Languages, emit: EmitTerm, trailing: string[]): void {
  const language = word.script === undefined ? undefined : languages.get(word.script)
  if (language === undefined || isFirstLanguage(word.script, language)) {
    emitTerms(word.terms, emit)
    return
  }
  const { stem, rest } = getForm(word, language)
  emit(stem)
  for (let index = 0; index < rest.length; index++) trailing.push(rest[index] ?? '')
}

function isFirstLanguage(script: Script | undefined, language: Language): boolean {
  return script === undefined || SCRIPTS[script][0] === language
}

/** Lines are separate parts: a document may change its language between them. */
function analyzeLines(text: string): AnalyzedPart[] {
  return text.split('\n').map(analyzePart)
}

function emitLines(lines: readonly AnalyzedPart[], outerLanguages: Languages, emit: EmitTerm): void {
  for (const line of lines)
    emitPart(line, lines.length === 1 ? outerLanguages : detectPartLanguages(line, outerLanguages), emit)
}

/**
 * Calls `emit` with each term of a document in reading order, without stop words. Unlike `analyzeDocument`, it emits no
 * single characters of unspaced scripts: this form is for embedding and reranking.
 */
export function forEachTerm(text: string, emit: EmitTerm): void {
  const lines = analyzeLines(text)
  emitLines(lines, detectLanguages(lines), emit)
}

/**
 * Like `forEachTerm`, for a text in parts, such as the sentences of one passage. All parts together decide the
 * language.
 *
 * @param onPartEnd called after the last term of each part
 */
export function forEachTermOfParts(parts: readonly string[], emit: EmitTerm, onPartEnd: (part: number) => void): void {
  const analyzedParts = parts.map(analyzePart)
  const outerLanguages = detectLanguages(analyzedParts)
  for (const [index, part] of analyzedParts.entries()) {
    emitPart(part, detectPartLanguages(part, outerLanguages), emit)
    onPartEnd(index)
  }
}

/** Each distinct character of unspaced scripts, so that a query of one character matches. */
function collectUnspacedCharacters(lines: readonly AnalyzedPart[]): Set<string> {
  const characters = new Set<string>()
  for (const line of lines)
    for (const run of line.tokens)
      if (typeof run === 'string' && run.length > 1) for (const character of run) characters.add(character)
  return characters
}

function collectIndexTerms(lines: readonly AnalyzedPart[], outerLanguages: Languages): string[] {
  const terms: string[] = []
  emitLines(lines, outerLanguages, (term) => terms.push(term))
  for (const character of collectUnspacedCharacters(lines)) terms.push(character)
  return terms
}

/**
 * Terms of a document for the text index, in reading order, without stop words. Each distinct character of unspaced
 * scripts follows at the end. No term contains white space.
 */
export function analyzeDocument(text: string): string[] {
  const lines = analyzeLines(text)
  return collectIndexTerms(lines, detectLanguages(lines))
}

/** Like `analyzeDocument`, for a title and its body. The body decides the language of the title. */
export function analyzeTitled(title: string, body: string): { title: string[]; body: string[] } {
  const [titles, lines] = [analyzeLines(title), analyzeLines(body)]
  const outerLanguages = detectLanguages(lines)
  return { title: collectIndexTerms(titles, outerLanguages), body: collectIndexTerms(lines, outerLanguages) }
}

/**
 * Terms of a question without its question and stop words.
 *
 * @param options `keepsOrder`: see `QuestionForm`; `form`: terms in the language of the question, or independent of it
 */
function collectContentTerms(text: string, { keepsOrder, form = 'own' }: ContentTermOptions): string[] {
  const { part, reading } = parseQuestion(text)
  const questionForm = { isJapanese: hasKana(text), keepsOrder }
  const terms: string[] = []
  for (const token of part.tokens) {
    if (typeof token === 'string') emitContentPairs(token, questionForm, (term) => terms.push(term))
    else terms.push(...toContentTerms(token, reading, form))
  }
  return terms
}

interface ContentTermOptions {
  keepsOrder: boolean
  form?: 'own' | 'independent'
}

/** How the words of a question are interpreted. */
interface QuestionReading {
  languages: Languages
  /** stop words of languages that are neither detected in documents nor stemmed */
  excluded: ReadonlySet<AnalyzedWord>
}

/** The last question, parsed: several steps of a search analyse the same question. */
let lastQuestion: { text: string; part: AnalyzedPart; reading: QuestionReading } | undefined

function parseQuestion(text: string): { part: AnalyzedPart; reading: QuestionReading } {
  if (lastQuestion?.text === text) return lastQuestion
  const part = analyzePart(text)
  lastQuestion = { text, part, reading: interpretQuestion(part) }
  return lastQuestion
}

function interpretQuestion(part: AnalyzedPart): QuestionReading {
  const scripts = new Set<Script>()
  sharedVotes.clear()
  addVotes(part, sharedVotes, scripts)
  const languages = new Map(
    Array.from(scripts, (script) => [script, detectQuestionScriptLanguage(sharedVotes, script)]),
  )
  const words = part.tokens.filter((token) => typeof token !== 'string')
  const votes = Math.max(part.english, ...Array.from(scripts, (script) => sharedVotes.best(script).votes))
  const stopWordIndexes = findOtherStopWords(
    words.map(({ text }) => text),
    votes,
  )
  return { languages, excluded: new Set(words.filter((_, index) => stopWordIndexes.has(index))) }
}

/** Detects the language of a question; English if uncertain. */
export function detectLanguageOfQuestion(text: string): Language {
  sharedVotes.clear()
  addVotes(analyzePart(text), sharedVotes, new Set())
  return detectQuestionScriptLanguage(sharedVotes, 'latin')
}

function toContentTerms(
  word: AnalyzedWord,
  { languages, excluded: others }: QuestionReading,
  form: ContentTermOptions['form'] = 'own',
): string[] {
  if (others.has(word)) return []
  const language = (word.script === undefined ? undefined : languages.get(word.script)) ?? 'en'
  const stopWords = getQuestionStopWords(language)
  if (word.isStopWord || stopWords.has(word.text) || stopWords.has(foldAccents(word.text))) return []
  return form === 'independent' || isFirstLanguage(word.script, language) ? word.terms : [getForm(word, language).stem]
}

/** Every term of a question in the language-independent form. */
function collectAllTerms(text: string): string[] {
  const terms: string[] = []
  for (const token of analyzePart(text).tokens) {
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
  const terms = collectContentTerms(text, { keepsOrder: true })
  return terms.length > 0 ? terms : collectAllTerms(text)
}

/**
 * Content terms of a query: like `analyzeQuery`, but empty for a query of question and stop words alone, and without
 * Chinese pairs that contain grammar.
 */
export function analyzeContent(text: string): string[] {
  return collectContentTerms(text, { keepsOrder: false })
}

/**
 * The words of a query that may be compounds or parts of one. Undefined if there are none, or if the language, such as
 * English, has no compounds.
 */
export function analyzeCompounds(text: string): CompoundQuestion | undefined {
  const part = analyzePart(text)
  sharedVotes.clear()
  addVotes(part, sharedVotes, new Set())
  const language = detectQuestionScriptLanguage(sharedVotes, 'latin')
  const english = sharedVotes.count('en')
  const languages = COMPOUND_LANGUAGES.filter((candidate) =>
    language === 'en' ? sharedVotes.count(candidate) >= english : candidate === language,
  )
  if (languages.length === 0) return undefined
  const reading: QuestionReading = { languages: new Map([['latin', language]]), excluded: new Set() }
  const words = part.tokens.flatMap((token): CompoundQuestion['words'] => {
    if (typeof token === 'string' || token.script !== 'latin') return []
    return toContentTerms(token, reading).map((term) => ({ text: token.text, term }))
  })
  return words.length === 0 ? undefined : { words, languages, isCertain: language !== 'en' }
}

/** A content word of a query in lower case with its accents, and its search term. */
export interface QueryWord {
  text: string
  term: string
  script: Script
}

/** The content words of a query whose letters are of one alphabet. */
export function analyzeWords(text: string): QueryWord[] {
  const { part, reading } = parseQuestion(text)
  return part.tokens.flatMap((token): QueryWord[] => {
    if (typeof token === 'string') return []
    const { text: spelling, script } = token
    return script === undefined ? [] : toContentTerms(token, reading).map((term) => ({ text: spelling, term, script }))
  })
}

/** A word of a document in lower case with its accents, and its term that does not depend on the language. */
interface DocumentWord {
  text: string
  term: string
}

/** Analyses the words of a document. */
export function analyzeDocumentWords(document: string): DocumentWord[] {
  return toTokens(normalize(document)).flatMap((token) => {
    if (typeof token === 'string') return []
    return { text: token.text, term: token.terms[0] ?? '' }
  })
}

/** Terms of a query in the order of `analyzeQuery`, each in the language-independent form. */
export function analyzeLanguageIndependent(text: string): string[] {
  return collectContentTerms(text, { keepsOrder: true, form: 'independent' })
}
