import { isOrdinal, isWrappedDate } from './ordinals.js'

/** One sentence of a text: UTF-16 offsets, without the white space around it. */
export interface SentenceSpan {
  start: number
  end: number
}

/**
 * Possible end of a sentence: closing punctuation with its quotes before white space, an empty line, or a line break
 * before a list entry or a table row.
 */
const BOUNDARY = /[.!?…]+["'”’»)\]]*(?=\s)|\n[ \t]*\n|\n(?=[ \t]*(?:[-*•‣|]|\d{1,3}[.)])\s)/gu
/**
 * The same with the full stops of other scripts (`。`, `।`, `។`) and the spaces of Thai and Lao, which have no full
 * stop.
 */
const BOUNDARY_OF_SCRIPTS = new RegExp(
  [
    BOUNDARY.source,
    String.raw`(?:(?![.!?])\p{STerm})+[”’»」』）"']*`,
    String.raw`(?<=[\p{sc=Thai}\p{sc=Lao}]) (?=[\p{sc=Thai}\p{sc=Lao}])`,
  ].join('|'),
  'gu',
)
/** Most texts have no letter of those scripts: without the extra boundaries, they are split six times as fast. */
const OTHER_SCRIPT = /[\u0370-\u1fff\u3000-\uffff]/
/** Minimum length of a sentence that ends at a space. A space in Thai separates sentences, clauses and list entries. */
const MIN_SPACED_CHARACTERS = 60
const ABBREVIATION =
  /(?:^|[\s("'“])(?:[A-Z]|(?:[A-Za-z]\.)+[A-Za-z]|mr|mrs|ms|dr|prof|st|sr|jr|gen|col|capt|lt|sgt|rev|hon|pres|gov|sen|rep|vs|etc|cf|eg|ie|viz|al|fig|figs|eq|eqs|ref|refs|no|nos|vol|pp|p|ed|eds|ca|approx|dept|est|inc|ltd|co|corp|bros|mt|ft|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)$/iu
const STARTS_SENTENCE = /^\s+["'“‘«([]*[\p{Lu}\p{Lt}\p{Lo}\p{N}]/u
const STARTS_LOWER_CASE = /^\s+["'“‘«([]*\p{Ll}/u
/** Maximum length. A longer "sentence" is a table or text without stops; it is split at a line break or space. */
const MAX_SENTENCE_CHARACTERS = 800

/** Whether the punctuation that ends at `end` closes a sentence, and not only an abbreviation or a number. */
function closesSentence(text: string, start: number, markIndex: number, end: number): boolean {
  // Punctuation after a space: tokenised text, often in lower case.
  if (markIndex > start && text.charCodeAt(markIndex - 1) === 32) return true
  const after = text.slice(end, end + 8)
  if (text[markIndex] !== '.') return !STARTS_LOWER_CASE.test(after)
  if (!STARTS_SENTENCE.test(after)) return false
  if (end - markIndex === 1 && isOrdinal(text, start, markIndex)) return false
  return end - markIndex > 1 || !ABBREVIATION.test(text.slice(Math.max(start, markIndex - 12), markIndex))
}

function isBoundary(text: string, start: number, markIndex: number, boundary: string): boolean {
  const firstCharacter = boundary.slice(0, 1)
  if ('.!?…'.includes(firstCharacter)) return closesSentence(text, start, markIndex, markIndex + boundary.length)
  if (firstCharacter === ' ') return markIndex - start >= MIN_SPACED_CHARACTERS
  return boundary !== '\n' || !isWrappedDate(text, start, markIndex)
}

function addTrimmed(spans: SentenceSpan[], text: string, from: number, to: number): void {
  let start = from
  let end = to
  while (start < end && text.slice(start, start + 1).trim() === '') start++
  while (end > start && text.slice(end - 1, end).trim() === '') end--
  while (end - start > MAX_SENTENCE_CHARACTERS) {
    const window = text.slice(start, start + MAX_SENTENCE_CHARACTERS)
    const breakIndex = Math.max(window.lastIndexOf('\n'), window.lastIndexOf(' '))
    const splitIndex = start + (breakIndex > MAX_SENTENCE_CHARACTERS / 2 ? breakIndex : MAX_SENTENCE_CHARACTERS)
    addTrimmed(spans, text, start, splitIndex)
    start = splitIndex
    while (start < end && text.slice(start, start + 1).trim() === '') start++
  }
  if (start < end) spans.push({ start, end })
}

/**
 * Splits a text into sentences, in order, with only white space between them. `Intl.Segmenter` ends a sentence at each
 * abbreviation and ordinal, and none in Thai.
 */
export function splitSentences(text: string): SentenceSpan[] {
  const spans: SentenceSpan[] = []
  let start = 0
  for (const match of text.matchAll(OTHER_SCRIPT.test(text) ? BOUNDARY_OF_SCRIPTS : BOUNDARY)) {
    const markIndex = match.index
    const end = markIndex + match[0].length
    if (!isBoundary(text, start, markIndex, match[0])) continue
    addTrimmed(spans, text, start, end)
    start = end
  }
  addTrimmed(spans, text, start, text.length)
  return spans
}
