import { analyzeQuery, forEachTerm } from '../../lib/text/analyze.js'
import { type Rewording, withReworded } from '../../lib/text/compounds.js'
import type { AskedOf } from './confidence.js'
import { conflictsAmong } from './conflicts/among.js'
import type { Contradiction, Difference } from './conflicts/contradictions.js'
import { namesMissing } from './names/names-missing.js'
import { asks, namesIn } from './names/question-names.js'
import { lacksKind } from './question/asked-kind.js'
import { questionWords } from './question/words.js'
import type { Features } from './rerank.js'

type JudgedState = 'answerable' | 'partial' | 'conflict' | 'not-enough-evidence'

export interface JudgedItem {
  text: string
  title: string
  /** name of the file */
  source?: string
  /** final score, 0 to 1 */
  score: number
  features?: Features
  /** terms of the question that it or its title contains, when known; otherwise its text is analysed */
  held?: readonly string[]
  /** id of its document, when known */
  document?: string
  /** day of that document, when known */
  day?: string
  /** whether that document states that it replaces another one */
  replaces?: boolean
}

export interface Verdict {
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
 * their own documents are refused, and four in five of those about another subject's documents (bench/meaning/gate.ts).
 */
export const REFUSE_BELOW = 0.1
/** Minimum confidence, by an embedding or a rerank model, of a passage that answers in other words. */
export const ANSWER_FROM = 0.5
/** Minimum probability of a quotation that answers; less probable ones are presented as the closest passages. */
export const SURE_FROM = 0.7
/**
 * The same when passages state one fact at different times: two documents about it suggest that it is the fact asked
 * for.
 */
const VERSIONS_FROM = 0.5
/**
 * Subtracted from the log odds when none of the best passages mentions a name that is asked for: odds twenty times
 * lower. Scaled by the fraction of names that are missing (bench/meaning/abstention.ts).
 */
const TAKEN_BY_NAMES = 3
/** Number of items that are examined for coverage and contradiction. */
const CONSIDERED = 5

/**
 * Judges the evidence by the scores of the best items, the terms of the query that they contain, and their
 * contradictions.
 *
 * @param request `items` in rank order; `idf` weighs the terms
 */
export function evidenceState(request: {
  query: string
  terms: readonly string[]
  /** replacements of some of the terms */
  rewordings?: readonly Rewording[]
  idf: (term: string) => number
  /** absent: passages are compared by their scores only */
  asked?: AskedOf
  items: readonly JudgedItem[]
  /** probability that the quotation of the items contains the answer, 0 to 1; absent without a quotation */
  probability?: number | undefined
  /** whether items are tables with the rows that the question asks about */
  hasFigures?: boolean
  /** the parsed question (see `questionWords`), when known */
  wordsOf?: (terms: ReadonlySet<string>) => string[]
  /** whether a model found that two sentences do not contradict each other */
  agree?: (one: string, other: string) => boolean
}): Verdict {
  const considered = request.items.slice(0, CONSIDERED)
  const top = considered[0]?.score ?? 0
  const held = new Set<string>()
  for (const item of considered)
    if (item.held === undefined) forEachTerm(`${item.title}\n${item.text}`, (term) => held.add(term))
    else for (const term of item.held) held.add(term)
  withReworded(held, request.rewordings)
  const asked = askedTerms(request.query, request.terms, considered)
  const wordsOf = request.wordsOf ?? questionWords(request.query)
  const uncovered = wordsOf(new Set([...asked].filter((term) => !held.has(term))))
  const unmentioned = unmentionedShare(request.query, considered)
  // An embedding or a rerank model can be sure of a passage that uses other words.
  const { byVectors = 0, byRerank = 0 } = request.asked ?? {}
  const isSure = Math.max(byVectors, byRerank) >= ANSWER_FROM
  const likely = isSure ? top : lessLikely(top, TAKEN_BY_NAMES * unmentioned)
  // A computed figure, such as a ratio, shares no word with its rows.
  const hasRows = request.hasFigures === true && unmentioned === 0
  if (considered.length === 0 || (likely < REFUSE_BELOW && !hasRows))
    return { state: 'not-enough-evidence', conflicts: [], differences: [], uncovered }
  const { conflicts, differences } = conflictsAmong(request, considered)
  if (conflicts.length > 0) return { state: 'conflict', conflicts, differences, uncovered }
  const isNear = isSure && top >= ANSWER_FROM
  const hasVersions = differences.some(({ newer }) => newer !== undefined)
  const least = hasVersions ? VERSIONS_FROM : SURE_FROM
  const answers = unmentioned === 0 && (isNear || (request.probability ?? 0) >= least)
  return { state: answers ? 'answerable' : 'partial', conflicts, differences, uncovered }
}

const ASKS_FOR_MEASURE =
  /\bhow\s+(much|many|long|often|far|old|big|tall|high|deep|wide|large|fast|soon|late|heavy|expensive)\b/giu

/**
 * Terms of the question, without the word after `how` (`how long`) when a text contains a number: the number replaces
 * it.
 */
export function askedTerms(query: string, terms: readonly string[], items: readonly { text: string }[]): Set<string> {
  const asked = new Set(terms)
  const measures = [...query.matchAll(ASKS_FOR_MEASURE)]
  if (measures.length === 0 || items.every(({ text }) => lacksKind('number', text))) return asked
  for (const [, word = ''] of measures) for (const term of analyzeQuery(word)) if (asked.size > 1) asked.delete(term)
  return asked
}

/**
 * Fraction of the names in a question that none of the passages mentions: statements about others are no answer. A
 * statement to be checked may use names that its evidence does not use.
 */
function unmentionedShare(query: string, items: readonly JudgedItem[]): number {
  if (!asks(query)) return 0
  const missing = namesMissing(query, items).length
  return missing === 0 ? 0 : missing / namesIn(query).length
}

function lessLikely(confidence: number, taken: number): number {
  return taken === 0 ? confidence : confidence / (confidence + (1 - confidence) * Math.exp(taken))
}
