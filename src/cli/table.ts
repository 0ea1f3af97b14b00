import Table from 'cli-table3'
import stringWidth from 'string-width'
import type { OutputColumn } from './columns.js'
import { ttyLine } from './terminal.js'

export interface TableInput {
  columns: OutputColumn[]
  rows: string[][]
  header: boolean
  /** Width of the terminal in columns; undefined: nothing is truncated. */
  width: number | undefined
  ellipsis: string
  paintHeader: (title: string) => string
  paintCell: (column: OutputColumn, shown: string) => string
}

const COLUMN_GAP = 2
/** Minimum width of a truncated column. */
const MIN_COLUMN_WIDTH = 8

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

/**
 * Renders a table without borders: two spaces between columns, numbers right-aligned, truncated to the terminal's
 * width. Ids, slugs and numbers are never truncated; if the columns do not fit, each row becomes a block of lines.
 */
export function renderTable(input: TableInput): string {
  const { columns } = input
  const titles = columns.map((column) => ttyLine(column.title ?? column.field.toUpperCase()))
  const contentWidths = columns.map((_, index) =>
    Math.max(
      input.header ? stringWidth(titles[index] ?? '') : 0,
      ...input.rows.map((row) => stringWidth(row[index] ?? '')),
    ),
  )
  const widths = fitWidths(contentWidths, columns.map(isNeverTruncated), input.width)
  if (widths === undefined) return renderBlocks(input, titles)
  const table = new Table({
    chars: NO_BORDERS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colAligns: columns.map((column) => (isNumber(column) ? 'right' : 'left')),
  })
  const fitCell = (text: string, index: number) => truncate(text, widths[index] ?? MIN_COLUMN_WIDTH, input.ellipsis)
  if (input.header) table.push(titles.map((title, index) => input.paintHeader(fitCell(title, index))))
  for (const row of input.rows) {
    table.push(columns.map((column, index) => input.paintCell(column, fitCell(row[index] ?? '', index))))
  }
  const lines = table.toString().split('\n')
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

/** Renders rows as blocks of `TITLE value`, separated by empty lines; omits empty values. */
function renderBlocks(input: TableInput, titles: string[]): string {
  const { columns, width = Infinity } = input
  const labelWidth = input.header ? Math.max(...titles.map((title) => stringWidth(title))) : 0
  const valueWidth = Math.max(MIN_COLUMN_WIDTH, width - (labelWidth === 0 ? 0 : labelWidth + COLUMN_GAP))
  const rows = input.rows.map((row) =>
    columns.flatMap((column, index) => {
      const value = row[index] ?? ''
      if (value === '') return []
      const shown = input.paintCell(
        column,
        isNeverTruncated(column) ? value : truncate(value, valueWidth, input.ellipsis),
      )
      const title = titles[index] ?? ''
      const padding = ' '.repeat(Math.max(0, labelWidth - stringWidth(title)) + COLUMN_GAP)
      return [labelWidth === 0 ? shown : `${input.paintHeader(title)}${padding}${shown}`]
    }),
  )
  return `${rows.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

/** Whether a truncated value is useless: as an argument of the next command, or as a different number. */
function isNeverTruncated(column: OutputColumn): boolean {
  return column.kind === 'id' || isNumber(column) || /(^|\.)slug$/.test(column.field)
}

function isNumber(column: OutputColumn): boolean {
  return column.kind === 'count' || column.kind === 'bytes'
}

/** Narrows the widest truncatable column until the row fits. @returns undefined if it cannot fit */
function fitWidths(widths: number[], neverTruncated: boolean[], maxWidth: number | undefined): number[] | undefined {
  if (maxWidth === undefined) return widths
  const fitted = [...widths]
  let excess = fitted.reduce((sum, width) => sum + width, 0) + COLUMN_GAP * (fitted.length - 1) - maxWidth
  while (excess > 0) {
    const widest = Math.max(0, ...fitted.filter((_, index) => neverTruncated[index] !== true))
    if (widest <= MIN_COLUMN_WIDTH) return undefined
    fitted[fitted.findIndex((width, index) => width === widest && neverTruncated[index] !== true)] = widest - 1
    excess -= 1
  }
  return fitted
}

function truncate(text: string, width: number, ellipsis: string): string {
  if (stringWidth(text) <= width) return text
  let truncated = ''
  let usedWidth = stringWidth(ellipsis)
  for (const character of text) {
    const characterWidth = stringWidth(character)
    if (usedWidth + characterWidth > width) break
    truncated += character
    usedWidth += characterWidth
  }
  return truncated + ellipsis
}
