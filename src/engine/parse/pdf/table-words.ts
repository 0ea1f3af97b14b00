import { placeOf, type TextRun } from './pdf-lines.js'
import type { Rule } from './table-rules.js'

/** Adjacent text on one baseline: the text of one cell, or a line of it. */
export interface Segment {
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
  parts: Segment[]
}

/** The segments on one baseline, left to right. */
export interface Row {
  y: number
  size: number
  segments: Segment[]
}

/** Minimal gap between words of two cells, in text sizes; between numbers a smaller one suffices. */
const CELL_GAP = 1.1
const FIGURE_GAP = 0.55
/** Minimal gap between two words, in text sizes, that may separate columns when the rows below show so. */
const PART_GAP = 0.55
/** Indices and exponents: maximal size relative to their line, and maximal offset from it in text sizes. */
const SCRIPT_SIZE = 0.85
const SCRIPT_OFF = 0.62
/** Runs that overlap by more, in text sizes, are not one text. */
const OVERPRINT = 0.6
/** Maximal distance between baselines of one row, in text sizes. */
const SAME_ROW = 0.46
/**
 * A run over an upright rule is split at a space within this distance, in text sizes; longer runs are prose over a
 * drawing.
 */
const CUT_OFF = 2
const MAX_CUT = 200
/** Maximal distance between a list mark and its text, in text sizes. */
const MARK_GAP = 5

const FIGURE =
  /^[<>≤≥~±≈$€£¥₩(+\-–—−\s]*\.?\d[\d\s.,:/%)(±×x+\-–−'’]*(?:[eE][+-]?\d+)?(?:[%)]|pts?|bps|[KMBxX])*[*†‡§]*$/u
/** `$10 to $11 million`, `up to 30 years`. */
const AMOUNT_WORD =
  /^(?:approximately|about|approx\.|up|to|over|under|from|less|more|than|million|billion|thousand|percent|years?|months?|days?|bps|and|or|[-–—])$/i
const MAX_AMOUNT_WORDS = 8
const DASH = /^[$€£¥(\s]*(?:[-–—−]+|\*+|N\/[AM]|n\/[am]|NM|nm|n\.[am]\.)[)%\s]*$/u
const PREFIX = /^(?:[$€£¥₩]|(?:US|C|A|HK|R)\$|\(|\$\s*\()$/u
const SUFFIX = /^[)%]+$/u
const MARK = /^(?:[•◦▪‣●○■□·∙*–—-]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4})[.)]|\[\d{1,3}\])$/u

/** Whether a text is a number, or a sign for a missing one. */
export function isFigure(text: string): boolean {
  const short = text.slice(0, 40)
  return FIGURE.test(short) || DASH.test(short) || isAmount(text)
}

function isAmount(text: string): boolean {
  if (text.length > 60 || !/\d/.test(text)) return false
  if (!/[$€£¥%]|illion|thousand|year|month|day|\d\D+ to \D*\d|\d[-–—]\d/i.test(text)) return false
  const words = text.split(' ')
  const figures = words.filter((word) => FIGURE.test(word) && !AMOUNT_WORD.test(word)).length
  return (
    words.length <= MAX_AMOUNT_WORDS &&
    figures > 0 &&
    words.every((word) => FIGURE.test(word) || AMOUNT_WORD.test(word))
  )
}

/**
 * Builds the rows of a page, top to bottom. Sideways text is included only when most of the page is sideways.
 *
 * @param walls upright rules, which separate the texts on their sides
 */
export function rowsOf(runs: readonly TextRun[], walls: readonly Rule[]): { rows: Row[]; sideways: boolean } {
  const pieces: Segment[] = []
  const turned: Segment[] = []
  for (const [index, run] of runs.entries()) {
    if (run.str.trim() === '' || !run.transform.every(Number.isFinite)) continue
    const place = placeOf(run)
    for (const piece of piecesOf(run.str, place, index))
      for (const part of place.turned ? [piece] : cutAtWalls(piece, walls)) (place.turned ? turned : pieces).push(part)
  }
  const sideways = turned.length > pieces.length
  const rows = clustered(sideways ? turned : pieces)
  for (const row of rows) row.segments = cellsOf(row, sideways ? [] : walls)
  return { rows, sideways }
}

/**
 * Splits a run with wide spaces inside (fixed-width text) into pieces, positioned by their characters. A currency sign
 * at the end that belongs to the next number becomes a separate piece.
 */
function piecesOf(str: string, place: ReturnType<typeof placeOf>, index: number): Segment[] {
  const { left, right, y, size } = place
  const money = /^(.*[\d)%—-]) ([$€£¥])$/u.exec(str.trim())
  if (money !== null) {
    const [, figure = '', sign = ''] = money
    const end = Math.min(right - size, left + figure.length * 0.5 * size)
    return [segment(figure, left, end, y, size, index), segment(sign, right - 0.5 * size, right, y, size, index)]
  }
  const parts = str.includes('  ') ? str.matchAll(/\S+(?: \S+)*/gu) : undefined
  if (parts === undefined) return [segment(str.trim(), left, right, y, size, index)]
  const unit = (right - left) / str.length
  return Array.from(parts, ({ 0: text, index: at }) =>
    segment(text, left + at * unit, left + (at + text.length) * unit, y, size, index),
  )
}

