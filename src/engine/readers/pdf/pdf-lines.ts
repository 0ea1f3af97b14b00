import type { FoundTable } from './found-table.js'
import { combineLooks, type FontLook } from './pdf-fonts.js'

/** A line of text on a PDF page. Lengths in points, origin bottom left. */
export interface PdfLine {
  text: string
  left: number
  right: number
  /** Baseline. */
  y: number
  /** Size of most of its characters. */
  size: number
  /** Set sideways on the page. */
  turned: boolean
  /** Its ends are those in a mirror: the page is read from right to left. */
  isMirrored?: boolean
  /** Confidence of each word in percent, for a line that was recognised in a picture. */
  confidences?: number[]
  /** Font style that all of its letters share. */
  look?: FontLook | undefined
  /** It is set like code, see `markCode`. */
  code?: true
  /** It consists of pieces far from each other: cells, or a title with its number. */
  cells?: boolean
  /** Raised note marks after its words, and the mark with which the line begins. */
  marks?: NoteMark[]
  begins?: string
  /** The note at the foot of the page to which it belongs; labels of the notes to which its marks refer. */
  note?: { label: string; begins: boolean }
  refers?: string[]
  /** A table in place of its own lines, and its lower edge. */
  table?: { found: FoundTable; bottom: number }
}

/** The number, letter or sign of a note, small and raised after a word. */
export interface NoteMark {
  label: string
  /** Offset of the mark in the text of its line. */
  at: number
}

/** The text of a note mark. */
const NOTE_LABEL = /^(?:\d{1,3}|[a-z]|[*∗†‡§¶‖]{1,3})$/u
/** A run of text as pdf.js returns it. */
export interface TextRun {
  str: string
  transform: number[]
  width: number
  height: number
  look?: FontLook
}

