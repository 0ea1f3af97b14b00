import { splitSentences } from '../../../../lib/text/sentences.js'
import { type AnswerType, answerType, computeSignStrength } from './answer-type.js'

/** Kinds of answer whose absence from a passage rules can detect. */
export type RequestedKind = 'number' | 'time' | 'person' | 'contact' | 'other'

const CONTACT = /\b(?:phone|telephone|fax|mobile) numbers?\b|\be-?mail(?: address)?\b/iu
/** `who` as a question word, not as a relative pronoun. */
const WHO_QUESTION = /^\s*(?:who|whom|whose)\b|\b(?:and|by|to|from|for) whom?\b/iu

/** Finds the kind of answer that a question asks for, if rules can detect its absence. */
export function findRequestedKind(question: string): RequestedKind {
  if (CONTACT.test(question)) return 'contact'
  const type = answerType(question)
  if (type === 'number' || type === 'time') return type
  return type === 'person' && WHO_QUESTION.test(question) ? 'person' : 'other'
}

const NUMBER_WORDS =
  'one two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half third quarter twice once double none free every each'
const TIME_WORDS =
  'monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december morning noon afternoon evening night midnight daily weekly monthly yearly year years month week day days hour hours century after before until since during when while within always never immediately once'
const toWordPattern = (words: string) => new RegExp(`\\b(?:${words.replaceAll(' ', '|')})\\b`, 'iu')

/** A passage that matches none of these contains nothing of the kind: broad on purpose. */
const KIND_PATTERNS: Record<Exclude<RequestedKind, 'other'>, readonly RegExp[]> = {
  number: [/\p{N}/u, toWordPattern(NUMBER_WORDS), /[一二三四五六七八九十百千万萬亿億两兩]/u],
  time: [/\p{N}/u, toWordPattern(TIME_WORDS), toWordPattern(NUMBER_WORDS), /[年月日时時]/u],
  // a name, or a role of a person
  person: [
    /(?<=[\p{L}\p{N},;:)|”"'’]\s+(?:["“(]\s*)?)\p{Lu}[\p{L}'’.-]+/u,
    /\b\p{L}{3,}(?:er|or|ist|ian|ant|man|woman|nurse|sister|staff|head|team|clerk|chief)s?\b/iu,
    /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Kana}/u,
  ],
  contact: [/\d[\d\s()/+-]{4,}\d|@/u],
}

/** Whether a text contains nothing of the requested kind. */
export function lacksKind(kind: RequestedKind, text: string): boolean {
  // A line begins a sentence: its capital does not mark a name.
  const lines = text.replace(/\s*\n\s*/g, '. ')
  return kind !== 'other' && !KIND_PATTERNS[kind].some((pattern) => pattern.test(lines))
}

/** Minimum strength of a pattern that counts: any number may be a price. */
const MIN_SIGN_STRENGTH: Partial<Record<AnswerType, number>> = {
  money: 0.5,
  person: 0.5,
  place: 0.1,
  number: 0.1,
  time: 0.1,
}
const YEAR_QUESTION = /\b(?:which|what) year\b|\bwelche[mn] jahr\b|\bquelle année\b|\bqué año\b|哪一?年/iu
const YEAR = /(?<!\p{N})(?:1\d|20)\d\d(?!\p{N})|世[纪紀]|年代/u
/** The column header gives the kind of a cell, which patterns for sentences do not see. */
const ROW = /\|.*\|/u

/** A passage and its sentence that matches the question best. */
interface BestSentence {
  title: string
  body: string
  sentence: string
}

/**
 * Whether passages about the subject of a question contain nothing of the kind that it asks for: neither the
 * best-matching sentence nor its neighbours contain a price, year, name and so on that the question does not already
 * contain.
 */
export function isKindMissing(question: string, passages: readonly BestSentence[]): boolean {
  if (passages.length === 0) return false
  const kind = findRequestedKind(question)
  if (passages.every(({ title, body }) => lacksKind(kind, `${title}\n${body}`))) return true
  const type = answerType(question)
  const minStrength = MIN_SIGN_STRENGTH[type]
  if (minStrength === undefined || (type === 'person' && kind !== 'person')) return false
  const lowerQuestion = question.toLowerCase()
  const showsKind = (text: string): boolean =>
    ROW.test(text) ||
    (YEAR_QUESTION.test(question) ? YEAR.test(text) : computeSignStrength(type, text, lowerQuestion) >= minStrength)
  return passages.every((passage) => !getBestWithNeighbours(passage).some(showsKind))
}

/** Number of sentences before and after the best one that are read. */
const NEIGHBOUR_COUNT = 2

/** The best sentence of a passage and its neighbours. */
function getBestWithNeighbours({ body, sentence }: BestSentence): string[] {
  const sentences = splitSentences(body).map(({ start, end }) => body.slice(start, end))
  const index = Math.max(0, sentences.indexOf(sentence))
  return sentences.slice(Math.max(0, index - NEIGHBOUR_COUNT), index + NEIGHBOUR_COUNT + 1)
}
