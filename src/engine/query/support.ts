import { analyzeContent, forEachTerm, languageOfQuestion } from '../../lib/text/analyze.js'
import { mentionsName } from '../../lib/text/name-mentions.js'
import { namesIn } from '../../lib/text/names.js'
import { splitSentences } from '../../lib/text/sentences.js'
import { claimsIn, factsIn } from './exact-facts.js'

/** A text that may support a statement: a passage with its headings, the name of its document and its day. */
export interface Source {
  text: string
  names: string
}

/** Minimum fraction of a statement's own terms that its sources contain. */
const OWN_TERMS = 0.5
/** Minimum terms that a unit about the same subject shares with a statement. */
const SAME_SUBJECT = 2
/** Code, which is not changed, or a citation mark with the space before it. */
const CODE_OR_MARK = /(`+)[\s\S]*?\1|\s?\[(\d{1,3})\]/g
/** Marker of a list entry, a heading or a table row. */
const MARKER = /^\s*(?:[-*•‣>#|]+|\d{1,3}[.)])\s*/u
const NUMERIC = /^\p{N}+$/u

/** A source that is prepared for comparison with statements. */
interface Prepared {
  text: string
  facts: Set<string>
  terms: Set<string>
  language: string
  /** sentences and rows */
  units: Unit[]
}

interface Unit {
  facts: Set<string>
  terms: Set<string>
}

const PREPARED = new WeakMap<Source, Prepared>()

function prepare(source: Source): Prepared {
  const known = PREPARED.get(source)
  if (known !== undefined) return known
  const { text, names } = source
  const all = `${names}\n${text}`
  const units = [names, ...splitSentences(text).map(({ start, end }) => text.slice(start, end))]
  const prepared = {
    text: all,
    facts: factsIn(all),
    terms: termsIn(all),
    language: languageOfQuestion(text),
    units: units.map((unit) => ({ facts: factsIn(unit), terms: termsIn(unit) })),
  }
  PREPARED.set(source, prepared)
  return prepared
}

function termsIn(text: string): Set<string> {
  const terms = new Set(analyzeContent(text))
  forEachTerm(text, (term) => terms.add(term))
  return terms
}

/** Whether the numbers, dates and names of a statement are in its sources. */
export function isSupported(statement: string, sources: readonly Source[]): boolean {
  const prepared = sources.map(prepare)
  const bare = withoutMarks(statement)
  return (
    claimsIn(bare).every((keys) => prepared.some(({ facts }) => keys.some((key) => facts.has(key)))) &&
    namesIn(bare).every((name) => prepared.some(({ text }) => mentionsName(text, name.text)))
  )
}

/** A statement, with the parts that it adds to the question. */
export interface Statement {
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
export function readStatement(statement: string, question: Source): Statement {
  const text = withoutMarks(statement).replace(MARKER, '')
  const asked = prepare(question)
  const claims = claimsIn(text)
  const names = namesIn(text).map((name) => name.text)
  const terms = [...new Set(analyzeContent(text))].filter((term) => !NUMERIC.test(term))
  return {
    text,
    claims,
    names,
    ownTerms: terms.filter((term) => !asked.terms.has(term)),
    subject: new Set([...terms, ...analyzeContent(question.text)].filter((term) => !NUMERIC.test(term))),
    ownClaims: claims.filter((keys) => !keys.some((key) => asked.facts.has(key))).length,
    ownNames: names.filter((name) => !mentionsName(asked.text, name)).length,
    language: languageOfQuestion(text),
  }
}

/** Whether a statement adds anything to the question. */
export function addsToQuestion({ ownTerms, ownClaims }: Statement): boolean {
  return ownTerms.length + ownClaims > 0
}

/**
 * Whether sources support a statement: they contain its numbers, dates and names exactly, and at least half of its
 * other terms. Terms are not compared across languages.
 *
 * @param all every source of the request: names that the question contains may be in any of them
 */
export function supports(
  sources: readonly Source[],
  statement: Statement,
  { question, all }: { question: string; all: readonly Source[] },
): boolean {
  const prepared = sources.map(prepare)
  const { claims, names, ownTerms, ownClaims, language } = statement
  if (!claims.every((keys) => isAttributed(keys, statement, prepared, all.map(prepare)))) return false
  const named = names.every((name) => {
    const given = mentionsName(question, name) ? all.map(prepare) : prepared
    return given.some(({ text }) => mentionsName(text, name))
  })
  if (!named) return false
  const isForeign = prepared.every((source) => source.language !== language)
  if (isForeign && ownClaims + statement.ownNames > 0) return true
  const contained = ownTerms.filter((term) => prepared.some(({ terms }) => terms.has(term))).length
  return contained + ownClaims >= OWN_TERMS * (ownTerms.length + ownClaims)
}

/**
 * Whether sources contain a number or date. A number in units that share no term with the statement does not count if a
 * unit with another number is about the subject of the statement.
 */
function isAttributed(
  keys: readonly string[],
  { subject }: Statement,
  sources: readonly Prepared[],
  all: readonly Prepared[],
): boolean {
  const shared = (unit: Unit) => [...subject].filter((term) => unit.terms.has(term)).length
  const isHolder = (unit: Unit) => keys.some((key) => unit.facts.has(key))
  const holders = sources.flatMap(({ units }) => units.filter(isHolder))
  if (holders.length === 0) return false
  if (holders.some((unit) => shared(unit) > 0)) return true
  return !all.some(({ units }) =>
    units.some((unit) => unit.facts.size > 0 && !isHolder(unit) && shared(unit) >= SAME_SUBJECT),
  )
}

/** A text without its citation marks. */
export function withoutMarks(text: string): string {
  return text.replace(CODE_OR_MARK, (found: string, ticks?: string) => (ticks === undefined ? '' : found))
}

/** The numbers of the citation marks of a text, each once. */
export function marksIn(text: string): number[] {
  const numbers = [...text.matchAll(CODE_OR_MARK)].flatMap(([, , number]) => number ?? [])
  return [...new Set(numbers.map(Number))]
}