/** Runs on one baseline with a larger gap, in text sizes, are columns or cells. */
const CELL_GAP = 2.5
/** A larger gap, in text sizes, between two runs is a space. */
const SPACE_GAP = 0.15
/** A large letter at the start of a line may be further from its word. */
const INITIAL = /^["'“‘«„]?\p{Lu}$/u
/** A letter this many times as high as the text next to it hangs into the lines below. */
const MIN_DROP_CAP_RATIO = 1.7
/** Baselines this close, in text sizes, are one line: superscripts, drop shadows. */
const SAME_BASELINE = 0.5
/** Indices and exponents are further from the baseline, but close to the text. */
const SCRIPT_BASELINE = 0.75
const SCRIPT_SIZE = 0.85
/** Maximal number of marks of one line, and of characters of a mark with the spaces around it. */
const MAX_MARKS = 40
const MAX_LABEL_LENGTH = 6
/** Minimal height of a note mark above its text, in text sizes. */
const MIN_RAISE = 0.12

/**
 * When a larger fraction of lines steps back up the page within their column, the order of the file is not the reading
 * order.
 */
const MAX_STEP_BACK_FRACTION = 0.2
const MIN_LINES_TO_JUDGE = 8

interface OpenLine extends PdfLine {
  /** Number of characters by rounded size. */
  sizes: Map<number, number>
}

/**
 * The lines of a page in reading order.
 *
 * The order of the file is kept where it is plausible, because writers emit columns one after the other. A page in
 * chaotic order is sorted by columns and rows instead (recursive X-Y cut, Nagy & Seth 1984).
 */
export function readLines(runs: readonly TextRun[], tables: readonly FoundTable[] = []): PdfLine[] {
  const fragments = joinRuns(runs, tables)
  const ordered = isChaotic(fragments) ? sortByCuts(fragments, 0) : fragments
  return joinRows(ordered)
}

function joinRuns(runs: readonly TextRun[], tables: readonly FoundTable[]): PdfLine[] {
  const lines: OpenLine[] = []
  const inTables = new Map(tables.flatMap((found) => found.runs.map((run) => [run, found] as const)))
  const placedTables = new Set<FoundTable>()
  let line: OpenLine | undefined
  for (const [index, run] of runs.entries()) {
    if (run.str === '') continue
    const found = inTables.get(index)
    if (found !== undefined) {
      if (!placedTables.has(found)) lines.push({ ...createTableLine(found), sizes: new Map() })
      placedTables.add(found)
      line = undefined
      continue
    }
    const position = toPosition(run)
    if (line !== undefined && continuesLine(line, position)) {
      const gap = position.left - line.right
      const hasSpace = line.text.endsWith(' ') || run.str.startsWith(' ')
      const size = INITIAL.test(line.text) ? Math.max(line.size, position.size) : Math.min(line.size, position.size)
      line.text += !hasSpace && gap > SPACE_GAP * size ? ` ${run.str}` : run.str
      // a run of spaces may have any width
      if (run.str.trim() !== '') line.right = Math.max(line.right, position.right)
      detectMarks(line, run.str, position)
    } else {
      if (run.str.trim() === '') continue
      line = { text: run.str, ...position, sizes: new Map() }
      lines.push(line)
    }
    if (/[\p{L}\p{N}]/u.test(run.str)) line.look = combineLooks(line.look, run.look)
    const rounded = Math.round(position.size * 2) / 2
    const count = (line.sizes.get(rounded) ?? 0) + run.str.trim().length
    line.sizes.set(rounded, count)
    if (count >= (line.sizes.get(Math.round(line.size * 2) / 2) ?? 0)) line.size = position.size
  }
  return lines.map(({ text, sizes: _, ...line }) => {
    for (const mark of line.marks ?? []) mark.at = cleanText(`${text.slice(0, mark.at)}x`).length - 1
    return { ...line, text: line.table === undefined ? cleanText(text) : text }
  })
}

/** Detects whether added text is the mark of a note, or the text of a note that begins with a mark. */
function detectMarks(line: OpenLine, added: string, position: Omit<PdfLine, 'text'>): void {
  const label = added.trim()
  // do not copy a long line for each of its runs
  const length = line.text.length - added.length
  const before = length > MAX_LABEL_LENGTH ? '' : line.text.slice(0, length).trim()
  const hasMarksLeft = (line.marks?.length ?? 0) < MAX_MARKS
  if (
    hasMarksLeft &&
    NOTE_LABEL.test(label) &&
    position.size < SCRIPT_SIZE * line.size &&
    position.y > line.y + MIN_RAISE * line.size
  ) {
    line.marks ??= []
    line.marks.push({ label, at: line.text.length - added.trimStart().length })
  } else if (
    NOTE_LABEL.test(before) &&
    line.size < SCRIPT_SIZE * position.size &&
    line.y > position.y + MIN_RAISE * position.size
  ) {
    line.begins = before
    line.y = position.y
  }
}

/** The line that represents a table at the position of its first line. */
export function createTableLine(found: FoundTable): PdfLine {
  const { left, right, top, bottom } = found.box
  const text = found.rows.map((row) => row.join(' ')).join(' ')
  const { size } = found
  return { text, left, right, y: top - 0.8 * size, size, turned: false, table: { found, bottom } }
}

/** Position along and across the writing direction; a page set sideways is treated like an upright one. */
export function toPosition(run: TextRun): Omit<PdfLine, 'text'> {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = run.transform
  const size = Math.hypot(c, d) || run.height || 1
  const isSideways = Math.abs(b) > Math.abs(a)
  const left = isSideways ? (b > 0 ? f : -f) : e
  const y = isSideways ? (b > 0 ? -e : e) : f
  return { left, right: left + run.width, y, size, turned: isSideways }
}

/** Whether a letter at the start of a text is as high as several of its lines. */
export function isDropCap(cap: PdfLine, { size }: Pick<PdfLine, 'size'>): boolean {
  return cap.size >= MIN_DROP_CAP_RATIO * size && INITIAL.test(cap.text)
}

function continuesLine(line: PdfLine, position: Omit<PdfLine, 'text'>): boolean {
  if (isDropCap(line, position) && line.y < position.y - SAME_BASELINE * position.size) return false
  const size = Math.max(line.size, position.size)
  const gap = position.left - line.right
  if (line.turned !== position.turned || gap <= -size || gap >= CELL_GAP * size) return false
  const isScript = Math.min(line.size, position.size) < SCRIPT_SIZE * size && gap < size
  return Math.abs(line.y - position.y) <= (isScript ? SCRIPT_BASELINE : SAME_BASELINE) * size
}

function cleanText(text: string): string {
  return text
    .replace(/[\s\u00ad]+/g, (space) => (space === '\u00ad' ? '-' : ' '))
    .replace(/[\uE000-\uF8FF]/g, ' ')
    .trim()
}

function isChaotic(lines: PdfLine[]): boolean {
  if (lines.length < MIN_LINES_TO_JUDGE) return false
  const width = computeWidth(lines)
  let stepsBack = 0
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]
    const last = lines[i - 1]
    if (line === undefined || last === undefined) continue
    const isStepUp = line.y - last.y > 1.5 * line.size
    const isColumnJump = line.left - last.left > width * 0.2
    if (isStepUp && !isColumnJump) stepsBack++
  }
  return stepsBack > lines.length * MAX_STEP_BACK_FRACTION
}

