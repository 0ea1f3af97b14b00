import { omitUndefined } from '../../../lib/omit-undefined.js'
import { analyzeQuery } from '../../../lib/text/analyze.js'
import { findNames } from '../../../lib/text/names.js'
import { expandComparison, type QuestionPart } from './comparison-parts.js'
import { extractYears } from './years.js'

/** Maximum questions of a task in addition to the complete one; more would repeat each other. */
export const MAX_QUESTIONS = 8
/** Minimum terms of a part. */
const MIN_PART_TERMS = 1
/** Minimum terms of a clause before `and` to be separate: "salt and pepper" is one thing. */
const MIN_CLAUSE_TERMS = 2
/** Maximum characters of a comparison; longer text is none, and the pattern would be slow on it. */
const MAX_COMPARISON_LENGTH = 500
/** Maximum words after two compared things that belong to both. */
const MAX_SHARED_NOUNS = 4
const LEAD =
  /^(?:please\s+)?(?:compare|contrast|describe|explain|summari[sz]e|list|find|tell me(?: about)?|what (?:is|are)|give(?: me)?)\s+/iu
const COMPARISON =
  /^(?:.*?\b)?(?:compare|contrast|differences?\s+between|similarities\s+between|difference\s+of)\s+(.+?)\s+(?:and|with|to|versus|vs\.?|against)\s+(.+)$/iu
const VERSUS = /^(.+?)\s+(?:versus|vs\.?)\s+(.+)$/iu
/** The aspect of a comparison follows both things that are compared. */
const COMPARED_ASPECT = /\s+(?:in terms of|with respect to|with regard to|regarding|concerning|as to)\s+(.+)$/iu
const QUESTION_WORD =
  'what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|do|did|can|could|should|will|would|has|have'
/** `and how high is it` asks with one word; `and is red` does not ask. */
const OPEN_QUESTION = /^(?:what|which|who|when|where|why|how)\b/iu
const JOINED_CLAUSE = new RegExp(`(?:,\\s*|;\\s*|\\s+)(?:and|or|but|then)\\s+(?=(?:${QUESTION_WORD})\\b)`, 'giu')
/** 比较A和B的C; A和B的C分别是多少 */
const HAN =
  /^(?:请)?(?:比较|對比|对比|比較)?\s?([^，。的]{1,30}?)\s?[和与與跟及、]\s?([^，。的]{1,30}?)的(.{1,40}?)(?:分别|各)?(?:是多少|是什么|如何|有什么不同)?[?？。]?$/u
/** A sentence that continues the previous one. */
const CONTINUATION =
  /^(?:and\s+|but\s+|,\s*)?(?:(?:what|how)\s+about|and(?=\s+(?:for|of|its|their|\p{Lu}\S*\s*[?？]?$)))\s+(?:for\s+|of\s+|that\s+of\s+|the\s+)*/iu
