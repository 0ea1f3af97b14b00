import { analyzeQuery, forEachTerm } from '../../../lib/text/analyze.js'
import { addReworded, type Rewording } from '../../../lib/text/compounds.js'
import { computeAnswerConfidence, type QuestionStatistics } from './confidence.js'
import {
  type ComparablePassage,
  type ConflictFindings,
  type Contradiction,
  type Difference,
  findContradictions,
} from './conflicts/contradictions.js'
import { findMissingNames } from './names/missing-names.js'
import { findNames, isQuestionText } from './names/question-names.js'
import { lacksKind } from './question/requested-kind.js'
import { parseQuestionWords } from './question/words.js'
import type { PassageFeatures } from './rerank.js'

type JudgedState = 'answerable' | 'partial' | 'conflict' | 'not-enough-evidence'

export interface JudgedItem {
  text: string
  title: string
  /** name of the file */
  source?: string
  /** final score, 0 to 1 */
  score: number
  features?: PassageFeatures
  /** terms of the question that it or its title contains, when known; otherwise its text is analysed */
  containedTerms?: readonly string[]
  /** id of its document, when known */
  document?: string
  /** day of that document, when known */
  day?: string
  /** whether that document states that it replaces another one */
  replaces?: boolean
}

export interface EvidenceVerdict {
  state: JudgedState
  /** pairs of items (by index) that contradict each other */
  conflicts: Contradiction[]
  /** pairs of items that differ without contradicting: another time, version or region */
  differences: Difference[]
  /** words of the query that no item contains, as the query spells them */
  uncovered: string[]
}

/**
 * Below this confidence no passage is near the question. On held-out question sets, at most 5 % of the questions about
 * their own documents are refused, and four in five of those about another subject's documents (bench/answers/gate.ts).
 */
export const REFUSAL_THRESHOLD = 0.1
/** Minimum confidence, by an embedding or a rerank model, of a passage that answers in other words. */
export const ANSWER_THRESHOLD = 0.5
/** Minimum probability of a quotation that answers; less probable ones are presented as the closest passages. */
export const SURE_QUOTATION_THRESHOLD = 0.7
/**
 * The same when passages state one fact at different times: two documents about it suggest that it is the fact asked
 * for.
 */
const VERSIONS_QUOTATION_THRESHOLD = 0.5
/**
 * Subtracted from the log odds when none of the best passages mentions a name that is asked for: odds twenty times
 * lower. Scaled by the fraction of names that are missing (bench/answers/abstention.ts).
 */
const MISSING_NAMES_PENALTY = 3
/** Number of items that are examined for coverage and contradiction. */
const MAX_CONSIDERED_ITEMS = 5

/**
 * Judges the evidence by the scores of the best items, the terms of the query that they contain, and their
 * contradictions.
 *
 * @param request `items` in rank order; `idf` weighs the terms
 */
export function judgeEvidence(request: {
  query: string
  terms: readonly string[]
  /** replacements of some of the terms */
  rewordings?: readonly Rewording[]
  idf: (term: string) => number
  /** absent: passages are compared by their scores only */
  statistics?: QuestionStatistics
  items: readonly JudgedItem[]
  /** probability that the quotation of the items contains the answer, 0 to 1; absent without a quotation */
  probability?: number | undefined
  /** whether items are tables with the rows that the question asks about */
  hasFigures?: boolean
  /** the parsed question (see `parseQuestionWords`), when known */
  wordsOf?: (terms: ReadonlySet<string>) => string[]
  /** whether a model found that two sentences do not contradict each other */
  agree?: (one: string, other: string) => boolean
}): EvidenceVerdict {
  const considered = request.items.slice(0, MAX_CONSIDERED_ITEMS)
  const top = considered[0]?.score ?? 0
  const containedTerms = new Set<string>()
  for (const item of considered)
    if (item.containedTerms === undefined)
      forEachTerm(`${item.title}\n${item.text}`, (term) => containedTerms.add(term))
    else for (const term of item.containedTerms) containedTerms.add(term)
  addReworded(containedTerms, request.rewordings)
  const questionTerms = dropMeasureTerms(request.query, request.terms, considered)
  const wordsOf = request.wordsOf ?? parseQuestionWords(request.query)
  const uncovered = wordsOf(new Set([...questionTerms].filter((term) => !containedTerms.has(term))))
  const unmentioned = computeUnmentionedFraction(request.query, considered)
  // An embedding or a rerank model can be sure of a passage that uses other words.
  const { byVectors = 0, byRerank = 0 } = request.statistics ?? {}
  const isSure = Math.max(byVectors, byRerank) >= ANSWER_THRESHOLD
  const confidence = isSure ? top : lowerOdds(top, MISSING_NAMES_PENALTY * unmentioned)
  // A computed figure, such as a ratio, shares no word with its rows.
  const hasRows = request.hasFigures === true && unmentioned === 0
  if (considered.length === 0 || (confidence < REFUSAL_THRESHOLD && !hasRows))
    return { state: 'not-enough-evidence', conflicts: [], differences: [], uncovered }
  const { conflicts, differences } = findItemConflicts(request, considered)
  if (conflicts.length > 0) return { state: 'conflict', conflicts, differences, uncovered }
  const isNear = isSure && top >= ANSWER_THRESHOLD
  const hasVersions = differences.some(({ newer }) => newer !== undefined)
  const minProbability = hasVersions ? VERSIONS_QUOTATION_THRESHOLD : SURE_QUOTATION_THRESHOLD
  const answers = unmentioned === 0 && (isNear || (request.probability ?? 0) >= minProbability)
  return { state: answers ? 'answerable' : 'partial', conflicts, differences, uncovered }
}

