import { analyzeQuery } from '../../../../lib/text/analyze.js'
import { splitSentences } from '../../../../lib/text/sentences.js'
import { termHash } from '../passage.js'
import { measureComponents } from './measures.js'

/** A term of a question with its weight. */
export interface WeightedQueryTerm {
  term: string
  hash: number
  /** 1, or less in a sentence that is not the question itself */
  weight: number
}

/** Weight of sentences that do not ask: they describe the form of the answer, or define a word. */
const CONTEXT_WEIGHT = 0.5
/** Weight of the components of a ratio, relative to the ratio's own words. */
const COMPONENT_WEIGHT = 0.5
/** Maximal number of terms compared with every summary; a longer question repeats itself. */
const MAX_QUERY_TERMS = 48
const YEAR_WITH_PREFIX = /^[a-z]{1,3}((?:19|20)\d\d)$/
const SHORT_YEAR = /^fy(\d\d)$/

/**
 * Distinct terms of a question for the page index. A year with a prefix (`FY2022`, `FY22`) also gives the plain year.
 */
export function toQueryTerms(query: string): WeightedQueryTerm[] {
  const found = new Map<string, number>()
  const spans = splitSentences(query)
  const hasQuestion = spans.some(({ end }) => isQuestion(query, end))
  for (const [index, { start, end }] of spans.entries()) {
    const weight = index === 0 || !hasQuestion || isQuestion(query, end) ? 1 : CONTEXT_WEIGHT
    for (const term of analyzeQuery(query.slice(start, end)))
      for (const expanded of expandYear(term)) found.set(expanded, Math.max(found.get(expanded) ?? 0, weight))
  }
  for (const term of analyzeQuery(measureComponents(query))) if (!found.has(term)) found.set(term, COMPONENT_WEIGHT)
  return [...found].slice(0, MAX_QUERY_TERMS).map(([term, weight]) => ({ term, hash: termHash(term), weight }))
}

/** The terms of a question in order, years as in `toQueryTerms`. */
export function toTermSequence(query: string): string[] {
  return analyzeQuery(query).flatMap(expandYear)
}

/** The terms, in order, of the sentences that ask; of all sentences if none asks. */
export function toCoreTerms(query: string): string[] {
  const sentences = splitSentences(query).map(({ start, end }) => query.slice(start, end))
  const questions = sentences.filter((sentence) => isQuestion(sentence, sentence.length))
  return toTermSequence((questions.length > 0 ? questions : sentences).join('\n'))
}

function isQuestion(text: string, end: number): boolean {
  return /[?？]$/.test(text.slice(0, end))
}

function expandYear(term: string): string[] {
  const year = YEAR_WITH_PREFIX.exec(term)?.[1] ?? (SHORT_YEAR.test(term) ? `20${term.slice(2)}` : undefined)
  return year === undefined ? [term] : [term, year]
}

/**
 * Whether a question is about figures: an amount, a fraction, a change. Passages with numbers answer such questions.
 * English, German, French, Spanish and Chinese; in other languages only a `%` is recognised.
 */
export function asksForFigures(query: string): boolean {
  return FIGURES.test(query)
}

const FIGURES = new RegExp(
  [
    '%',
    '\\b(?:percent\\w*|ratio|margins?|rates?|growth|gr[eo]w\\w*|increas\\w*|decreas\\w*|improv\\w*|declin\\w*|how much|how many',
    'amounts?|totals?|average|sum|cash ?flows?|revenues?|earnings|costs?|profits?|year-over-year',
    'wie ?viel\\w*|prozent|anteil|umsatz|gewinn|kosten|combien|taux|montant|cu[aá]nt\\w*|porcentaje)\\b|多少|比例|比率|增长|增長|总额|總額',
  ].join('|'),
  'iu',
)
