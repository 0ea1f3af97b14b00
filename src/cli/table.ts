import Table from 'cli-table3'
import stringWidth from 'string-width'
import type { OutputColumn } from './columns.js'
import { ttyLine } from './terminal.js'

export interface TableInput {
  columns: OutputColumn[]
  rows: string[][]
  header: boolean
  /** Width of the terminal in columns; undefined: nothing is omitted or truncated. */
  width: number | undefined
  /** Whether columns may be omitted on a narrow terminal; not if the user has selected them. */
  canOmitColumns: boolean
  ellipsis: string
  paintHeader: (title: string) => string
  paintCell: (column: OutputColumn, shown: string) => string
}

const COLUMN_GAP = 2
/** Minimum width of a truncated column. */
const MIN_COLUMN_WIDTH = 8
/** Columns are omitted until each text fits, or has this width or a third of the terminal. */
const READABLE_WIDTH = 18

const NO_BORDERS = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: ' '.repeat(COLUMN_GAP),
}

interface MeasuredColumn {
  column: OutputColumn
  title: string
  cells: string[]
  contentWidth: number
  isTruncatable: boolean
}

/**
 * Renders a table without borders: one line for each row, two spaces between columns, numbers right-aligned. On a narrow
 * terminal, the least important columns are omitted and texts truncated; ids, slugs and numbers are never truncated.
 */
