import { sentenceTerms } from '../../../../lib/text/sentence-terms.js'
import { type MentionWords, mentions, toMentionWords } from '../names/missing-names.js'
import { computeSignStrength } from '../question/answer-type.js'
import { computeWeightFraction, findMatchedTerms, type PreparedQuestion, selectMatchedTerms } from './question.js'
import { type QuotationUnit, splitCells, splitUnits } from './units.js'

/** A passage from which quotations are chosen. */
export interface QuotablePassage {
  text: string
  /** title of its document and the headings above it */
  title: string
  /** file name */
  source: string
  /** relevance to the question, 0 to 1 */
  score: number
  /** terms of the question in its text or title; absent: computed from the text */
  matched?: readonly string[]
}

/**
 * Features that rank a unit and estimate whether it answers. Fractions are of the question's weight, 0 to 1. A term
 * counts once: in the unit, else in its lead, else in the headings above it in the passage, else in the title or file
 * name.
 */
export const FEATURES = [
  'inUnit',
  'inLead',
  'inHeading',
  'inTitle',
  /** only elsewhere in the passage */
  'elsewhere',
  'missing',
  /** missing, but a word of the unit begins with the same four letters */
  'similar',
  /** adjacent terms of the question that are adjacent in the unit */
  'pairs',
  /** how close together the matched terms are */
  'density',
  'headingMatch',
  'titleMatch',
  'isFirst',
  'reciprocalRank',
  'passageScore',
  /** strength of a number or time in the unit, if the question asks for one */
  'containsExact',
  /** the same for a person or a place */
  'containsName',
  /** the same for a reason or a definition */
  'containsLoose',
  'noType',
  'namesInUnit',
  'namesInTitle',
  'namesMissing',
  'yearFound',
  'otherYear',
  'numbersFound',
  'isList',
  'isRow',
  'isTable',
  'wantedList',
  'wantedParagraph',
  'length',
  'isStart',
  'hasHeading',
  /** difference of its matches to those of the best unit */
  'behindBest',
  'isScrap',
  'numericRow',
  'inFirstCell',
  /** difference of a row's matches to those of the other rows of its table */
  'rowMargin',
  /** fraction of a table's matches that a single row contains, with the header */
  'singleRow',
] as const
export type Feature = (typeof FEATURES)[number]
type UnitFeatures = Record<Feature, number>

/** A unit with its features. */
export interface QuotationCandidate {
  /** index of its passage */
  passage: number
  unit: QuotationUnit
  features: UnitFeatures
}

/** Types of answers that are numbers or times. */
export const EXACT_TYPES: ReadonlySet<string> = new Set(['time', 'number', 'percent', 'money', 'duration'])
const NAME_TYPES: ReadonlySet<string> = new Set(['person', 'place'])
const UNTYPED_TYPES: ReadonlySet<string> = new Set(['any', 'truth'])
const MENTIONED_YEAR = /(?<!\d)(?:19|20)\d\d(?!\d)/gu
const MIN_TERMS = 3
const SIMILAR_LETTERS = 4
const AVERAGE_LENGTH = 150
const MIN_LENGTH = 20
/** A row with this fraction of a table's matches has all of them; sums of weights are inexact. */
const ALL_IN_ROW_FRACTION = 0.999

/** Values that the units of a passage share. */
interface PassageContext {
  index: number
  passage: QuotablePassage
  title: ReadonlySet<string>
  body: ReadonlySet<string>
  titleMatch: number
  titleWords: MentionWords
}

/** Compares all units of some passages with a question. @param passages best first */
export function buildCandidates(
  question: PreparedQuestion,
  passages: readonly QuotablePassage[],
): QuotationCandidate[] {
  const candidates = passages.flatMap((passage, index) => {
    const context = buildPassageContext(question, passage, index)
    return splitUnits(passage.text).map((unit) => ({
      passage: index,
      unit,
      features: computeFeatures(question, context, unit),
    }))
  })
  const matched = ({ features }: QuotationCandidate): number => features.inUnit + features.inLead + features.inHeading
  const best = Math.max(0, ...candidates.map(matched))
  for (const candidate of candidates) candidate.features.behindBest = best - matched(candidate)
  compareRows(candidates)
  return question.wantsList ? candidates : candidates.filter(({ features }) => features.singleRow < ALL_IN_ROW_FRACTION)
}

