import { lazy } from '../../../lib/lazy.js'
import { readCommonWords } from '../../../lib/text/common-words.js'
import { isOrdinal, isWrappedDate } from '../../../lib/text/ordinals.js'
import { isDropCap, type PdfLine } from './pdf-lines.js'

/** Characters of a line that are inspected at its start and end. */
const EDGE_LENGTH = 60
/** Minimal length of the parts of a compound; shorter ones are syllables more often than words. */
const MIN_COMPOUND_HEAD = 4
const MIN_COMPOUND_TAIL = 3
/** Number of English words that count as known, and of those that may be parts of a compound. */
const COMMON_WORDS = 10_000
const COMMON_PARTS = 3000
/** Prefixes that are written without a hyphen more often than with one. */
const PREFIX =
  /^(?:anti|counter|fore|hyper|infra|inter|intra|macro|micro|multi|over|post|pseudo|semi|super|trans|ultra|under)$/
/** `Ein- und Ausgang`, `pre- and post-war`. */
const CONJUNCTION = /^(?:and|or|und|oder|bzw|et|ou|e|y|o)$/u
const ENDING = /(?:s|es|ed|ing|ly|er|ers)$/
const WORD = /[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/gu

/** Number of lines before and after a drop cap among which its text is searched, and its distance in text sizes. */
const DROP_CAP_LINES = 8
const MAX_DROP_CAP_GAP = 1.6

const getCommonWords = lazy(() => new Map(readCommonWords('english', COMMON_WORDS).map((word, rank) => [word, rank])))

/**
 * Collects all words of a document in lower case, to distinguish hyphenation at a line end from a hyphen of the word.
 * The parts of a word at a line end are not words.
 */
export function collectVocabulary(pages: readonly { lines: readonly PdfLine[] }[]): Set<string> {
  const vocabulary = new Set<string>()
  for (const { lines } of pages) {
    let isBroken = false
    for (const { text } of lines) {
      const words = text.toLowerCase().match(WORD) ?? []
      const endsBroken = /\p{L}[-‐]$/u.test(text)
      for (const word of words.slice(isBroken ? 1 : 0, endsBroken ? -1 : undefined)) vocabulary.add(word)
      isBroken = endsBroken
    }
  }
  return vocabulary
}

/** Joins two lines of a paragraph to running text and restores a hyphenated word. */
export function joinLines(text: string, next: string, vocabulary: ReadonlySet<string>): string {
  const broken = /([\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*)[-‐]$/u.exec(text.slice(-EDGE_LENGTH))
  const tail = /^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*/u.exec(next.slice(0, EDGE_LENGTH))
  if (broken !== null && tail !== null) {
    const [head, rest] = [broken[1] ?? '', tail[0]]
    const isBrokenWord = /^\p{Ll}/u.test(next) || (/^\p{Lu}{2,}$/u.test(head) && /^\p{Lu}{2,}/u.test(rest))
    const isKept = !isBrokenWord || keepsHyphen(head.toLowerCase(), rest.toLowerCase(), vocabulary)
    if (isKept && CONJUNCTION.test(rest)) return `${text} ${next}`
    return isKept ? text + next : text.slice(0, -1) + next
  }
  const last = text.charCodeAt(text.length - 1)
  const isCjk = last >= 0x3000 && last <= 0x9fff && next.charCodeAt(0) >= 0x3000 && next.charCodeAt(0) <= 0x9fff
  return isCjk ? text + next : `${text} ${next}`
}

/**
 * `state-` + `of-the-art` and `well-` + `known` keep the hyphen, `train-` + `ing` does not; the vocabulary of the
 * document decides where it can.
 */
function keepsHyphen(head: string, tail: string, vocabulary: ReadonlySet<string>): boolean {
  if (vocabulary.has(`${head}${tail}`)) return false
  if (head.includes('-') || tail.includes('-') || vocabulary.has(`${head}-${tail}`)) return true
  if (isKnownWord(`${head}${tail}`, vocabulary)) return false
  return CONJUNCTION.test(tail) || (isEnglish(vocabulary) && isCompound(head, tail, vocabulary))
}

/** Whether a word or the word without its ending is known. */
function isKnownWord(word: string, vocabulary: ReadonlySet<string>): boolean {
  const stem = word.replace(ENDING, '')
  return [word, stem].some((one) => vocabulary.has(one) || getCommonWords().has(one))
}

function isCompound(head: string, tail: string, vocabulary: ReadonlySet<string>): boolean {
  const isWord = (part: string): boolean =>
    vocabulary.has(part) || (getCommonWords().get(part) ?? COMMON_WORDS) < COMMON_PARTS
  if (head.length < MIN_COMPOUND_HEAD || tail.length < MIN_COMPOUND_TAIL || PREFIX.test(head)) return false
  return isWord(head) && isWord(tail)
}

/** Other languages write most compounds as one word. */
function isEnglish(vocabulary: ReadonlySet<string>): boolean {
  return vocabulary.has('the') || vocabulary.has('and')
}

/** Whether the full stop at the end of a line belongs to a number that the next line continues: `bis zum 31.`, `Juli`. */
export function endsWithOrdinal(text: string, next: string): boolean {
  if (!/(?:\d|[IVXL])\.$/.test(text)) return false
  const start = text.slice(-2 * EDGE_LENGTH)
  return isOrdinal(`${start} ${next.slice(0, EDGE_LENGTH)}`, 0, start.length - 1)
}

/** Whether a number at the start of a line is that of a date, and not of a list: `bis zum`, `31. Juli`. */
export function startsWithOrdinal(line: string, above: string): boolean {
  const start = above.slice(-EDGE_LENGTH)
  return isWrappedDate(`${start}\n${line.slice(0, EDGE_LENGTH)}`, 0, start.length)
}

/** Joins the large letter at the start of a text with the first line next to it. */
export function joinDropCaps(lines: readonly PdfLine[], vocabulary: ReadonlySet<string>): PdfLine[] {
  const result: (PdfLine | undefined)[] = [...lines]
  for (const [index, cap] of lines.entries()) {
    if (!isDropCap(cap, { size: 0 })) continue
    let best = -1
    for (let at = Math.max(0, index - DROP_CAP_LINES); at <= index + DROP_CAP_LINES; at++) {
      const line = result[at]
      if (line !== undefined && at !== index && isNextToCap(line, cap) && line.y > (result[best]?.y ?? -Infinity))
        best = at
    }
    const line = result[best]
    if (line === undefined) continue
    const first = /^[\p{L}\p{M}]+/u.exec(line.text)?.[0].toLowerCase() ?? ''
    const letter = cap.text.toLowerCase()
    const isOneWord = vocabulary.has(letter + first) || getCommonWords().has(letter + first)
    const isWordAlone =
      !isOneWord && /^[aeioóáàyu]$/u.test(letter) && (vocabulary.has(first) || getCommonWords().has(first))
    const shift = cap.text.length + (isWordAlone ? 1 : 0)
    result[index] = undefined
    result[best] = {
      ...line,
      text: `${cap.text}${isWordAlone ? ' ' : ''}${line.text}`,
      ...(line.marks === undefined ? {} : { marks: line.marks.map((mark) => ({ ...mark, at: mark.at + shift })) }),
    }
  }
  return result.flatMap((line) => line ?? [])
}

function isNextToCap(line: PdfLine, cap: PdfLine): boolean {
  if (line.table !== undefined || line.turned !== cap.turned || !isDropCap(cap, line)) return false
  const gap = line.left - cap.right
  const isBeside = gap > -line.size && gap < MAX_DROP_CAP_GAP * line.size
  return isBeside && line.y >= cap.y - 0.3 * line.size && line.y < cap.y + cap.size && line.text.length > 3
}