const MEASURE_QUESTION =
  /\bhow\s+(much|many|long|often|far|old|big|tall|high|deep|wide|large|fast|soon|late|heavy|expensive)\b/giu

/**
 * Terms of the question, without the word after `how` (`how long`) when a text contains a number: the number replaces
 * it.
 */
export function dropMeasureTerms(
  query: string,
  terms: readonly string[],
  items: readonly { text: string }[],
): Set<string> {
  const remaining = new Set(terms)
  const measures = [...query.matchAll(MEASURE_QUESTION)]
  if (measures.length === 0 || items.every(({ text }) => lacksKind('number', text))) return remaining
  for (const [, word = ''] of measures)
    for (const term of analyzeQuery(word)) if (remaining.size > 1) remaining.delete(term)
  return remaining
}

/**
 * Fraction of the names in a question that none of the passages mentions: statements about others are no answer. A
 * statement to be checked may use names that its evidence does not use.
 */
function computeUnmentionedFraction(query: string, items: readonly JudgedItem[]): number {
  if (!isQuestionText(query)) return 0
  const missing = findMissingNames(query, items).length
  return missing === 0 ? 0 : missing / findNames(query).length
}

function lowerOdds(confidence: number, penalty: number): number {
  return penalty === 0 ? confidence : confidence / (confidence + (1 - confidence) * Math.exp(penalty))
}

/** An item of evidence that is compared for contradictions. */
export interface ComparedItem extends ComparablePassage {
  /** final score, 0 to 1 */
  score: number
  features?: PassageFeatures
}

/** Minimum score of a contradicting item, as a fraction of the best score, … */
const MIN_SCORE_FRACTION = 0.25
/** … or its minimum confidence on its own. */
const MIN_OWN_CONFIDENCE = 0.5
/** Minimum fraction of the question that a sentence and the title contain: otherwise no sentence is read. */
const MIN_ITEM_COVERAGE = 0.3

/**
 * Finds contradictions among items that are comparable with the best one. Scores are relative to the candidates: of two
 * items that state nearly the same, the second may have half of the first's score. So each item's own confidence counts
 * too.
 *
 * @param request `terms` of the question, weighed by `idf`; `agree` excludes pairs of sentences
 * @param considered in rank order
 */
export function findItemConflicts(
  {
    query,
    terms,
    idf,
    statistics,
    agree = () => false,
  }: {
    query: string
    terms: readonly string[]
    idf: (term: string) => number
    /** absent: items are compared by their scores only */
    statistics?: QuestionStatistics
    agree?: (one: string, other: string) => boolean
  },
  considered: readonly ComparedItem[],
): ConflictFindings {
  const computeOwnConfidence = (item: ComparedItem | undefined): number =>
    item?.features === undefined || statistics === undefined ? 0 : computeAnswerConfidence(item.features, statistics)
  const [best] = considered
  const indexes = considered.flatMap((item, index) =>
    (item.features === undefined ||
      item.features.sentenceCoverage + item.features.titleCoverage >= MIN_ITEM_COVERAGE) &&
    (item.score >= MIN_SCORE_FRACTION * (best?.score ?? 0) ||
      computeOwnConfidence(item) >= Math.max(MIN_OWN_CONFIDENCE, MIN_SCORE_FRACTION * computeOwnConfidence(best)))
      ? [index]
      : [],
  )
  const found = findContradictions(
    query,
    terms,
    idf,
    indexes.flatMap((index) => considered[index] ?? []),
  )
  const toItemIndex = (index: number): number => indexes[index] ?? index
  const indexed = <T extends { item: number; other: number }>(pair: T): T => ({
    ...pair,
    item: toItemIndex(pair.item),
    other: toItemIndex(pair.other),
  })
  return {
    conflicts: found.conflicts.filter(({ sentences: [one, other] }) => !agree(one, other)).map(indexed),
    differences: found.differences
      .map(indexed)
      .map((pair) => (pair.newer === undefined ? pair : { ...pair, newer: toItemIndex(pair.newer) })),
  }
}