function buildPassageContext(question: PreparedQuestion, passage: QuotablePassage, index: number): PassageContext {
  const { title, source, text, matched } = passage
  const inTitle = findMatchedTerms(question, title)
  const inSource = findMatchedTerms(question, source.replace(/[/._-]+/gu, ' '))
  return {
    index,
    passage,
    title: new Set([...inTitle, ...inSource]),
    body: matched === undefined ? findMatchedTerms(question, text) : new Set(matched),
    titleMatch: computeTextOverlap(question, sentenceTerms(title), inTitle),
    titleWords: toMentionWords({ text: '', title, source }),
  }
}

/** Fraction of the question's weight that the matched terms have, times their fraction of the text. */
function computeTextOverlap(
  question: PreparedQuestion,
  terms: readonly string[],
  matched: ReadonlySet<string>,
): number {
  return matched.size === 0 ? 0 : (computeWeightFraction(question, matched) * matched.size) / new Set(terms).size
}

function computeFeatures(question: PreparedQuestion, context: PassageContext, unit: QuotationUnit): UnitFeatures {
  const { passage, index } = context
  const { kind, text, heading, lead } = unit
  const terms = sentenceTerms(text)
  const headingTerms = sentenceTerms(heading)
  const inUnit = selectMatchedTerms(question, terms)
  const inLead = subtractTerms(findMatchedTerms(question, lead), inUnit)
  const inHeading = selectMatchedTerms(question, headingTerms)
  const onlyHeading = subtractTerms(inHeading, inUnit, inLead)
  const inTitle = subtractTerms(context.title, inUnit, inLead, inHeading)
  const found = new Set([...inUnit, ...inLead, ...inHeading, ...inTitle])
  const missing = subtractTerms(new Set(question.weights.keys()), found)
  return {
    inUnit: computeWeightFraction(question, inUnit),
    inLead: computeWeightFraction(question, inLead),
    inHeading: computeWeightFraction(question, onlyHeading),
    inTitle: computeWeightFraction(question, inTitle),
    elsewhere: computeWeightFraction(question, subtractTerms(context.body, found)),
    missing: computeWeightFraction(question, missing),
    similar: computeWeightFraction(question, findSimilarTerms(missing, [...terms, ...headingTerms])),
    ...computeCloseness(question, terms, inUnit),
    headingMatch: computeTextOverlap(question, headingTerms, inHeading),
    titleMatch: context.titleMatch,
    isFirst: Number(index === 0),
    reciprocalRank: 1 / (1 + index),
    passageScore: passage.score,
    ...computeTypeFeatures(question, unit),
    ...computeNameFeatures(question, context, unit),
    ...computeNumberFeatures(question, `${passage.title}\n${passage.source}\n${heading}\n${lead}\n${text}`),
    isList: Number(kind === 'list'),
    isRow: Number(kind === 'row'),
    isTable: Number(kind === 'table'),
    wantedList: Number(question.wantsList && kind === 'list'),
    wantedParagraph: Number(question.wantsList && kind === 'paragraph'),
    length: Math.log(Math.max(MIN_LENGTH, text.length) / AVERAGE_LENGTH),
    isStart: Number(unit.start === 0),
    hasHeading: Number(heading !== ''),
    behindBest: 0,
    isScrap: Number(terms.length < MIN_TERMS),
    inFirstCell:
      kind === 'row' ? computeWeightFraction(question, findMatchedTerms(question, splitCells(text)[0] ?? '')) : 0,
    rowMargin: 0,
    singleRow: 0,
  }
}

function subtractTerms(terms: ReadonlySet<string>, ...others: ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set([...terms].filter((term) => !others.some((other) => other.has(term))))
}

