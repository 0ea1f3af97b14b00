import { analyzeQuery } from '../../../lib/text/analyze.js'
import { type Rewording, withReworded } from '../../../lib/text/compounds.js'
import { type AnswerType, answerType } from '../answer-type.js'
import { type Piece, piecesOf } from '../pieces.js'
import { sentenceTerms } from '../sentence-terms.js'
import { signOf } from './answer-signs.js'
import { conclusionSign } from './conclusion.js'
import { wantsList } from './lists.js'
import { mentions, wordsOf } from './names-missing.js'
import { namesIn, type QuestionName } from './question-names.js'

/** A passage as answers quote it; `source` is the name of its file. */
export interface Quotable {
  text: string
  title: string
  source?: string
}

/** A question as sentences are compared with it. */
export interface Question {
  /** in small letters */
  text: string
  type: AnswerType
  /** of each distinct term, how telling it is */
  weights: ReadonlyMap<string, number>
  total: number
  /** its distinct terms */
  asked: ReadonlySet<string>
  /** what stands for some of them, and the terms of that */
  rewordings: readonly Rewording[]
  told: ReadonlySet<string>
  wantsList: boolean
  /** its neighbouring terms */
  pairs: ReadonlySet<string>
  names: readonly QuestionName[]
  /** in a script without spaces between words */
  isUnspaced: boolean
  /** a claim or a question for yes or no: authors answer those in their conclusions */
  judges: boolean
}

/** What the words of a sentence say for it, each about 0 to 1; shares are of the question's weight. */
export interface TermSigns {
  /** held by the sentence */
  covered: number
  /** held by the sentence before it alone */
  before: number
  /** held by the title alone */
  titled: number
  /** held by the whole passage and its title */
  passage: number
  adjacent: number
  /** one by the place of its passage */
  rank: number
  /** it begins its passage */
  opens: number
  /** not held, but another word of the same beginning or, of scripts without spaces, its characters */
  near: number
  /** names of the question that its passage mentions */
  named: number
  /** it is a list, and a list is asked for */
  lists: number
}

/** What reading it says for it beside, which costs more to tell. */
export interface ReadSigns {
  /** how surely it holds the kind of thing asked for; 0 where the question names no kind */
  typed: number
  /** held by the sentence before it alone, where this one begins with a word that stands for what was named there */
  follows: number
  /** of claims: 1 for a conclusion, -1 for background */
  concludes: number
}

/** A sentence, or a row of a table, that may answer. */
export interface Candidate {
  evidenceIndex: number
  /** place in its passage */
  order: number
  text: string
  /** terms of the question in it */
  held: ReadonlySet<string>
  /** share of the question that the sentence and its title hold together */
  covered: number
  signs: TermSigns
}

/** Headings and scraps of fewer terms are not answers, unless there is nothing else. */
const MIN_TERMS = 3
/** Letters that words of one family share at their beginning. */
const FAMILY = 5
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u
/** Words that stand for what was named before. */
const POINTS_BACK =
  /^(?:it|its|they|their|he|his|she|her|this|these|that|those|such|both|er|sie|es|dies\w*|diese\w*|il|elle|ils|elles|ce|cette|ces|este|esta|estos|estas|ello|ella|su)\s|^(?:the|der|die|das|le|la|el) (?:\p{L}+ ){0,2}\p{L}+ |^[它他她这這那其该該此本]/iu

/**
 * @param idf how telling a term is
 * @param rewordings what stands for some of the question's terms
 */
export function prepare(query: string, idf: (term: string) => number, rewordings: readonly Rewording[] = []): Question {
  const terms = analyzeQuery(query)
  const weights = new Map(terms.map((term) => [term, Math.max(0, idf(term))]))
  const type = answerType(query)
  return {
    text: query.toLowerCase(),
    type,
    weights,
    total: weightOf(weights, weights.keys()),
    asked: new Set(terms),
    rewordings,
    told: new Set(rewordings.flatMap(({ told }) => told)),
    wantsList: wantsList(query),
    pairs: new Set(terms.slice(1).map((term, i) => `${terms[i]} ${term}`)),
    names: namesIn(query),
    isUnspaced: UNSPACED.test(query),
    judges: type === 'truth' || (type === 'any' && terms.length > 3),
  }
}

/** Weight of those terms of the question. */
export function weightOf(weights: ReadonlyMap<string, number>, terms: Iterable<string>): number {
  let sum = 0
  for (const term of terms) sum += weights.get(term) ?? 0
  return sum
}

