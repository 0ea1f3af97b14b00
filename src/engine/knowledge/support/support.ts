import { analyzeContent, detectLanguageOfQuestion, forEachTerm } from '../../../lib/text/analyze.js'
import { mentionsName } from '../../../lib/text/name-mentions.js'
import { findNames } from '../../../lib/text/names.js'
import { splitSentences } from '../../../lib/text/sentences.js'
import { findClaims, findFacts } from './exact-facts.js'

/** A text that may support a statement: a passage with its headings, the name of its document and its day. */
export interface EvidenceSource {
  text: string
  names: string
}

/** Minimum fraction of a statement's own terms that its sources contain. */
const MIN_OWN_TERMS_FRACTION = 0.5
/** Minimum terms that a unit about the same subject shares with a statement. */
const MIN_SUBJECT_TERMS = 2
/** Code, which is not changed, or a citation mark with the space before it. */
const CODE_OR_MARK = /(`+)[\s\S]*?\1|\s?\[(\d{1,3})\]/g
/** Marker of a list entry, a heading or a table row. */
const MARKER = /^\s*(?:[-*•‣>#|]+|\d{1,3}[.)])\s*/u
const NUMERIC = /^\p{N}+$/u

/** A source that is prepared for comparison with statements. */
interface PreparedSource {
  text: string
  facts: Set<string>
  terms: Set<string>
  language: string
  /** sentences and rows */
  units: SourceUnit[]
}

interface SourceUnit {
  facts: Set<string>
  terms: Set<string>
}

const preparedSources = new WeakMap<EvidenceSource, PreparedSource>()

function prepareSource(source: EvidenceSource): PreparedSource {
  const cached = preparedSources.get(source)
  if (cached !== undefined) return cached
  const { text, names } = source
  const all = `${names}\n${text}`
  const units = [names, ...splitSentences(text).map(({ start, end }) => text.slice(start, end))]
  const prepared = {
    text: all,
    facts: findFacts(all),
    terms: findTerms(all),
    language: detectLanguageOfQuestion(text),
    units: units.map((unit) => ({ facts: findFacts(unit), terms: findTerms(unit) })),
  }
  preparedSources.set(source, prepared)
  return prepared
}

function findTerms(text: string): Set<string> {
  const terms = new Set(analyzeContent(text))
  forEachTerm(text, (term) => terms.add(term))
  return terms
}

/** Whether the numbers, dates and names of a statement are in its sources. */
export function isSupported(statement: string, sources: readonly EvidenceSource[]): boolean {
  const prepared = sources.map(prepareSource)
  const bare = removeMarks(statement)
  return (
    findClaims(bare).every((keys) => prepared.some(({ facts }) => keys.some((key) => facts.has(key)))) &&
    findNames(bare).every((name) => prepared.some(({ text }) => mentionsName(text, name.text)))
  )
}

/** A statement, with the parts that it adds to the question. */
export interface AnswerStatement {
  text: string
  claims: string[][]
  names: string[]
  ownTerms: string[]
  /** terms of the statement and of the question */
  subject: Set<string>
  /** numbers and dates that the question does not contain */
  ownClaims: number
  ownNames: number
  language: string
}

/** Parses a statement, without its citation marks. */
export function parseStatement(statement: string, question: EvidenceSource): AnswerStatement {
  const text = removeMarks(statement).replace(MARKER, '')
  const preparedQuestion = prepareSource(question)
  const claims = findClaims(text)
  const names = findNames(text).map((name) => name.text)
  const terms = [...new Set(analyzeContent(text))].filter((term) => !NUMERIC.test(term))
  return {
    text,
    claims,
    names,
    ownTerms: terms.filter((term) => !preparedQuestion.terms.has(term)),
    subject: new Set([...terms, ...analyzeContent(question.text)].filter((term) => !NUMERIC.test(term))),
    ownClaims: claims.filter((keys) => !keys.some((key) => preparedQuestion.facts.has(key))).length,
    ownNames: names.filter((name) => !mentionsName(preparedQuestion.text, name)).length,
    language: detectLanguageOfQuestion(text),
  }
}

/** Whether a statement adds anything to the question. */
export function addsToQuestion({ ownTerms, ownClaims }: AnswerStatement): boolean {
  return ownTerms.length + ownClaims > 0
}

/**
 * Whether sources support a statement: they contain its numbers, dates and names exactly, and at least half of its
 * other terms. Terms are not compared across languages.
 *
 * @param all every source of the request: names that the question contains may be in any of them
 */
export function supports(
  sources: readonly EvidenceSource[],
  statement: AnswerStatement,
  { question, all }: { question: string; all: readonly EvidenceSource[] },
): boolean {
  const prepared = sources.map(prepareSource)
  const { claims, names, ownTerms, ownClaims, language } = statement
  if (!claims.every((keys) => isAttributed(keys, statement, prepared, all.map(prepareSource)))) return false
  const named = names.every((name) => {
    const given = mentionsName(question, name) ? all.map(prepareSource) : prepared
    return given.some(({ text }) => mentionsName(text, name))
  })
  if (!named) return false
  const isForeign = prepared.every((source) => source.language !== language)
  if (isForeign && ownClaims + statement.ownNames > 0) return true
  const contained = ownTerms.filter((term) => prepared.some(({ terms }) => terms.has(term))).length
  return contained + ownClaims >= MIN_OWN_TERMS_FRACTION * (ownTerms.length + ownClaims)
}

/**
 * Whether sources contain a number or date. A number in units that share no term with the statement does not count if a
 * unit with another number is about the subject of the statement.
 */
function isAttributed(
  keys: readonly string[],
  { subject }: AnswerStatement,
  sources: readonly PreparedSource[],
  all: readonly PreparedSource[],
): boolean {
  const shared = (unit: SourceUnit) => [...subject].filter((term) => unit.terms.has(term)).length
  const isHolder = (unit: SourceUnit) => keys.some((key) => unit.facts.has(key))
  const holders = sources.flatMap(({ units }) => units.filter(isHolder))
  if (holders.length === 0) return false
  if (holders.some((unit) => shared(unit) > 0)) return true
  return !all.some(({ units }) =>
    units.some((unit) => unit.facts.size > 0 && !isHolder(unit) && shared(unit) >= MIN_SUBJECT_TERMS),
  )
}

/** A text without its citation marks. */
export function removeMarks(text: string): string {
  return text.replace(CODE_OR_MARK, (found: string, ticks?: string) => (ticks === undefined ? '' : found))
}

/** The numbers of the citation marks of a text, each once. */
export function findMarkNumbers(text: string): number[] {
  const numbers = [...text.matchAll(CODE_OR_MARK)].flatMap(([, , number]) => number ?? [])
  return [...new Set(numbers.map(Number))]
}
