import { type TextRun, toPosition } from './pdf-lines.js'
import type { DrawnRule } from './table-rules.js'

/** Adjacent text on one baseline: the text of one cell, or a line of it. */
export interface TextSegment {
  text: string
  left: number
  right: number
  /** Baseline. */
  y: number
  size: number
  /** Indexes of its runs among those of the page. */
  runs: number[]
  numeric: boolean
  /** Its parts before they were joined over gaps that may separate columns; empty when there were none. */
  parts: TextSegment[]
}

/** The segments on one baseline, left to right. */
export interface SegmentRow {
  y: number
  size: number
  segments: TextSegment[]
}

/** Minimal gap between words of two cells, in text sizes; between numbers a smaller one suffices. */
const MIN_CELL_GAP = 1.1
const MIN_NUMBER_GAP = 0.55
/** Two numbers with separators of their own are never one number. */
const MIN_COMPLETE_GAP = 0.15
/** Minimal gap between two words, in text sizes, that may separate columns when the rows below show so. */
const MIN_PART_GAP = 0.55
/** Indices and exponents: maximal size relative to their line, and maximal offset from it in text sizes. */
const SCRIPT_SIZE = 0.85
const MAX_SCRIPT_OFFSET = 0.62
/** Runs that overlap by more, in text sizes, are not one text. */
const MAX_OVERLAP = 0.6
/** Maximal distance between baselines of one row, in text sizes. */
const MAX_ROW_DISTANCE = 0.46
/**
 * A run over an upright rule is split at a space within this distance, in text sizes; longer runs are prose over a
 * drawing.
 */
const MAX_SPLIT_DISTANCE = 2
const MAX_SPLIT_LENGTH = 200
/** Maximal distance between a list mark and its text, in text sizes. */
const MAX_MARK_GAP = 5