/** What of a passage may answer: the sentences that hold a word of the question, or stand under a title that does. */
export function candidatesOf(question: Question, passage: Quotable, evidenceIndex: number): Candidate[] {
  const share = (found: Iterable<string>): number => weightOf(question.weights, found) / (question.total || 1)
  const titled = heldBy(question, passage.title)
  const pieces = piecesOf(passage.text, question.asked, question.wantsList).map((piece) => matchesOf(question, piece))
  const whole = new Set(titled)
  for (const { held } of pieces) for (const term of held) whole.add(term)
  const passageShare = share(whole)
  const candidates: Candidate[] = []
  if (passageShare === 0) return candidates
  const named = namedShare(question, passage)
  let previous: ReadonlySet<string> = NONE
  for (const [order, { piece, held, adjacent, terms, others }] of pieces.entries()) {
    const { text, isRow } = piece
    const inTitle = share(without(titled, held))
    const covered = share(held)
    const isScrap = terms < MIN_TERMS && pieces.length > 1 && !isRow
    if (!isScrap && covered + inTitle > 0) {
      const signs = {
        covered,
        before: share(without(previous, held)),
        titled: inTitle,
        passage: passageShare,
        adjacent: Math.min(1, adjacent / 2),
        rank: 1 / (1 + evidenceIndex),
        opens: order === 0 ? 1 : 0,
        near: nearShare(question, text, held, others),
        named,
        lists: piece.isList === true && question.wantsList ? 1 : 0,
      }
      candidates.push({ evidenceIndex, order, text, held, covered: covered + inTitle, signs })
    }
    // rows of a table do not speak of one another
    previous = isRow ? NONE : held
  }
  return candidates
}

const NONE: ReadonlySet<string> = new Set()

function without(terms: ReadonlySet<string>, held: ReadonlySet<string>): string[] {
  const left: string[] = []
  for (const term of terms) if (!held.has(term)) left.push(term)
  return left
}

/** Reads a candidate. */
export function readSigns(question: Question, { text, signs }: Candidate): ReadSigns {
  return {
    typed: signOf(question.type, text, question.text),
    follows: signs.before > 0 && POINTS_BACK.test(text) ? signs.before : 0,
    concludes: question.judges ? conclusionSign(text) : 0,
  }
}

function heldBy(question: Question, text: string): Set<string> {
  const held = new Set<string>()
  for (const term of sentenceTerms(text)) if (question.weights.has(term) || question.told.has(term)) held.add(term)
  return reworded(question, held)
}

/** The question's terms of what a text holds, those among them that it says in other words. */
function reworded({ weights, rewordings }: Question, held: Set<string>): Set<string> {
  if (rewordings.length === 0) return held
  withReworded(held, rewordings)
  return new Set([...held].filter((term) => weights.has(term)))
}

interface Matches {
  piece: Piece
  held: ReadonlySet<string>
  /** neighbouring terms that are neighbours in the question too */
  adjacent: number
  terms: number
  /** terms that the question does not have */
  others: readonly string[]
}

function matchesOf(question: Question, piece: Piece): Matches {
  const held = new Set<string>()
  let adjacent = 0
  let terms = 0
  const others: string[] = []
  let previous = ''
  for (const term of sentenceTerms(piece.text)) {
    terms++
    if (question.weights.has(term)) {
      held.add(term)
      if (question.pairs.has(`${previous} ${term}`)) adjacent++
    } else {
      others.push(term)
      if (question.told.has(term)) held.add(term)
    }
    previous = term
  }
  return { piece, held: reworded(question, held), adjacent, terms, others }
}

/** Share of the question that a sentence does not hold but comes near to. */
function nearShare(question: Question, text: string, held: ReadonlySet<string>, others: readonly string[]): number {
  const { weights, total, isUnspaced } = question
  const families = new Set(others.map((other) => other.slice(0, FAMILY)))
  const characters: ReadonlySet<string> = isUnspaced ? new Set(text) : NONE
  let sum = 0
  for (const [term, weight] of weights) {
    if (held.has(term)) continue
    if (isUnspaced && term.length === 2 && UNSPACED.test(term)) {
      const found = (characters.has(term.slice(0, 1)) ? 1 : 0) + (characters.has(term.slice(1)) ? 1 : 0)
      sum += (weight * found) / 2
    } else if (term.length >= FAMILY && families.has(term.slice(0, FAMILY))) sum += weight
  }
  return sum / (total || 1)
}

/** Share of the question's names that the passage mentions; all, where it has none. */
function namedShare({ names }: Question, passage: Quotable): number {
  if (names.length === 0) return 1
  const words = wordsOf(passage)
  return names.filter((name) => mentions(words, name)).length / names.length
}