function computeWidth(lines: PdfLine[]): number {
  let left = Number.POSITIVE_INFINITY
  let right = Number.NEGATIVE_INFINITY
  for (const line of lines) {
    left = Math.min(left, line.left)
    right = Math.max(right, line.right)
  }
  return Math.max(1, right - left)
}

/**
 * Columns from left to right where a gutter separates them, else rows from top to bottom, else order by coordinates.
 */
function sortByCuts(lines: PdfLine[], depth: number): PdfLine[] {
  const size = medianSize(lines)
  if (lines.length > 3 && depth < 12) {
    const columns = splitAtGaps(lines, (line) => [line.left, line.right], size)
    if (columns?.every((column) => column.length > 1)) {
      return columns.flatMap((column) => sortByCuts(column, depth + 1))
    }
    const rows = splitAtGaps(lines, (line) => [-line.y - line.size * 0.8, -getBottom(line)], size * 0.8)
    if (rows !== undefined) return rows.flatMap((row) => sortByCuts(row, depth + 1))
  }
  return [...lines].sort((a, b) => (Math.abs(a.y - b.y) > SAME_BASELINE * size ? b.y - a.y : a.left - b.left))
}

function getBottom(line: PdfLine): number {
  return line.table?.bottom ?? line.y - line.size * 0.2
}

/** Groups lines along one axis with gaps of at least `gap` between them; undefined when there is only one group. */
function splitAtGaps(
  lines: PdfLine[],
  span: (line: PdfLine) => [number, number],
  gap: number,
): PdfLine[][] | undefined {
  const sorted = lines.map((line) => ({ line, span: span(line) })).sort((a, b) => a.span[0] - b.span[0])
  const groups: PdfLine[][] = []
  let end = Number.NEGATIVE_INFINITY
  for (const entry of sorted) {
    if (entry.span[0] - end > gap) groups.push([])
    groups[groups.length - 1]?.push(entry.line)
    end = Math.max(end, entry.span[1])
  }
  return groups.length > 1 ? groups : undefined
}

function medianSize(lines: PdfLine[]): number {
  const sizes = lines.map((line) => line.size).sort((a, b) => a - b)
  return sizes[sizes.length >> 1] ?? 10
}

/** Joins cells that follow each other on one baseline into one line. */
function joinRows(lines: PdfLine[]): PdfLine[] {
  const rows: PdfLine[] = []
  for (const line of lines) {
    const last = rows[rows.length - 1]
    const size = Math.max(line.size, last?.size ?? 0)
    const isSameRow =
      last !== undefined &&
      last.turned === line.turned &&
      last.table === undefined &&
      line.table === undefined &&
      Math.abs(last.y - line.y) < 0.3 * size &&
      line.left >= last.right - size * 0.5
    if (isSameRow && line.text !== '') {
      const shiftedMarks = (line.marks ?? []).map((mark) => ({ ...mark, at: mark.at + last.text.length + 1 }))
      if (shiftedMarks.length > 0) last.marks = [...(last.marks ?? []), ...shiftedMarks]
      last.text = `${last.text} ${line.text}`
      last.right = Math.max(last.right, line.right)
      last.look = combineLooks(last.look, line.look)
      last.cells = true
    } else if (line.text !== '') {
      rows.push(line)
    }
  }
  return rows
}