const NUMBER =
  /^[<>≤≥~±≈$€£¥₩(+\-–—−\s]*\.?\d[\d\s.,:/%)(±×x+\-–−'’]*(?:[eE][+-]?\d+)?(?:[%)]|pts?|bps|[KMBxX])*[*†‡§]*$/u
/** `1,087,948`, `12.5%`; not `(48.4)`, which may belong to the number before it */
const COMPLETE_NUMBER = /^[+\-–−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+)%?$/u
const SEVERAL_NUMBERS =
  /^(?:[+\-–−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+)%? +)+[+\-–−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+)%?$/u
/** `$10 to $11 million`, `up to 30 years`. */
const AMOUNT_WORD =
  /^(?:approximately|about|approx\.|up|to|over|under|from|less|more|than|million|billion|thousand|percent|years?|months?|days?|bps|and|or|[-–—])$/i
const MAX_AMOUNT_WORDS = 8
const DASH = /^[$€£¥(\s]*(?:[-–—−]+|\*+|N\/[AM]|n\/[am]|NM|nm|n\.[am]\.)[)%\s]*$/u
const PREFIX = /^(?:[$€£¥₩]|(?:US|C|A|HK|R)\$|\(|\$\s*\()$/u
const SUFFIX = /^[)%]+$/u
const LIST_MARK = /^(?:[•◦▪‣●○■□·∙*–—-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]|\[\d{1,3}\])$/u

/** Whether a text is a number, or a sign for a missing one. */
export function isNumberText(text: string): boolean {
  const prefix = text.slice(0, 40)
  return NUMBER.test(prefix) || DASH.test(prefix) || isAmount(text)
}

function isAmount(text: string): boolean {
  if (text.length > 60 || !/\d/.test(text)) return false
  if (!/[$€£¥%]|illion|thousand|year|month|day|\d\D+ to \D*\d|\d[-–—]\d/i.test(text)) return false
  const words = text.split(' ')
  const numberCount = words.filter((word) => NUMBER.test(word) && !AMOUNT_WORD.test(word)).length
  return (
    words.length <= MAX_AMOUNT_WORDS &&
    numberCount > 0 &&
    words.every((word) => NUMBER.test(word) || AMOUNT_WORD.test(word))
  )
}

/**
 * Builds the rows of a page, top to bottom. Sideways text is included only when most of the page is sideways.
 *
 * @param walls upright rules, which separate the texts on their sides
 */
export function buildRows(
  runs: readonly TextRun[],
  walls: readonly DrawnRule[],
): { rows: SegmentRow[]; sideways: boolean } {
  const pieces: TextSegment[] = []
  const sidewaysPieces: TextSegment[] = []
  for (const [index, run] of runs.entries()) {
    if (run.str.trim() === '' || !run.transform.every(Number.isFinite)) continue
    const position = toPosition(run)
    for (const piece of splitRun(run.str, position, index))
      for (const part of position.turned ? [piece] : splitAtWalls(piece, walls))
        (position.turned ? sidewaysPieces : pieces).push(part)
  }
  const isSideways = sidewaysPieces.length > pieces.length
  const rows = groupByBaseline(isSideways ? sidewaysPieces : pieces)
  for (const row of rows) row.segments = joinCells(row, isSideways ? [] : walls)
  return { rows, sideways: isSideways }
}

/**
 * Splits a run with wide spaces inside (fixed-width text) into pieces, positioned by their characters. A currency sign
 * at the end that belongs to the next number becomes a separate piece.
 */
function splitRun(str: string, position: ReturnType<typeof toPosition>, index: number): TextSegment[] {
  const { left, right, y, size } = position
  const baseline = { y, size, run: index }
  const numberAndSign = /^(.*[\d)%—-]) ([$€£¥])$/u.exec(str.trim())
  if (numberAndSign !== null) {
    const [, number = '', sign = ''] = numberAndSign
    const end = Math.min(right - size, left + number.length * 0.5 * size)
    return [createSegment(number, left, end, baseline), createSegment(sign, right - 0.5 * size, right, baseline)]
  }
  const isSeveral = SEVERAL_NUMBERS.test(str.trim())
  const parts = isSeveral ? str.matchAll(/\S+/gu) : str.includes('  ') ? str.matchAll(/\S+(?: \S+)*/gu) : undefined
  if (parts === undefined) return [createSegment(str.trim(), left, right, baseline)]
  const unit = (right - left) / str.length
  return Array.from(parts, ({ 0: text, index: offset }) =>
    createSegment(text, left + offset * unit, left + (offset + text.length) * unit, baseline),
  )
}

/** Splits a run over an upright rule at the nearest space into the texts of two cells. */
function splitAtWalls(piece: TextSegment, walls: readonly DrawnRule[]): TextSegment[] {
  const { left, right, y, size, text } = piece
  const wall = walls.find(
    ({ at, from, to }) => from <= y + 0.5 * size && y <= to && at > left + 0.4 * size && at < right - 0.4 * size,
  )
  if (wall === undefined || text.length > MAX_SPLIT_LENGTH) return [piece]
  const unit = (right - left) / text.length
  let best = -1
  for (let at = text.indexOf(' '); at !== -1; at = text.indexOf(' ', at + 1))
    if (best === -1 || Math.abs(left + at * unit - wall.at) < Math.abs(left + best * unit - wall.at)) best = at
  if (best === -1 || Math.abs(left + best * unit - wall.at) > MAX_SPLIT_DISTANCE * size) return [piece]
  const [run = 0] = piece.runs
  const baseline = { y, size, run }
  const head = createSegment(text.slice(0, best), left, Math.min(wall.at - 1, left + best * unit), baseline)
  const rest = createSegment(text.slice(best + 1), Math.max(wall.at + 1, left + best * unit), right, baseline)
  return [head, ...splitAtWalls(rest, walls)]
}

interface Baseline {
  y: number
  size: number
  /** index of the text run */
  run: number
}

function createSegment(text: string, left: number, right: number, { y, size, run }: Baseline): TextSegment {
  return { text, left, right: Math.max(left, right), y, size, runs: [run], numeric: isNumberText(text), parts: [] }
}

/** Groups segments on common baselines, top to bottom. */
export function groupByBaseline(pieces: readonly TextSegment[]): SegmentRow[] {
  const rows: SegmentRow[] = []
  for (const piece of [...pieces].sort((a, b) => b.y - a.y)) {
    const last = rows[rows.length - 1]
    const isNear = last !== undefined && isSameRow(last, piece)
    if (!isNear) rows.push({ y: piece.y, size: piece.size, segments: [piece] })
    else {
      last.segments.push(piece)
      if (piece.size * SCRIPT_SIZE > last.size) last.y = piece.y
      if (piece.size > last.size) last.size = piece.size
    }
  }
  return rows
}

function isSameRow(row: SegmentRow, piece: TextSegment): boolean {
  const size = Math.max(row.size, piece.size)
  const isScript = Math.min(row.size, piece.size) < SCRIPT_SIZE * size
  return row.y - piece.y <= (isScript ? MAX_SCRIPT_OFFSET : MAX_ROW_DISTANCE) * size
}

/** Joins close segments, a currency or bracket with its number, and a list mark with its text. */
function joinCells(row: SegmentRow, walls: readonly DrawnRule[]): TextSegment[] {
  const nearWalls = walls.filter((wall) => wall.from <= row.y + 0.5 * row.size && row.y <= wall.to)
  const words: TextSegment[] = []
  for (const piece of row.segments.sort((a, b) => a.left - b.left)) {
    const last = words[words.length - 1]
    if (last !== undefined && isSameText(last, piece) && !isSeparated(last, piece, nearWalls)) joinInto(last, piece)
    else words.push(piece)
  }
  const cells: TextSegment[] = []
  for (const word of words) {
    const last = cells[cells.length - 1]
    const hasWall = last !== undefined && isSeparated(last, word, nearWalls)
    const isPrefixed = last !== undefined && PREFIX.test(last.text) && (word.numeric || PREFIX.test(word.text))
    const isSuffixed = last?.numeric === true && SUFFIX.test(word.text) && word.left - last.right < 2 * word.size
    if ((isPrefixed || isSuffixed) && !hasWall) joinInto(last, word, '')
    else cells.push(word)
  }
  const [mark, text] = cells
  const isAdjacent = mark !== undefined && text !== undefined && !isSeparated(mark, text, nearWalls)
  const isListItem = isAdjacent && LIST_MARK.test(mark.text) && !text.numeric
  if (isListItem && text.left - mark.right < MAX_MARK_GAP * row.size && !PREFIX.test(text.text)) {
    joinInto(mark, text)
    cells.splice(1, 1)
  }
  return cells.filter((one) => !isLeader(one.text))
}

function isSeparated(last: TextSegment, next: TextSegment, walls: readonly DrawnRule[]): boolean {
  return walls.some((wall) => wall.at > last.right - 1.5 && wall.at < next.left + 1.5)
}

function isSameText(last: TextSegment, next: TextSegment): boolean {
  const size = Math.max(last.size, next.size)
  const gap = next.left - last.right
  if (gap < -MAX_OVERLAP * size) return last.text === next.text
  if (PREFIX.test(next.text)) return gap < 0.3 * size && !last.numeric
  if (PREFIX.test(last.text)) return false
  if (COMPLETE_NUMBER.test(last.text) && COMPLETE_NUMBER.test(next.text)) return gap < MIN_COMPLETE_GAP * size
  const areNumbers = last.numeric && (next.numeric || SUFFIX.test(next.text))
  return gap < (areNumbers ? MIN_NUMBER_GAP : MIN_CELL_GAP) * size
}

function joinInto(
  target: TextSegment,
  next: TextSegment,
  space = next.left - target.right > 0.12 * next.size ? ' ' : '',
): void {
  if (target.text === next.text && next.left < target.right) {
    target.runs.push(...next.runs)
    return
  }
  const gap = next.left - target.right
  if (target.parts.length === 0) target.parts.push({ ...target, runs: [...target.runs] })
  const part = target.parts.at(-1)
  if (part === undefined || gap > MIN_PART_GAP * next.size) target.parts.push({ ...next, parts: [] })
  else extend(part, next, space)
  extend(target, next, space)
}

function extend(target: TextSegment, next: TextSegment, space: string): void {
  target.text += space + next.text
  target.right = Math.max(target.right, next.right)
  target.runs.push(...next.runs)
  target.numeric = isNumberText(target.text)
}

function isLeader(text: string): boolean {
  return text.length > 2 && /^[.…·_\s]+$/u.test(text)
}
