import { omitUndefined } from '../../../lib/omit-undefined.js'
import { findNames, type NameMention } from '../../../lib/text/names.js'
import { extractYears } from './years.js'

/** A question of a task, with the requested measure and names if its words show them. */
export interface QuestionPart {
  text: string
  /** names that answers must be about */
  entities: string[]
  /** requested property: `operating margin`; absent when the question has another form */
  measure?: string
  /** requested year */
  year?: string
}

/** A range of a sentence that asks the same of each of its names. */
interface NameClause {
  start: number
  end: number
  names: NameMention[]
}

/** Maximum combinations of name, measure and year that become separate parts; with more, the years stay together. */
const MAX_COMBINATIONS = 8
const JOINERS = ',|;|/|and|or|with|to|versus|vs\\.?|against|than|from|und|oder|mit|et|ou|avec|y|e|con'
const JOINER = new RegExp(`(?:(?<=[\\s\\p{L}’'])(?:[,;/])|(?<=\\s)(?:${JOINERS}))(?=\\s)`, 'giu')
/** Words between two names that are not part of a measure. */
const FILLER_WORDS = new Set(
  (
    'a an the of for in at by on both each every that those these it its one ones how do does did is are was were has ' +
    'have had compare compares compared comparing contrast differ differs differed different difference differences ' +
    'between among relative relate higher lower larger smaller greater less more better worse bigger than and or with ' +
    'to versus vs against from which what who company companies firm had be between respectively as well also ' +
    'about regarding respect and und oder von der die das des den dem et de la le les du d l y e del el los las ' +
    'tell me us please describe explain list give show find summarise summarize state identify provide similar ' +
    'similarity similarities vergleiche zwischen can could would you will'
  ).split(' '),
)
/** Words for a change; a part asks for the thing that changed. */
const CHANGE_PATTERN =
  'chang(?:e|es|ed|ing)|develop(?:s|ed|ment)?|evolv\\w*|evolution|trends?|gr[eo]w(?:s|n|ing)?|growth|increas\\w*|decreas\\w*|declin\\w*|improv\\w*|ris(?:e|es|en|ing)|rose|f[ae]ll(?:s|en|ing)?|differ\\w*|compar\\w*'
const TREND = new RegExp(`\\b(?:${CHANGE_PATTERN}|year[- ]over[- ]year)\\b`, 'iu')
const CHANGE_WORD = new RegExp(`^(?:${CHANGE_PATTERN})$`, 'iu')
/** The aspect of a comparison follows both things that are compared. */
const COMPARED_ASPECT =
  /\s*,?\s*\b(?:in terms of|with respect to|with regard to|regarding|concerning|as to|differ in|by their|by)\s+([^,].*)$/iu
