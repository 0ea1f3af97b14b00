import type { FoundTable } from './found-table.js'
import { bothLooks, type FontLook } from './pdf-fonts.js'

/** A line of text on a PDF page. Lengths in points, origin bottom left. */
export interface PdfLine {
  text: string
  left: number
  right: number
  /** baseline */
  y: number
  /** size of most of its characters */
  size: number
  /** set sideways on the page */
  turned: boolean
  /** of a line that was read in a picture: how sure each of its words is, in per cent */
  confidences?: number[]
  /** how all of its letters are set */
  look?: FontLook | undefined
  /** it is set like code, see `markCode` */
  code?: true
  /** it is made of several pieces far from each other: cells, or a title with its number */
  cells?: boolean
  /** numbers of notes that stand high behind its words, and the one that it begins with */
  marks?: Mark[]
  begins?: string
  /** the note at the foot of the page that it is part of; which notes its marks refer to */
  note?: { label: string; begins: boolean }
  refers?: string[]
  /** a table that stands here in place of its own lines, and how far down it reaches */
  table?: { found: FoundTable; bottom: number }
}

/** A number, letter or sign of a note, set small and high behind a word. */
export interface Mark {
  label: string
  /** how much of the text of its line stands before it */
  at: number
}

/** What a mark of a note shows. */
const NOTE_LABEL = /^(?:\d{1,3}|[a-z]|[*∗†‡§¶‖]{1,3})$/u
/** What pdf.js says about one run of text. */
export interface TextRun {
  str: string
  transform: number[]
  width: number
  height: number
  look?: FontLook
}

/** Runs on one baseline further apart than this (in text sizes) are columns or cells. */
const CELL_GAP = 2.5
/** A wider gap than this (in text sizes) between two runs is a space. */
const SPACE_GAP = 0.15
/** Baselines this close (in text sizes) are one line: superscripts, drop shadows. */
const SAME_BASELINE = 0.5
/** Indices and exponents stand further off, but close by. */
const SCRIPT_BASELINE = 0.75
const SCRIPT_SIZE = 0.85
/** Marks of one line that are kept, and characters that one has, with the space around it. */
const MAX_MARKS = 40
const MAX_LABEL = 6
/** A mark of a note stands so much higher than its text (in text sizes), or more. */
const RAISED = 0.12

/** When more lines than this share step back up the page within their column, the file's own order is not for reading. */
const CHAOS = 0.2
const MIN_LINES_FOR_CHAOS = 8

interface OpenLine extends PdfLine {
  /** characters by rounded size */
  sizes: Map<number, number>
}

/**
 * The lines of a page in reading order.
 *
 * The order in the file is kept where it makes sense, because writers emit columns one after the other; a page whose
 * order jumps about is sorted by columns and rows instead (recursive X-Y cut, Nagy & Seth 1984).
 */
export function readLines(runs: readonly TextRun[], tables: readonly FoundTable[] = []): PdfLine[] {
  const fragments = joinRuns(runs, tables)
  const ordered = isChaotic(fragments) ? sortByCuts(fragments, 0) : fragments
  return joinRows(ordered)
}

function joinRuns(runs: readonly TextRun[], tables: readonly FoundTable[]): PdfLine[] {
  const lines: OpenLine[] = []
  const inTables = new Map(tables.flatMap((found) => found.runs.map((run) => [run, found] as const)))
  const placed = new Set<FoundTable>()
  let line: OpenLine | undefined
  for (const [index, run] of runs.entries()) {
    if (run.str === '') continue
    const found = inTables.get(index)
    if (found !== undefined) {
      if (!placed.has(found)) lines.push(tableLine(found))
      placed.add(found)
      line = undefined
      continue
    }
    const place = placeOf(run)
    if (line !== undefined && continues(line, place)) {
      const gap = place.left - line.right
      const spaced = line.text.endsWith(' ') || run.str.startsWith(' ')
      line.text += !spaced && gap > SPACE_GAP * Math.min(line.size, place.size) ? ` ${run.str}` : run.str
      // a run of spaces may claim any width
      if (run.str.trim() !== '') line.right = Math.max(line.right, place.right)
      noteMarks(line, run.str, place)
    } else {
      if (run.str.trim() === '') continue
      line = { text: run.str, ...place, sizes: new Map() }
      lines.push(line)
    }
    if (/[\p{L}\p{N}]/u.test(run.str)) line.look = bothLooks(line.look, run.look)
    const rounded = Math.round(place.size * 2) / 2
    const count = (line.sizes.get(rounded) ?? 0) + run.str.trim().length
    line.sizes.set(rounded, count)
    if (count >= (line.sizes.get(Math.round(line.size * 2) / 2) ?? 0)) line.size = place.size
  }
  return lines.map(({ text, sizes: _, ...line }) => {
    for (const mark of line.marks ?? []) mark.at = tidy(`${text.slice(0, mark.at)}x`).length - 1
    return { ...line, text: line.table === undefined ? tidy(text) : text }
  })
}

