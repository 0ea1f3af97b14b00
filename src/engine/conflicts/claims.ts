import { termHash } from '../derived/passage.js'
import { unitsOf } from '../query/conflicts/passage-units.js'
import { readStatements, type Statement } from '../query/conflicts/statements.js'
import { sentenceTerms } from '../query/sentence-terms.js'

/** A passage as claims are read in it: `title` is the document's with the heading path. */
export interface PassageText {
  title: string
  text: string
}

/** What a passage states, in clauses; `heads` are the stems of its title. */
export interface ReadPassage {
  statements: readonly Statement[]
  heads: ReadonlySet<string>
  title: string
}

/** One statement of a passage, as others that may contradict it are looked for. */
export interface Claim {
  /** index among the passage's statements */
  place: number
  /** in what it can contradict another: bits of `SIGNS` */
  signs: number
  /** hashes of what it speaks of: those that are smallest, so that two claims keep the same ones */
  hashes: number[]
}

/** What it makes of a text is stored: with a change of it `CLAIMS_FORMAT` of `rows/conflicts.ts` goes up. */
export const SIGNS = { number: 1, date: 2, denied: 4, end: 8, name: 16, plain: 64 } as const

/** A claim of fewer words says too little to be the same as another. */
const LEAST_HASHES = 2
const MOST_HASHES = 16
/** A longer sentence is a table, or text without stops. */
const LONGEST_SENTENCE = 400
/** A sentence of more numbers is a table in words. */
const MOST_QUANTITIES = 4
const MOST_PLAIN_WORDS = 10
/** Statements of no more words say one thing: the default branch is main. */
export const SHORT = 5
/** Each number belongs to a name or year of its own. */
const LISTED = /\b(?:respectively|beziehungsweise|jeweils)\b/iu
/** It points elsewhere, or is a form: boxes, and `None` in the place of an entry. */
const FORM = /^\W*(?:see|siehe|vgl|cf)\b|[☐☑☒]|: none\b/iu

/**
 * Reads everything that a passage states in sentences: labelled values and cells are left out, for no question shows of
 * what they are. Costs about a millisecond for two hundred words.
 */
export function readPassage({ title, text }: PassageText): ReadPassage {
  const units = unitsOf(text).filter(
    (unit) =>
      unit.label === undefined &&
      unit.text.length <= LONGEST_SENTENCE &&
      ![LISTED, FORM].some((pattern) => pattern.test(unit.text)),
  )
  return { statements: units.flatMap(readStatements), heads: new Set(sentenceTerms(title)), title }
}

/** The claims of a passage that another may contradict. */
export function claimsOf({ statements }: ReadPassage): Claim[] {
  const claims: Claim[] = []
  for (const [place, statement] of statements.entries()) {
    if (!isSaid(statement)) continue
    const said = signsOf(statement)
    // what says neither may be denied by another, in nearly the same words
    const signs = said === 0 && statement.words.length <= MOST_PLAIN_WORDS ? SIGNS.plain : said
    if (signs !== 0) push(claims, place, signs, statement.stems)
  }
  return claims
}

const ENDS = /[.!;。！]["'”’)\]]*$/u
const SMALL_WORD = /(?<!\p{L})\p{Ll}{3,}|\p{Script=Han}/u

/** Headings and captions state nothing: what does has a full stop and small letters. */
function isSaid({ sentence }: Statement): boolean {
  return ENDS.test(sentence.trim()) && SMALL_WORD.test(sentence)
}

function push(claims: Claim[], place: number, signs: number, words: ReadonlySet<string>): void {
  const hashes = [...new Set([...words].map(termHash))].sort((a, b) => a - b).slice(0, MOST_HASHES)
  if (hashes.length >= LEAST_HASHES) claims.push({ place, signs, hashes })
}

function signsOf({ quantities, moments, isDenied, ends, words }: Statement): number {
  return (
    (quantities.length > 0 && quantities.length <= MOST_QUANTITIES ? SIGNS.number : 0) |
    (moments.length > 0 ? SIGNS.date : 0) |
    (isDenied ? SIGNS.denied : 0) |
    (ends.size > 0 ? SIGNS.end : 0) |
    (words.some(({ isName, isSubject }) => isName && !isSubject) || words.length <= SHORT ? SIGNS.name : 0)
  )
}

/** Whether two claims can contradict each other by their signs. */
export function mayContradict(one: number, other: number): boolean {
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
