import { sentenceTerms } from '../../../lib/text/sentence-terms.js'
import { termHash } from '../derived/passage.js'
import { splitPassage } from '../statements/passage-units.js'
import { readStatements, type Statement } from '../statements/statements.js'

/** A passage from which claims are read: `title` is the document's title with the heading path. */
export interface PassageText {
  title: string
  text: string
}

/** Statements of a passage, by clause; `heads` are the stems of its title. */
export interface ParsedPassage {
  statements: readonly Statement[]
  heads: ReadonlySet<string>
  title: string
}

/** One statement of a passage, in the form for finding contradicting ones. */
export interface Claim {
  /** index among the passage's statements */
  index: number
  /** ways in which it can contradict another: bits of `SIGNS` */
  signs: number
  /** hashes of its words: the smallest ones, so that two claims keep the same ones */
  hashes: number[]
}

/** The bits are stored: when they change, `CLAIMS_FORMAT` of `rows/conflicts.ts` must be raised. */
export const SIGNS = { number: 1, date: 2, denied: 4, end: 8, name: 16, plain: 64 } as const

/** A claim with fewer words is too unspecific to match another. */
const MIN_HASHES = 2
const MAX_HASHES = 16
/** A longer sentence is a table, or text without stops. */
const MAX_SENTENCE_LENGTH = 400
/** A sentence with more numbers is a table in words. */
const MAX_QUANTITIES = 4
const MAX_PLAIN_WORDS = 10
/** Statements of at most this many words state a single value: the default branch is main. */
export const MAX_SHORT_WORDS = 5
/** Each number belongs to its own name or year. */
const LIST_WORDS = /\b(?:respectively|beziehungsweise|jeweils)\b/iu
/** A reference, or a form: boxes, and `None` instead of an entry. */
const REFERENCE_OR_FORM = /^\W*(?:see|siehe|vgl|cf)\b|[☐☑☒]|: none\b/iu

/**
 * Reads all statements in the sentences of a passage. Labelled values and cells are excluded: without a question, their
 * subject is unknown. Takes about a millisecond for two hundred words.
 */
export function readPassage({ title, text }: PassageText): ParsedPassage {
  const units = splitPassage(text).filter(
    (unit) =>
      unit.label === undefined &&
      unit.text.length <= MAX_SENTENCE_LENGTH &&
      ![LIST_WORDS, REFERENCE_OR_FORM].some((pattern) => pattern.test(unit.text)),
  )
  return { statements: units.flatMap(readStatements), heads: new Set(sentenceTerms(title)), title }
}

/** Extracts the claims of a passage that another one may contradict. */
export function extractClaims({ statements }: ParsedPassage): Claim[] {
  const claims: Claim[] = []
  for (const [index, statement] of statements.entries()) {
    if (!isSentence(statement)) continue
    const ownSigns = computeSigns(statement)
    // A short statement with none of these may be denied by another in nearly the same words.
    const signs = ownSigns === 0 && statement.words.length <= MAX_PLAIN_WORDS ? SIGNS.plain : ownSigns
    if (signs !== 0) addClaim(claims, index, signs, statement.stems)
  }
  return claims
}

const SENTENCE_END = /[.!;。！]["'”’)\]]*$/u
const LOWER_CASE_WORD = /(?<!\p{L})\p{Ll}{3,}|\p{Script=Han}/u

/** Whether a sentence has a full stop and lower-case words: headings and captions state nothing. */
function isSentence({ sentence }: Statement): boolean {
  return SENTENCE_END.test(sentence.trim()) && LOWER_CASE_WORD.test(sentence)
}

function addClaim(claims: Claim[], unitIndex: number, signs: number, words: ReadonlySet<string>): void {
  const hashes = [...new Set([...words].map(termHash))].sort((a, b) => a - b).slice(0, MAX_HASHES)
  if (hashes.length >= MIN_HASHES) claims.push({ index: unitIndex, signs, hashes })
}

function computeSigns({ quantities, moments, isDenied, ends, words }: Statement): number {
  return (
    (quantities.length > 0 && quantities.length <= MAX_QUANTITIES ? SIGNS.number : 0) |
    (moments.length > 0 ? SIGNS.date : 0) |
    (isDenied ? SIGNS.denied : 0) |
    (ends.size > 0 ? SIGNS.end : 0) |
    (words.some(({ isName, isSubject }) => isName && !isSubject) || words.length <= MAX_SHORT_WORDS ? SIGNS.name : 0)
  )
}

/** Whether two claims may contradict each other, by their bits. */
export function mayContradict(one: number, other: number): boolean {
  // One denies what the other states, or is free while the other has a price.
  return (
    (one & other & ~SIGNS.plain) !== 0 ||
    ((one ^ other) & SIGNS.denied) !== 0 ||
    isFreeAndPriced(one, other) ||
    isFreeAndPriced(other, one)
  )
}

function isFreeAndPriced(one: number, other: number): boolean {
  return (one & SIGNS.end) !== 0 && (other & SIGNS.number) !== 0
}

/**
 * Packs the claims of one version for storage: 32-bit words; for each claim the passage's ordinal, its index, bits,
 * number of hashes, and the hashes.
 */
export function packClaims(passages: readonly { ordinal: number; claims: readonly Claim[] }[]): Uint8Array {
  const words = passages.flatMap(({ ordinal, claims }) =>
    claims.flatMap(({ index, signs, hashes }) => [ordinal, index, signs, hashes.length, ...hashes]),
  )
  return new Uint8Array(Int32Array.from(words).buffer)
}

export interface StoredClaim extends Claim {
  ordinal: number
}

/** @throws RangeError when the bytes end within a claim */
export function unpackClaims(bytes: Uint8Array): StoredClaim[] {
  const words = new Int32Array(new Uint8Array(bytes).buffer)
  const claims: StoredClaim[] = []
  for (let position = 0; position < words.length; ) {
    const [ordinal = 0, index = 0, signs = 0, count = 0] = words.subarray(position, position + 4)
    const hashes = [...words.subarray(position + 4, position + 4 + count)]
    if (count <= 0 || hashes.length < count) throw new RangeError('claims end too early')
    claims.push({ ordinal, index, signs, hashes })
    position += 4 + count
  }
  return claims
}