/** Splits a run over an upright rule at the nearest space into the texts of two cells. */
function cutAtWalls(piece: Segment, walls: readonly Rule[]): Segment[] {
  const { left, right, y, size, text } = piece
  const wall = walls.find(
    ({ at, from, to }) => from <= y + 0.5 * size && y <= to && at > left + 0.4 * size && at < right - 0.4 * size,
  )
  if (wall === undefined || text.length > MAX_CUT) return [piece]
  const unit = (right - left) / text.length
  let best = -1
  for (let at = text.indexOf(' '); at !== -1; at = text.indexOf(' ', at + 1))
    if (best === -1 || Math.abs(left + at * unit - wall.at) < Math.abs(left + best * unit - wall.at)) best = at
  if (best === -1 || Math.abs(left + best * unit - wall.at) > CUT_OFF * size) return [piece]
  const [run = 0] = piece.runs
  const head = segment(text.slice(0, best), left, Math.min(wall.at - 1, left + best * unit), y, size, run)
  const rest = segment(text.slice(best + 1), Math.max(wall.at + 1, left + best * unit), right, y, size, run)
  return [head, ...cutAtWalls(rest, walls)]
}

function segment(text: string, left: number, right: number, y: number, size: number, run: number): Segment {
  return { text, left, right: Math.max(left, right), y, size, runs: [run], numeric: isFigure(text), parts: [] }
}

/** Groups segments on common baselines, top to bottom. */
export function clustered(pieces: readonly Segment[]): Row[] {
  const rows: Row[] = []
  for (const piece of [...pieces].sort((a, b) => b.y - a.y)) {
    const last = rows[rows.length - 1]
    const near = last !== undefined && isOneRow(last, piece)
    if (!near) rows.push({ y: piece.y, size: piece.size, segments: [piece] })
    else {
      last.segments.push(piece)
      if (piece.size * SCRIPT_SIZE > last.size) last.y = piece.y
      if (piece.size > last.size) last.size = piece.size
    }
  }
  return rows
}

function isOneRow(row: Row, piece: Segment): boolean {
  const size = Math.max(row.size, piece.size)
  const script = Math.min(row.size, piece.size) < SCRIPT_SIZE * size
  return row.y - piece.y <= (script ? SCRIPT_OFF : SAME_ROW) * size
}

/** Joins close segments, a currency or bracket with its number, and a list mark with its text. */
function cellsOf(row: Row, walls: readonly Rule[]): Segment[] {
  const near = walls.filter((wall) => wall.from <= row.y + 0.5 * row.size && row.y <= wall.to)
  const words: Segment[] = []
  for (const piece of row.segments.sort((a, b) => a.left - b.left)) {
    const last = words[words.length - 1]
    if (last !== undefined && belongs(last, piece) && !isParted(last, piece, near)) join(last, piece)
    else words.push(piece)
  }
  const figures: Segment[] = []
  for (const word of words) {
    const last = figures[figures.length - 1]
    const parted = last !== undefined && isParted(last, word, near)
    const signed = last !== undefined && PREFIX.test(last.text) && (word.numeric || PREFIX.test(word.text))
    const closed = last?.numeric === true && SUFFIX.test(word.text) && word.left - last.right < 2 * word.size
    if ((signed || closed) && !parted) join(last, word, '')
    else figures.push(word)
  }
  const [mark, text] = figures
  const open = mark !== undefined && text !== undefined && !isParted(mark, text, near)
  const listed = open && MARK.test(mark.text) && !text.numeric
  if (listed && text.left - mark.right < MARK_GAP * row.size && !PREFIX.test(text.text)) {
    join(mark, text)
    figures.splice(1, 1)
  }
  return figures.filter((one) => !isLeader(one.text))
}

function isParted(last: Segment, next: Segment, walls: readonly Rule[]): boolean {
  return walls.some((wall) => wall.at > last.right - 1.5 && wall.at < next.left + 1.5)
}

function belongs(last: Segment, next: Segment): boolean {
  const size = Math.max(last.size, next.size)
  const gap = next.left - last.right
  if (gap < -OVERPRINT * size) return last.text === next.text
  if (PREFIX.test(next.text)) return gap < 0.3 * size && !last.numeric
  if (PREFIX.test(last.text)) return false
  const figures = last.numeric && (next.numeric || SUFFIX.test(next.text))
  return gap < (figures ? FIGURE_GAP : CELL_GAP) * size
}

function join(into: Segment, next: Segment, space = next.left - into.right > 0.12 * next.size ? ' ' : ''): void {
  if (into.text === next.text && next.left < into.right) {
    into.runs.push(...next.runs)
    return
  }
  const gap = next.left - into.right
  if (into.parts.length === 0) into.parts.push({ ...into, runs: [...into.runs] })
  const part = into.parts.at(-1)
  if (part === undefined || gap > PART_GAP * next.size) into.parts.push({ ...next, parts: [] })
  else extend(part, next, space)
  extend(into, next, space)
}

function extend(into: Segment, next: Segment, space: string): void {
  into.text += space + next.text
  into.right = Math.max(into.right, next.right)
  into.runs.push(...next.runs)
  into.numeric = isFigure(into.text)
}

function isLeader(text: string): boolean {
  return text.length > 2 && /^[.…·_\s]+$/u.test(text)
}
