import { splitSentences } from '../../lib/text/sentences.js'
import { termHash } from '../derived/passage.js'
import { conceptsOf } from '../query/conflicts/contradictions.js'
import { readStatements, type Statement, vocabulary } from '../query/conflicts/statements.js'
import { titleWords } from '../query/conflicts/titles.js'
import { isUnspaced, readUnspaced } from '../query/conflicts/unspaced.js'

/** A passage as claims are read in it: `title` is the document's with the heading path. */
export interface PassageText {
  title: string
  text: string
}

/** What a passage says: clauses taken apart, and sentences of scripts without spaces as they stand. */
export interface ReadPassage {
  statements: readonly Statement[]
  unspaced: readonly string[]
  title: ReadonlySet<string>
  titleWords: readonly string[]
}

/** One thing that a passage says, as others that may contradict it are looked for. */
export interface Claim {
  /** place among the passage's statements; of its unspaced sentences the last is -1 less the place */
  place: number
  /** in what it can contradict another: bits of `SIGNS` */
  signs: number
  /** hashes of what it speaks of: those that are smallest, so that two claims keep the same ones */
  hashes: number[]
}

/** What it makes of a text is stored: with a change of it `CLAIMS_FORMAT` of `rows/conflicts.ts` goes up. */
export const SIGNS = { number: 1, date: 2, denied: 4, end: 8, name: 16, unspaced: 32, plain: 64 } as const

/** A claim of fewer words says too little to be the same as another. */
const LEAST_HASHES = 2
const MOST_HASHES = 16
/** A longer sentence is a table, or text without stops. */
const LONGEST_SENTENCE = 400
/** A sentence of more numbers is a table in words. */
const MOST_QUANTITIES = 4
const MOST_PLAIN_WORDS = 10
const QUESTION = /[?？]["'”’)]*\s*$/u
/** Each number belongs to a name or year of its own. */
const LISTED = /\b(?:respectively|beziehungsweise|jeweils)\b/iu
/** It points elsewhere, or is a form: boxes, and `None` in the place of an entry. */
const FORM = /^\W*(?:see|siehe|vgl|cf)\b|[☐☑☒]|: none\b/iu
/** Cells beside each other: a row of a table. */
const ROW = /\|.*\||\t.*\t/u

/** Reads everything that a passage says. Costs about a millisecond for two hundred words. */
export function readPassage({ title, text }: PassageText): ReadPassage {
  const sentences = splitSentences(text).map(({ start, end }) => text.slice(start, end))
  const isSaid = sentences.map(
    (sentence) =>
      sentence.length <= LONGEST_SENTENCE && ![QUESTION, ROW, LISTED, FORM].some((pattern) => pattern.test(sentence)),
  )
  return {
    statements: readStatements(
      sentences,
      isSaid.map((said, place) => said && !isUnspaced(sentences[place] ?? '')),
    ),
    unspaced: sentences.filter((sentence, place) => isSaid[place] === true && isUnspaced(sentence)),
    title: conceptsOf(title),
    titleWords: titleWords(title),
  }
}

/** The claims of a passage that another may contradict. */
export function claimsOf({ statements, unspaced }: ReadPassage): Claim[] {
  const claims: Claim[] = []
  for (const [place, statement] of statements.entries()) {
    if (!isSaid(statement)) continue
    const said = signsOf(statement)
    // what says neither may be denied by another, in nearly the same words
    const signs = said === 0 && statement.words.length <= MOST_PLAIN_WORDS ? SIGNS.plain : said
    if (signs !== 0) push(claims, place, signs, statement.concepts)
  }
  for (const [place, sentence] of unspaced.entries()) {
    const { pairs, amounts, years, isDenied } = readUnspaced(sentence)
    if (amounts.size > 0 || years !== '' || isDenied || pairs.size > 0) push(claims, -1 - place, SIGNS.unspaced, pairs)
  }
  return claims
}

const ENDS = /[.!;]["'”’)\]]*$/u
const SMALL_WORD = /(?<!\p{L})\p{Ll}{3,}/u
const PARTICIPLE = /(?:ed|ing)$/u

/** Headings, captions and cells say nothing. What does has a full stop and small letters, or else a verb that is one for sure. */
function isSaid({ sentence, verb, verbAt }: Statement): boolean {
  if (ENDS.test(sentence.trim())) return SMALL_WORD.test(sentence)
  return verbAt !== undefined && sentence.includes(verb) && !PARTICIPLE.test(verb)
}

function push(claims: Claim[], place: number, signs: number, words: ReadonlySet<string>): void {
  const hashes = [...new Set([...words].map(termHash))].sort((a, b) => a - b).slice(0, MOST_HASHES)
  if (hashes.length >= LEAST_HASHES) claims.push({ place, signs, hashes })
}

function signsOf({ quantities, moments, denied, ends, words, concepts, verbAt }: Statement): number {
  const { single, soleDoer, soleObject, alternative } = vocabulary()
  const isOne =
    verbAt !== undefined &&
    ([...concepts].some((concept) => single.has(concept) || soleDoer.has(concept) || soleObject.has(concept)) ||
      words.some(({ stem, isName, isSubject }) => alternative(stem) !== undefined || (isName && !isSubject)))
  return (
    (quantities.length > 0 && quantities.length <= MOST_QUANTITIES ? SIGNS.number : 0) |
    (moments.length > 0 ? SIGNS.date : 0) |
    (denied === undefined ? 0 : SIGNS.denied) |
    (ends.size > 0 ? SIGNS.end : 0) |
    (isOne ? SIGNS.name : 0)
  )
}

/** Whether two claims can contradict each other by their signs. */
export function mayContradict(one: number, other: number): boolean {
  if ((one & SIGNS.unspaced) !== (other & SIGNS.unspaced)) return false
  // one denies what the other says; or is free, and the other has a price
  return (
    (one & other & ~SIGNS.plain) !== 0 ||
    ((one ^ other) & SIGNS.denied) !== 0 ||
    isPriced(one, other) ||
    isPriced(other, one)
  )
}

function isPriced(one: number, other: number): boolean {
  return (one & SIGNS.end) !== 0 && (other & SIGNS.number) !== 0
}

/** Claims of one version as they are stored: 32-bit words, of each claim the passage's ordinal, its place, signs, hashes. */
export function packClaims(passages: readonly { ordinal: number; claims: readonly Claim[] }[]): Uint8Array {
  const words = passages.flatMap(({ ordinal, claims }) =>
    claims.flatMap(({ place, signs, hashes }) => [ordinal, place, signs, hashes.length, ...hashes]),
  )
  return new Uint8Array(Int32Array.from(words).buffer)
}

export interface StoredClaim extends Claim {
  ordinal: number
}

/** @throws RangeError where the bytes end within a claim */
export function unpackClaims(bytes: Uint8Array): StoredClaim[] {
  const words = new Int32Array(new Uint8Array(bytes).buffer)
  const claims: StoredClaim[] = []
  for (let at = 0; at < words.length; ) {
    const [ordinal = 0, place = 0, signs = 0, count = 0] = words.subarray(at, at + 4)
    const hashes = [...words.subarray(at + 4, at + 4 + count)]
    if (count <= 0 || hashes.length < count) throw new RangeError('claims end too early')
    claims.push({ ordinal, place, signs, hashes })
    at += 4 + count
  }
  return claims
}
