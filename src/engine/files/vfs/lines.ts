import type { GrepListing } from '../../../contract/gateway/fs.js'
import type { Text } from '../../../lib/text/long-text.js'
import type { ReadClock } from '../../base/clock.js'
import type { PatternMatch, SearchPattern } from './pattern.js'
import { splitsSurrogatePair } from './snippet.js'
import { findLineEnd, findLineStart, splitWindows } from './windows.js'

/** Which lines a search returns, and with how many lines around them. */
export interface LineSelection {
  isInverted: boolean
  before: number
  after: number
  /** maximum number of lines of a text */
  perText: number
}

/** A selected line: its range without the line break, and its matches as offsets of the text. */
export interface SelectedLine extends PatternMatch {
  matches: PatternMatch[]
}

interface LinePiece {
  lines: SelectedLine[]
  /** the search continues at this offset */
  reached: number
}

type LineFields = Pick<GrepListing['matches'][number], 'line' | 'column' | 'text' | 'spans' | 'before' | 'after'>

/** UTF-16 units of a returned line */
const MAX_LINE_UNITS = 4000
/** UTF-16 units that a cut line shows before its first match */
const UNITS_BEFORE_MATCH = 1000
/** UTF-16 units whose line breaks are counted at once: less than a millisecond */
const COUNTED_UNITS = 64 * 1024

/**
 * Finds the selected lines that start at `from` or later, in order. A match never spans lines. Of a line that is longer
 * than a window only the first matches are reported.
 */
export function* searchLines(
  pattern: SearchPattern,
  text: Text,
  from: number,
  { isInverted }: Pick<LineSelection, 'isInverted'>,
): Generator<LinePiece> {
  /** lines before this offset are decided */
  let decided = from
  for (const { start, firstMatch, limit, end } of splitWindows(text, from, pattern.windowSize)) {
    if (limit <= decided) continue
    const piece = text.slice(start, end)
    const mayMatch = pattern.mayMatch(piece)
    const lines: SelectedLine[] = []
    const isLastPart = end === text.length || piece.endsWith('\n')
    if (isLastPart && start === findLineStart(text, start)) {
      for (const line of splitLines(piece)) {
        const matches = mayMatch ? pattern.find(piece.slice(line.start, line.end)) : []
        if (matches.length > 0 !== isInverted) lines.push(toSelectedLine(start + line.start, start + line.end, matches))
      }
      yield { lines, reached: limit }
      continue
    }
    const matches = (mayMatch ? pattern.find(piece) : []).filter(
      (match) => start + match.start >= firstMatch && start + match.start < limit,
    )
    if (matches.length > 0 || isLastPart) {
      const lineStart = findLineStart(text, start)
      decided = findLineEnd(text, start)
      const lineEnd = text.charCodeAt(decided - 1) === LINE_FEED ? decided - 1 : decided
      if (matches.length > 0 !== isInverted)
        lines.push({ ...toSelectedLine(start, lineEnd, matches), start: lineStart })
    }
    yield { lines, reached: Math.max(limit, decided) }
  }
}

const LINE_FEED = 10

function toSelectedLine(start: number, end: number, matches: readonly PatternMatch[]): SelectedLine {
  return { start, end, matches: matches.map((match) => ({ start: start + match.start, end: start + match.end })) }
}

function* splitLines(piece: string): Generator<PatternMatch> {
  for (let start = 0; start < piece.length; ) {
    const found = piece.indexOf('\n', start)
    const end = found === -1 ? piece.length : found
    yield { start, end }
    start = end + 1
  }
}

/** Numbers the lines of a text. Offsets must not decrease. */
export class LineCounter {
  readonly #text: Text
  readonly #clock: ReadClock
  #offset = 0
  #line = 1

  constructor(text: Text, clock: ReadClock) {
    this.#text = text
    this.#clock = clock
  }

  /** The number of the line that contains an offset, from 1. */
  async findLine(offset: number): Promise<number> {
    while (this.#offset < offset) {
      const end = Math.min(offset, this.#offset + COUNTED_UNITS)
      this.#line += this.#text.slice(this.#offset, end).split('\n').length - 1
      this.#offset = end
      await this.#clock.yieldIfDue()
    }
    return this.#line
  }
}

/** Describes a line: its number, column and text, and the lines around it. */
export async function describeLine(
  text: Text,
  line: SelectedLine,
  counter: LineCounter,
  { before, after }: LineSelection,
): Promise<LineFields> {
  const shown = cutLine(text, line)
  return {
    line: await counter.findLine(line.start),
    column: findFirstMatch(line).start - line.start + 1,
    ...shown,
    ...(before > 0 ? { before: readLinesBefore(text, line.start, before) } : {}),
    ...(after > 0 ? { after: readLinesAfter(text, line.end, after) } : {}),
  }
}

/** The first match that is not empty; the line itself without a match. */
export function findFirstMatch(line: SelectedLine): PatternMatch {
  return line.matches.find(({ start, end }) => end > start) ?? line.matches[0] ?? line
}

/** The text of a line with the ranges of its matches in it. */
function cutLine(text: Text, line: SelectedLine): { text: string; spans: PatternMatch[] } {
  const lineEnd = withoutCarriageReturn(text, line)
  const firstMatch = findFirstMatch(line).start
  const isLong = lineEnd - line.start > MAX_LINE_UNITS
  let start = isLong ? Math.max(line.start, firstMatch - UNITS_BEFORE_MATCH) : line.start
  let end = Math.min(lineEnd, start + MAX_LINE_UNITS)
  if (start > line.start && splitsSurrogatePair(text, start)) start += 1
  if (end < lineEnd && splitsSurrogatePair(text, end)) end -= 1
  const prefix = start > line.start ? '…' : ''
  const shift = prefix.length - start
  const spans = line.matches
    .filter((match) => match.end > match.start && match.start < end)
    .map((match) => ({ start: match.start + shift, end: Math.min(match.end, end) + shift }))
  return { text: `${prefix}${text.slice(start, end)}${end < lineEnd ? '…' : ''}`, spans }
}

function withoutCarriageReturn(text: Text, { start, end }: PatternMatch): number {
  return end > start && text.charCodeAt(end - 1) === 13 ? end - 1 : end
}

function readLinesBefore(text: Text, lineStart: number, count: number): string[] {
  const lines: string[] = []
  for (let end = lineStart - 1; end >= 0 && lines.length < count; ) {
    const start = findLineStart(text, end)
    lines.push(cutLine(text, { start, end, matches: [] }).text)
    end = start - 1
  }
  return lines.reverse()
}

function readLinesAfter(text: Text, lineEnd: number, count: number): string[] {
  const lines: string[] = []
  for (let start = lineEnd + 1; start < text.length && lines.length < count; ) {
    const next = findLineEnd(text, start)
    const end = text.charCodeAt(next - 1) === LINE_FEED ? next - 1 : next
    lines.push(cutLine(text, { start, end, matches: [] }).text)
    start = next
  }
  return lines
}