/** What was added to a line may be the mark of a note, or the text of a note that begins with one. */
function noteMarks(line: OpenLine, added: string, place: Omit<PdfLine, 'text'>): void {
  const label = added.trim()
  // a longer line is not copied for each of its runs
  const length = line.text.length - added.length
  const before = length > MAX_LABEL ? '' : line.text.slice(0, length).trim()
  const few = (line.marks?.length ?? 0) < MAX_MARKS
  if (few && NOTE_LABEL.test(label) && place.size < SCRIPT_SIZE * line.size && place.y > line.y + RAISED * line.size) {
    line.marks ??= []
    line.marks.push({ label, at: line.text.length - added.trimStart().length })
  } else if (
    NOTE_LABEL.test(before) &&
    line.size < SCRIPT_SIZE * place.size &&
    line.y > place.y + RAISED * place.size
  ) {
    line.begins = before
    line.y = place.y
  }
}

/** A table takes the place of the first of its lines. */
function tableLine(found: FoundTable): OpenLine {
  const { left, right, top, bottom } = found.box
  const text = found.rows.map((row) => row.join(' ')).join(' ')
  const { size } = found
  return { text, left, right, y: top - 0.8 * size, size, turned: false, table: { found, bottom }, sizes: new Map() }
}

/** Position along and across the writing direction; a page set sideways reads like an upright one. */
export function placeOf(run: TextRun): Omit<PdfLine, 'text'> {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = run.transform
  const size = Math.hypot(c, d) || run.height || 1
  const sideways = Math.abs(b) > Math.abs(a)
  const left = sideways ? (b > 0 ? f : -f) : e
  const y = sideways ? (b > 0 ? -e : e) : f
  return { left, right: left + run.width, y, size, turned: sideways }
}

function continues(line: PdfLine, place: Omit<PdfLine, 'text'>): boolean {
  const size = Math.max(line.size, place.size)
  const gap = place.left - line.right
  if (line.turned !== place.turned || gap <= -size || gap >= CELL_GAP * size) return false
  const script = Math.min(line.size, place.size) < SCRIPT_SIZE * size && gap < size
  return Math.abs(line.y - place.y) <= (script ? SCRIPT_BASELINE : SAME_BASELINE) * size
}

function tidy(text: string): string {
  return text
    .replace(/[\s\u00ad]+/g, (space) => (space === '\u00ad' ? '-' : ' '))
    .replace(/[\uE000-\uF8FF]/g, ' ')
    .trim()
}

function isChaotic(lines: PdfLine[]): boolean {
  if (lines.length < MIN_LINES_FOR_CHAOS) return false
  const width = extent(lines)
  let back = 0
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]
    const last = lines[i - 1]
    if (line === undefined || last === undefined) continue
    const up = line.y - last.y > 1.5 * line.size
    const columnJump = line.left - last.left > width * 0.2
    if (up && !columnJump) back++
  }
  return back > lines.length * CHAOS
}

function extent(lines: PdfLine[]): number {
  let left = Number.POSITIVE_INFINITY
  let right = Number.NEGATIVE_INFINITY
  for (const line of lines) {
    left = Math.min(left, line.left)
    right = Math.max(right, line.right)
  }
  return Math.max(1, right - left)
}

/** Columns left to right where a gutter runs through, else rows of space top to bottom, else plain order. */
function sortByCuts(lines: PdfLine[], depth: number): PdfLine[] {
  const size = medianSize(lines)
  if (lines.length > 3 && depth < 12) {
    const columns = cut(lines, (line) => [line.left, line.right], size)
    if (columns?.every((column) => column.length > 1)) {
      return columns.flatMap((column) => sortByCuts(column, depth + 1))
    }
    const rows = cut(lines, (line) => [-line.y - line.size * 0.8, -lowest(line)], size * 0.8)
    if (rows !== undefined) return rows.flatMap((row) => sortByCuts(row, depth + 1))
  }
  return [...lines].sort((a, b) => (Math.abs(a.y - b.y) > SAME_BASELINE * size ? b.y - a.y : a.left - b.left))
}

function lowest(line: PdfLine): number {
  return line.table?.bottom ?? line.y - line.size * 0.2
}

/** Groups along one axis with gaps of at least `gap` between them; nothing when there is only one group. */
function cut(lines: PdfLine[], span: (line: PdfLine) => [number, number], gap: number): PdfLine[][] | undefined {
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

/** Cells that follow each other on one baseline become one line. */
function joinRows(lines: PdfLine[]): PdfLine[] {
  const rows: PdfLine[] = []
  for (const line of lines) {
    const last = rows[rows.length - 1]
    const size = Math.max(line.size, last?.size ?? 0)
    const sameRow =
      last !== undefined &&
      last.turned === line.turned &&
      last.table === undefined &&
      line.table === undefined &&
      Math.abs(last.y - line.y) < 0.3 * size &&
      line.left >= last.right - size * 0.5
    if (sameRow && line.text !== '') {
      const moved = (line.marks ?? []).map((mark) => ({ ...mark, at: mark.at + last.text.length + 1 }))
      if (moved.length > 0) last.marks = [...(last.marks ?? []), ...moved]
      last.text = `${last.text} ${line.text}`
      last.right = Math.max(last.right, line.right)
      last.look = bothLooks(last.look, line.look)
      last.cells = true
    } else if (line.text !== '') {
      rows.push(line)
    }
  }
  return rows
}