export function renderTable(input: TableInput): string {
  const all = input.columns.map((column, index) => measureColumn(input, column, index))
  const shown = input.width === undefined || !input.canOmitColumns ? all : omitColumns(all, input.width)
  const widths = fitWidths(shown, input.width)
  const table = new Table({
    chars: NO_BORDERS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
  })
  // Cells are padded here, because the library counts some emoji as wider than terminals show them.
  const toRow = (getCell: (column: MeasuredColumn) => string, paint: TableInput['paintCell']): string[] =>
    shown.map((tableColumn, index) => {
      const width = widths[index] ?? MIN_COLUMN_WIDTH
      const { column } = tableColumn
      const text = truncate(getCell(tableColumn), { width, ellipsis: input.ellipsis, isMiddle: column.kind === 'name' })
      const padding = ' '.repeat(Math.max(0, width - stringWidth(text)))
      const painted = text === '' ? '' : paint(column, text)
      return isNumber(column) ? padding + painted : painted + padding
    })
  if (input.header)
    table.push(
      toRow(
        ({ title }) => title,
        (_, title) => input.paintHeader(title),
      ),
    )
  table.push(...input.rows.map((_, row) => toRow(({ cells }) => cells[row] ?? '', input.paintCell)))
  const lines = table.toString().split('\n')
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function measureColumn({ rows, header }: TableInput, column: OutputColumn, index: number): MeasuredColumn {
  const title = ttyLine(column.title ?? column.field.toUpperCase())
  const cells = rows.map((row) => row[index] ?? '')
  const contentWidth = Math.max(header ? stringWidth(title) : 0, ...cells.map((cell) => stringWidth(cell)))
  return { column, title, cells, contentWidth, isTruncatable: !isNeverTruncated(column) }
}

/** Whether a truncated value is useless: as an argument of the next command, or as a different number. */
function isNeverTruncated(column: OutputColumn): boolean {
  return column.kind === 'id' || isNumber(column) || isSlug(column)
}

function isSlug({ field }: OutputColumn): boolean {
  return /(^|\.)slug$/.test(field)
}

function isNumber({ kind }: OutputColumn): boolean {
  return kind === 'count' || kind === 'bytes' || kind === 'score'
}

/** The width up to which a column is not narrowed: that of its texts, 18, or a part of the terminal. */
function getReadableWidth({ column, contentWidth, isTruncatable }: MeasuredColumn, width: number): number {
  if (!isTruncatable) return contentWidth
  const part = column.isMain === true ? Math.ceil(width / 2) : Math.min(READABLE_WIDTH, Math.floor(width / 3))
  return Math.min(contentWidth, part)
}

/** Removes the least important columns until the others are readable at this width. */
function omitColumns(columns: MeasuredColumn[], width: number): MeasuredColumn[] {
  const main = findMainColumn(columns)
  const firstId = columns.find(({ column }) => column.kind === 'id')
  const getImportance = (tableColumn: MeasuredColumn): number => {
    const { column, cells } = tableColumn
    if (isSlug(column)) return 8
    if (tableColumn === main) return 7
    if (tableColumn === firstId) return 6
    if (cells.every((cell) => cell === '')) return 0
    if (column.isDetail === true || column.kind === 'id') return 1
    if (column.kind === 'time' || column.kind === 'epoch' || column.kind === 'seconds') return 2
    if (isNumber(column)) return 3
    return column.kind === 'state' ? 5 : 4
  }
  const shown = [...columns]
  while (shown.length > 1 && sumWidths(shown.map((column) => getReadableWidth(column, width))) > width) {
    const lowest = Math.min(...shown.map(getImportance))
    shown.splice(
      shown.findLastIndex((column) => getImportance(column) === lowest),
      1,
    )
  }
  return shown
}

/** The column that is marked as the main one, or the one with the longest text. */
function findMainColumn(columns: readonly MeasuredColumn[]): MeasuredColumn | undefined {
  const marked = columns.find(({ column }) => column.isMain === true)
  if (marked !== undefined) return marked
  const texts = columns.filter(({ isTruncatable, column }) => isTruncatable && column.isDetail !== true)
  const maxWidth = Math.max(...texts.map(({ contentWidth }) => contentWidth))
  return texts.find(({ contentWidth }) => contentWidth === maxWidth)
}

function sumWidths(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + COLUMN_GAP * (widths.length - 1)
}

/** Narrows the columns that exceed their readable width most, down to the minimum, until the row fits. */
function fitWidths(columns: readonly MeasuredColumn[], maxWidth: number | undefined): number[] {
  const fitted = columns.map((column) => ({ column, width: column.contentWidth }))
  const getWidths = () => fitted.map(({ width }) => width)
  if (maxWidth === undefined) return getWidths()
  const truncatable = fitted.filter(({ column }) => column.isTruncatable)
  for (let excess = sumWidths(getWidths()) - maxWidth; excess > 0; excess--) {
    // Half of the terminal is for the main column what `READABLE_WIDTH` is for the others.
    const toComparable = ({ column, width }: { column: MeasuredColumn; width: number }) =>
      column.column.isMain === true ? width - Math.ceil(maxWidth / 2) + READABLE_WIDTH : width
    const [widest] = truncatable
      .filter(({ width }) => width > MIN_COLUMN_WIDTH)
      .sort((a, b) => toComparable(b) - toComparable(a))
    if (widest === undefined) break
    widest.width -= 1
  }
  return getWidths()
}

const graphemes = new Intl.Segmenter()

/** Truncates a text at its end, or in its middle: the end of a path distinguishes it. */
function truncate(text: string, options: { width: number; ellipsis: string; isMiddle: boolean }): string {
  const { width, ellipsis, isMiddle } = options
  if (stringWidth(text) <= width) return text
  const parts = [...graphemes.segment(text)].map(({ segment }) => segment)
  const available = width - stringWidth(ellipsis)
  const tailWidth = isMiddle ? Math.ceil((available * 2) / 3) : 0
  const tail = takeWidth(parts.toReversed(), tailWidth).reverse().join('')
  return takeWidth(parts, available - stringWidth(tail)).join('') + ellipsis + tail
}

/** The first parts that fit the width. */
function takeWidth(parts: readonly string[], width: number): string[] {
  const taken: string[] = []
  let usedWidth = 0
  for (const part of parts) {
    usedWidth += stringWidth(part)
    if (usedWidth > width) break
    taken.push(part)
  }
  return taken
}