const POSSESSIVE = /\b(?:its|their)\b/iu
const PRONOUN = /\b(?:its|their|it|they)\b/iu
const LIST_MARK = /^\s*(?:(?:[-*•]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+)+/iu

/**
 * Splits a question by its form: sentences, lines of a list, clauses joined before a question word, and one part for
 * each of several names, measures or years. A single question is returned unchanged. A part with `it` or without a name
 * uses the name of the previous part.
 *
 * @returns at least one, at most `MAX_QUESTIONS`, in the order of the question
 */
export function splitQuestionParts(query: string): QuestionPart[] {
  const parts: QuestionPart[] = []
  const sentences = query
    // Runs of blanks would make the patterns below slow.
    .replace(/[^\S\n]+/g, ' ')
    .split(/\n+/)
    .map((line) => line.replace(LIST_MARK, ''))
    .flatMap(splitLine)
  for (const sentence of sentences) parts.push(...parseSentence(sentence, parts))
  const seen = new Set<string>()
  const distinct = parts
    .map((part) => ({ ...part, text: part.text.replace(/\s+/g, ' ').trim() }))
    .filter(({ text }) => new Set(analyzeQuery(text)).size >= MIN_PART_TERMS)
    .filter(({ text }) => {
      const key = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')
      return !seen.has(key) && seen.add(key)
    })
  if (distinct.length > 0) return distinct.slice(0, MAX_QUESTIONS)
  return [{ text: query.trim(), entities: [] }]
}

/** Texts of `questionParts`. */
export function listSubQuestions(query: string): string[] {
  return splitQuestionParts(query).map(({ text }) => text)
}

/** @param before parts of the previous sentences, which this one may continue */
function parseSentence(sentence: string, before: readonly QuestionPart[]): QuestionPart[] {
  const continued = sentence.length > MAX_COMPARISON_LENGTH ? undefined : continueQuestion(sentence, before)
  if (continued !== undefined) return continued
  const parts: QuestionPart[] = []
  for (const clause of splitJoinedClauses(sentence)) {
    const previous = [...before, ...parts]
    const isFirst = parts.length === 0
    const found =
      clause.length > MAX_COMPARISON_LENGTH
        ? undefined
        : (continueQuestion(clause, previous) ?? expandComparison(clause))
    if (found !== undefined) parts.push(...found)
    else parts.push(...splitComparison(clause).map((text) => addName(text, previous, !isFirst)))
  }
  return parts
}

/**
 * `And what about Amcor?` asks the same of another name; `What about its margin?` asks for another measure of the same
 * name.
 */
function continueQuestion(sentence: string, before: readonly QuestionPart[]): QuestionPart[] | undefined {
  const last = before.at(-1)
  const match = CONTINUATION.exec(sentence)
  if (last === undefined || match === null) return undefined
  const rest = sentence
    .slice(match[0].length)
    .replace(/[?？.!]+\s*$/u, '')
    .trim()
  const names = findNames(`of ${rest}`).map(({ text }) => text)
  const { years, rest: bare } = extractYears(rest)
  const otherWords = names
    .reduce((text, name) => text.replace(name, ' '), bare)
    .replace(/['’]s\b|\b(?:and|or|of|for|the|in|its|their)\b|[,\s]+/giu, ' ')
    .trim()
  const when = years.length > 0 ? years : last.year === undefined ? [] : [last.year]
  // `what about the Heron pump` after a question about the Kestrel pump
  const isSameKind = otherWords === '' || last.entities.some((name) => last.text.includes(`${name} ${otherWords}`))
  if (names.length > 0 && isSameKind) return names.map((name) => buildContinuedPart(name, last, last.measure, when))
  if (names.length === 0 && last.entities.length > 0)
    return last.entities.map((name) =>
      buildContinuedPart(name, last, otherWords === '' ? last.measure : otherWords, when),
    )
  return undefined
}

/** The question of an earlier part, with another name, measure or year. */
function buildContinuedPart(
  name: string,
  { text, entities }: QuestionPart,
  requested: string | undefined,
  years: readonly string[],
): QuestionPart {
  const [year] = years
  const when = years.length === 0 ? '' : ` in ${years.join(' and ')}`
  const [old] = entities
  // A question that is not of the form `measure of name` is repeated with the other name.
  if (requested === undefined)
    return { text: old === undefined ? `${text} (${name})` : text.replaceAll(old, name), entities: [name] }
  return { text: `${requested} of ${name}${when}`, entities: [name], measure: requested, ...omitUndefined({ year }) }
}

/**
 * Adds the name of the previous part to a clause without one: always if it contains `it`, otherwise within its
 * sentence.
 */
function addName(text: string, before: readonly QuestionPart[], isSameSentence: boolean): QuestionPart {
  const own = [...new Set(findNames(text).map((name) => name.text))]
  if (own.length > 0) return { text, entities: own }
  const entities = before.at(-1)?.entities ?? []
  const [name] = entities
  if (name === undefined || entities.length > 1 || !(isSameSentence || PRONOUN.test(text)))
    return { text, entities: [] }
  const replaced = text.replace(POSSESSIVE, `${name}'s`)
  return { text: replaced === text ? `${text.replace(/[?？.!]+\s*$/u, '')} (${name})` : replaced, entities }
}

function splitLine(line: string): string[] {
  return line.split(/(?<=[?？!。！])\s*|(?<=\.)\s+(?=\p{Lu})|;\s+/u).filter((part) => part.trim() !== '')
}

/** `How does X work and why was Y chosen` asks twice. */
function splitJoinedClauses(sentence: string): string[] {
  const clauses = sentence.split(JOINED_CLAUSE)
  const isComplete = (clause: string): boolean =>
    analyzeQuery(clause).length >= (OPEN_QUESTION.test(clause) ? MIN_PART_TERMS : MIN_CLAUSE_TERMS)
  return clauses.every(isComplete) ? clauses : [sentence]
}

function splitComparison(sentence: string): string[] {
  const han = HAN.exec(sentence)?.slice(1)
  if (han !== undefined) return han.slice(0, 2).map((one) => `${one}的${han[2]}`)
  if (sentence.length > MAX_COMPARISON_LENGTH) return [sentence]
  const bare = sentence.replace(/[?.!]{1,9}\s?$/, '')
  const respect = COMPARED_ASPECT.exec(bare)?.[1]
  const compared = respect === undefined ? bare : bare.replace(COMPARED_ASPECT, '')
  const found = COMPARISON.exec(compared) ?? VERSUS.exec(compared)
  const [, one, other] = found ?? []
  if (one === undefined || other === undefined) return [sentence]
  const about = respect === undefined ? '' : ` ${respect}`
  const first = one.replace(LEAD, '')
  return [`${addSharedNouns(first, other)}${about}`, `${addSharedMeasure(other, first)}${about}`]
}

/** `fast and deep mode` are two modes: a single word takes the nouns of the words that it is compared with. */
function addSharedNouns(one: string, other: string): string {
  const [, ...nouns] = other.split(' ')
  return one.includes(' ') || nouns.length === 0 || nouns.length > MAX_SHARED_NOUNS ? one : `${one} ${nouns.join(' ')}`
}

/** `the margin of adobe and amcor`: a bare second side takes the measure of the first. */
function addSharedMeasure(other: string, one: string): string {
  const measure = /^(.+\s(?:of|for|in|at)\s)\S+(?:\s\S+)?$/iu.exec(one)?.[1]
  return measure === undefined || other.split(' ').length > 2 ? other : `${measure}${other}`
}