function findSimilarTerms(missing: ReadonlySet<string>, terms: readonly string[]): string[] {
  const beginning = (term: string): string => term.slice(0, SIMILAR_LETTERS)
  const beginnings = new Set(terms.filter((term) => term.length >= SIMILAR_LETTERS).map(beginning))
  return [...missing].filter((term) => term.length >= SIMILAR_LETTERS && beginnings.has(beginning(term)))
}

function computeCloseness(
  { weights, pairs }: PreparedQuestion,
  terms: readonly string[],
  matched: ReadonlySet<string>,
) {
  let adjacent = 0
  let previous = ''
  for (const term of terms) {
    if (pairs.has(`${previous} ${term}`)) adjacent++
    previous = term
  }
  const first = terms.findIndex((term) => weights.has(term))
  const last = terms.findLastIndex((term) => weights.has(term))
  const density = matched.size === 0 ? 0 : matched.size / Math.max(matched.size, last - first + 1)
  return { pairs: Math.min(1, adjacent / 2), density }
}

function computeTypeFeatures({ type, text }: PreparedQuestion, unit: QuotationUnit) {
  const sign = computeSignStrength(type, unit.text, text)
  const isExact = EXACT_TYPES.has(type)
  const isName = NAME_TYPES.has(type)
  const isUntyped = UNTYPED_TYPES.has(type)
  return {
    containsExact: isExact ? sign : 0,
    containsName: isName ? sign : 0,
    containsLoose: isExact || isName || isUntyped ? 0 : sign,
    noType: Number(isUntyped),
    numericRow: Number(isExact && unit.kind === 'row'),
  }
}

function computeNameFeatures(
  { names }: PreparedQuestion,
  { titleWords }: PassageContext,
  { heading, lead, text }: QuotationUnit,
) {
  if (names.length === 0) return { namesInUnit: 0, namesInTitle: 0, namesMissing: 0 }
  const words = toMentionWords({ text: `${heading}\n${lead}\n${text}`, title: '' })
  const inUnit = names.filter((name) => mentions(words, name)).length / names.length
  const anywhere = names.filter((name) => mentions(words, name) || mentions(titleWords, name)).length / names.length
  return { namesInUnit: inUnit, namesInTitle: anywhere - inUnit, namesMissing: 1 - anywhere }
}

function computeNumberFeatures({ years, numbers }: PreparedQuestion, text: string) {
  const mentioned = new Set(text.match(MENTIONED_YEAR))
  const yearFound = computeFoundFraction(years, (year) => mentioned.has(year))
  return {
    yearFound,
    otherYear: Number(years.length > 0 && yearFound === 0 && mentioned.size > 0),
    numbersFound: computeFoundFraction(numbers, (number) => text.includes(number)),
  }
}

function computeFoundFraction(expected: readonly string[], isFound: (one: string) => boolean): number {
  return expected.length === 0 ? 0 : expected.filter(isFound).length / expected.length
}

/** Compares the rows of each table with each other. */
function compareRows(candidates: readonly QuotationCandidate[]): void {
  const tables = new Map<string, QuotationCandidate[]>()
  for (const candidate of candidates) {
    const { kind, block } = candidate.unit
    if (kind !== 'row' && kind !== 'table') continue
    const key = `${candidate.passage} ${block}`
    const table = tables.get(key)
    if (table === undefined) tables.set(key, [candidate])
    else table.push(candidate)
  }
  for (const table of tables.values()) {
    const rows = table.filter(({ unit }) => unit.kind === 'row')
    const [best = 0, second = 0] = rows.map(({ features }) => features.inUnit).sort((a, b) => b - a)
    const matched = Math.max(
      0,
      ...rows.map(({ features }) => (features.inUnit > 0 ? features.inUnit + features.inLead : 0)),
    )
    for (const { unit, features } of table) {
      const { inUnit } = features
      if (unit.kind === 'table') features.singleRow = inUnit > 0 ? matched / inUnit : 0
      else features.rowMargin = inUnit - (inUnit === best ? second : best)
    }
  }
}