const ENGLISH = /\b(?:the|of|what|which|how|did|does|is|are|was|were|compare|list|for)\b|['’]s\b/iu
/** After a name, these continue the measure: `revenue of A from subscriptions`. */
const QUALIFIER = /^\s*(?:from|in|for|by|on|at|under|per|with|within|outside|excluding|including)\s/iu
const COMPARISON_WORD =
  /\b(?:compar\w*|contrast\w*|versus|vs|differ\w*|than|each|both|respectively|higher|lower|larger|smaller|vergleich\w*|unterschied\w*)\b/iu
const REASON_QUESTION = /\b(?:why|reasons?|drove|drivers?|caus\w*|explain|warum|pourquoi)\b/iu
/** `agreement between A and B` is one thing. */
const RELATION = /\b(?:agreement|contract|deal|merger|relation\w*|partnership|dispute|lawsuit|case|talks|war|match)\b/iu
/** `How long does A take` asks what A takes. */
const HOW_MUCH = /^((?:for\s+)?how)\s+(?:long|often|far|high|deep|fast|old|big|large|tall|heavy)(?=\s)/iu
const PHRASE_EDGE = /^[\s,;:.?!'’"-]+|[\s,;:.?!"-]+$/gu

/**
 * Expands a sentence that asks the same of several names, different things of each, or for several years: one part for
 * each name, measure and year.
 *
 * @returns undefined for a sentence of another form
 */
export function expandComparison(sentence: string): QuestionPart[] | undefined {
  const { years, rest: withoutYears } = extractYears(sentence.replace(/[?.!？。]+\s*$/u, ''))
  const respect = COMPARISON_WORD.test(withoutYears) ? COMPARED_ASPECT.exec(withoutYears) : null
  const rest = (respect === null ? withoutYears : withoutYears.slice(0, respect.index)).replace(HOW_MUCH, '$1')
  const names = findNames(rest)
  if (names.length === 0 || (REASON_QUESTION.test(sentence) && names.length < 2)) return undefined
  if (RELATION.test(sentence) && !COMPARISON_WORD.test(sentence)) return undefined
  const aspects = respect === null ? [] : splitPhrases(respect[1] ?? '')
  const cells = buildRequests(rest, splitClauses(rest, names), aspects)
  const isTrend = years.length > 1 && (TREND.test(sentence) || COMPARISON_WORD.test(sentence) || cells.length > 1)
  const byYear = isTrend && cells.length * years.length <= MAX_COMBINATIONS && !REASON_QUESTION.test(sentence)
  if (cells.length === 0 || (cells.length < 2 && !byYear)) return undefined
  const formatText = ENGLISH.test(sentence) ? formatEnglish : formatAnyLanguage
  return cells.flatMap((cell) =>
    (byYear ? years.map((year) => [year]) : [years]).map((when) => {
      const [year, another] = when
      const { name, measure } = cell
      return {
        text: formatText(cell, when),
        entities: [name],
        ...omitUndefined({ measure }),
        ...(year === undefined || another !== undefined ? {} : { year }),
      }
    }),
  )
}

/** Request for one name. */
interface NameRequest {
  name: string
  /** the name with its kind: `Kestrel pump` */
  subject: string
  measure?: string
}

function formatEnglish({ subject, measure }: NameRequest, years: readonly string[]): string {
  const when = years.length === 0 ? '' : ` in ${years.join(' and ')}`
  return `${measure === undefined ? subject : `${measure} of ${subject}`}${when}`
}

function formatAnyLanguage({ subject, measure }: NameRequest, years: readonly string[]): string {
  const when = years.length === 0 ? '' : ` (${years.join(', ')})`
  return `${measure === undefined ? subject : `${subject}: ${measure}`}${when}`
}

/** @param respect aspect of a comparison, for all its names */
function buildRequests(text: string, clauses: readonly NameClause[], respect: readonly string[]): NameRequest[] {
  const parsed = clauses.map((clause) => parseClause(text, clause))
  // `Which has the higher margin, A or B`: a clause without a measure uses that of the previous clause, or the first
  // one.
  let last = parsed.find(({ measures }) => measures.length > 0)?.measures ?? findChangeVerb(text)
  const cells = new Map<string, NameRequest>()
  for (const [index, { names }] of clauses.entries()) {
    const { measures, kind } = parsed[index] ?? { measures: [], kind: '' }
    if (measures.length > 0) last = measures
    const requested = respect.length > 0 ? respect : last
    for (const { text: name } of names) {
      const own = respect.length > 0 ? measures[0] : undefined
      const subject = own === undefined ? `${name}${kind}` : `${own} of ${name}${kind}`
      for (const measure of requested.length > 0 ? requested : [undefined])
        cells.set(`${name}\n${measure ?? ''}`, { name, subject, ...omitUndefined({ measure }) })
    }
  }
  return [...cells.values()]
}

/** `What do A and B grow?` asks only for its verb, which elsewhere means a change. */
function findChangeVerb(text: string): string[] {
  const verb = /^how\b/iu.test(text) ? undefined : (text.match(/\p{L}+/gu) ?? []).find((word) => CHANGE_WORD.test(word))
  return verb === undefined || COMPARISON_WORD.test(verb) ? [] : [verb]
}

/** Splits a sentence between names where the request for one ends and that for the next begins. */
function splitClauses(text: string, names: readonly NameMention[]): NameClause[] {
  const clauses: NameClause[] = []
  let start = 0
  let clauseNames: NameMention[] = []
  for (const [index, name] of names.entries()) {
    if (!clauseNames.some((one) => one.text === name.text)) clauseNames.push(name)
    const next = names[index + 1]
    const cut = next === undefined ? undefined : findCut(text.slice(name.end, next.start))
    if (next !== undefined && cut === undefined) continue
    const end = cut === undefined ? text.length : name.end + cut.end
    clauses.push({ start, end, names: clauseNames })
    start = name.end + (cut?.next ?? 0)
    clauseNames = []
  }
  return clauses
}

/** Finds where two names are not simply listed; undefined when they are, or when nothing separates them. */
function findCut(gap: string): { end: number; next: number } | undefined {
  const joiners = [...gap.matchAll(JOINER)]
  const first = joiners[0]
  const last = joiners.at(-1)
  if (first === undefined || last === undefined || findContentWords(gap).length === 0) return undefined
  // `A's margin and B's`, `A and the margin of B`: text after the last joiner may belong to the next name.
  const contentAfter = findContentWords(gap.slice(last.index + last[0].length))
  const joiner = contentAfter.length === 0 ? last : first
  return { end: joiner.index, next: joiner.index + joiner[0].length }
}

function findContentWords(text: string): string[] {
  const words = text.replace(/^['’]s?\s/u, ' ').match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}&'’-]*/gu) ?? []
  return words.filter((word) => !isFillerWord(word))
}

function isFillerWord(word: string): boolean {
  return FILLER_WORDS.has(word.toLowerCase()) || CHANGE_WORD.test(word)
}

/** Pairs of words that are one thing. */
const FIXED_PHRASE =
  /\b(?:research and development|sales and marketing|general and administrative|property,? plant,? and equipment|cash and (?:cash )?equivalents|terms and conditions|health and safety|profit and loss|mergers and acquisitions|supply and demand|wages and salaries|pros and cons|rules and regulations)\b/giu
/** joins the words of such a pair */
const GLUE = '\u2060'

/**
 * Measures that a clause requests for its names: the text before them, with a qualifier after them; or else the text
 * after them. A word directly after a name is its kind.
 */
function parseClause(text: string, { start, end, names }: NameClause): { measures: string[]; kind: string } {
  const first = names[0]
  const last = names.at(-1)
  if (first === undefined || last === undefined) return { measures: [], kind: '' }
  const phrasesBefore = splitPhrases(text.slice(start, first.start))
  const between = names.slice(1).map((name, index) => text.slice(names[index]?.end ?? 0, name.start))
  const after = text.slice(last.end, end)
  const [word = ''] = /^\s[\p{L}-]+/u.exec(after) ?? []
  const follows = !last.isPossessive && word !== '' && !isFillerWord(word.trim()) && !QUALIFIER.test(after)
  const phrasesAfter = splitPhrases([...between, after].join(' , '))
  if (phrasesBefore.length > 0) {
    const tail = QUALIFIER.test(after) ? after.trim() : ''
    return { measures: phrasesBefore.map((phrase) => (tail === '' ? phrase : `${phrase} ${tail}`)), kind: '' }
  }
  if (follows && phrasesAfter.length === 1 && phrasesAfter[0] === after.trim())
    return { measures: [], kind: ` ${after.trim()}` }
  return { measures: phrasesAfter, kind: '' }
}

/** Splits a range of a sentence into its things: `the revenue and the net income` are two. */
function splitPhrases(text: string): string[] {
  const glued = text.replace(/^['’]s\b/u, ' ').replace(FIXED_PHRASE, (pair) => pair.replace(/[,\s]+/g, GLUE))
  const phrases = glued
    .split(/\s*(?:[,;]|\band\b|\bor\b|\bund\b|\bet\b)\s+/iu)
    .map((phrase) => trimPhrase(phrase.replace(/['’]s\b/gu, ' ')).replaceAll(GLUE, ' '))
  return [...new Set(phrases.filter((phrase) => phrase !== ''))]
}

/** Removes the filler words around a phrase. */
function trimPhrase(phrase: string): string {
  const words = phrase.replace(PHRASE_EDGE, '').split(/\s+/)
  const isEmpty = (word: string | undefined): boolean =>
    word !== undefined && isFillerWord(word.replace(/[^\p{L}\p{N}_-]/gu, ''))
  while (isEmpty(words[0])) words.shift()
  while (isEmpty(words.at(-1))) words.pop()
  return words.join(' ').replace(PHRASE_EDGE, '')
}
