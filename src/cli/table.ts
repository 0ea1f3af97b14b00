import Table from 'cli-table3'
import stringWidth from 'string-width'
import type { Column } from './columns.js'

export interface TableInput {
  columns: Column[]
  rows: string[][]
  header: boolean
  /** columns of the terminal; undefined: nothing is cut */
  width: number | undefined
  ellipsis: string
  paintHeader: (title: string) => string
  paintCell: (column: Column, shown: string) => string
}

const GAP = 2
/** a column that is cut keeps at least this much */
const MIN_WIDTH = 8

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
  middle: ' '.repeat(GAP),
}

/** A table without borders: two spaces between columns, numbers to the right, cut to the terminal's width. */
export function renderTable(input: TableInput): string {
  const { columns } = input
  const titles = columns.map((column) => column.title ?? column.field.toUpperCase())
  const widths = fitWidths(
    columns.map((_, index) =>
      Math.max(
        input.header ? stringWidth(titles[index] ?? '') : 0,
        ...input.rows.map((row) => stringWidth(row[index] ?? '')),
      ),
    ),
    input.width,
  )
  const table = new Table({
    chars: NO_BORDERS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colAligns: columns.map((column) => (isNumber(column) ? 'right' : 'left')),
  })
  if (input.header) table.push(titles.map((title) => input.paintHeader(title)))
  for (const row of input.rows) {
    table.push(
      columns.map((column, index) => {
        return input.paintCell(column, cut(row[index] ?? '', widths[index] ?? MIN_WIDTH, input.ellipsis))
      }),
    )
  }
  const lines = table.toString().split('\n')
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function isNumber(column: Column): boolean {
  return column.kind === 'count' || column.kind === 'bytes'
}

/** Takes from the widest column until the row fits. */
function fitWidths(widths: number[], room: number | undefined): number[] {
  if (room === undefined) return widths
  const fitted = [...widths]
  let excess = fitted.reduce((sum, width) => sum + width, 0) + GAP * (fitted.length - 1) - room
  while (excess > 0) {
    const widest = Math.max(...fitted)
    if (widest <= MIN_WIDTH) break
    fitted[fitted.indexOf(widest)] = widest - 1
    excess -= 1
  }
  return fitted
}

function cut(text: string, width: number, ellipsis: string): string {
  if (stringWidth(text) <= width) return text
  let kept = ''
  let used = stringWidth(ellipsis)
  for (const mark of text) {
    const next = stringWidth(mark)
    if (used + next > width) break
    kept += mark
    used += next
  }
  return kept + ellipsis
}
