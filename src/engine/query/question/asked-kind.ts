import { splitSentences } from '../../../lib/text/sentences.js'
import { signOf } from '../answer-signs.js'
import { type AnswerType, answerType } from '../answer-type.js'

/** Kinds of answer whose absence from a passage rules can detect. */
export type AskedKind = 'number' | 'time' | 'person' | 'contact' | 'other'

const CONTACT = /\b(?:phone|telephone|fax|mobile) numbers?\b|\be-?mail(?: address)?\b/iu
/** `who` as a question word, not as a relative pronoun. */
const ASKS_WHO = /^\s*(?:who|whom|whose)\b|\b(?:and|by|to|from|for) whom?\b/iu

/** Finds the kind of answer that a question asks for, if rules can detect its absence. */
export function kindAskedFor(question: string): AskedKind {
  if (CONTACT.test(question)) return 'contact'
  const type = answerType(question)
  if (type === 'number' || type === 'time') return type
  return type === 'person' && ASKS_WHO.test(question) ? 'person' : 'other'
}

const NUMBER_WORDS =
  'one two three four five six seven eight nine ten eleven twelve dozen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half third quarter twice once double none free every each'
const TIME_WORDS =
  'monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december morning noon afternoon evening night midnight daily weekly monthly yearly year years month week day days hour hours century after before until since during when while within always never immediately once'
const ANY_OF = (words: string) => new RegExp(`\\b(?:${words.replaceAll(' ', '|')})\\b`, 'iu')

/** A passage that matches none of these contains nothing of the kind: broad on purpose. */
const PRESENT: Record<Exclude<AskedKind, 'other'>, readonly RegExp[]> = {
  number: [/\p{N}/u, ANY_OF(NUMBER_WORDS), /[一二三四五六七八九十百千万萬亿億两兩]/u],
  time: [/\p{N}/u, ANY_OF(TIME_WORDS), ANY_OF(NUMBER_WORDS), /[年月日时時]/u],
  // a name, or a role of a person
  person: [
    /(?<=[\p{L}\p{N},;:)|”"'’]\s+(?:["“(]\s*)?)\p{Lu}[\p{L}'’.-]+/u,
    /\b\p{L}{3,}(?:er|or|ist|ian|ant|man|woman|nurse|sister|staff|head|team|clerk|chief)s?\b/iu,
    /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Kana}/u,
  ],
  contact: [/\d[\d\s()/+-]{4,}\d|@/u],
}

/** Whether a text contains nothing of the requested kind. */
export function lacksKind(kind: AskedKind, text: string): boolean {
  // A line begins a sentence: its capital does not mark a name.
  const lines = text.replace(/\s*\n\s*/g, '. ')
  return kind !== 'other' && !PRESENT[kind].some((pattern) => pattern.test(lines))
}

/** Minimum strength of a pattern that counts: any number may be a price. */
const SIGN_FROM: Partial<Record<AnswerType, number>> = { money: 0.5, person: 0.5, place: 0.1, number: 0.1, time: 0.1 }
const ASKS_YEAR = /\b(?:which|what) year\b|\bwelche[mn] jahr\b|\bquelle année\b|\bqué año\b|哪一?年/iu
const YEAR = /(?<!\p{N})(?:1\d|20)\d\d(?!\p{N})|世[纪紀]|年代/u
/** The column header gives the kind of a cell, which patterns for sentences do not see. */
const ROW = /\|.*\|/u

/** A passage and its sentence that matches the question best. */
interface Nearest {
  title: string
  body: string
  sentence: string
}

/**
 * Whether passages about the subject of a question contain nothing of the kind that it asks for: neither the
 * best-matching sentence nor its neighbours contain a price, year, name and so on that the question does not already
 * contain.
 */
export function kindMissing(question: string, passages: readonly Nearest[]): boolean {
  if (passages.length === 0) return false
  const kind = kindAskedFor(question)
  if (passages.every(({ title, body }) => lacksKind(kind, `${title}\n${body}`))) return true
  const type = answerType(question)
  const least = SIGN_FROM[type]
  if (least === undefined || (type === 'person' && kind !== 'person')) return false
  const asked = question.toLowerCase()
  const shows = (text: string): boolean =>
    ROW.test(text) || (ASKS_YEAR.test(question) ? YEAR.test(text) : signOf(type, text, asked) >= least)
  return passages.every((passage) => !aroundBest(passage).some(shows))
}

/** Number of sentences before and after the best one that are read. */
const BESIDE = 2

/** The best sentence of a passage and its neighbours. */
function aroundBest({ body, sentence }: Nearest): string[] {
  const sentences = splitSentences(body).map(({ start, end }) => body.slice(start, end))
  const at = Math.max(0, sentences.indexOf(sentence))
  return sentences.slice(Math.max(0, at - BESIDE), at + BESIDE + 1)
}
