import Table from 'cli-table3'
import stringWidth from 'string-width'
import type { Column } from './columns.js'
import { ttyLine } from './terminal.js'

export interface TableInput {
  columns: Column[]
  rows: string[][]
  header: boolean
  /** Width of the terminal in columns; undefined: nothing is truncated. */
  width: number | undefined
  ellipsis: string
  paintHeader: (title: string) => string
  paintCell: (column: Column, shown: string) => string
}

const GAP = 2
/** Minimum width of a truncated column. */
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

/**
 * Renders a table without borders: two spaces between columns, numbers right-aligned, truncated to the terminal's
 * width. Ids, slugs and numbers are never truncated; if the columns do not fit, each row becomes a block of lines.
 */
export function renderTable(input: TableInput): string {
  const { columns } = input
  const titles = columns.map((column) => ttyLine(column.title ?? column.field.toUpperCase()))
  const natural = columns.map((_, index) =>
    Math.max(
      input.header ? stringWidth(titles[index] ?? '') : 0,
      ...input.rows.map((row) => stringWidth(row[index] ?? '')),
    ),
  )
  const widths = fitWidths(natural, columns.map(isWhole), input.width)
  if (widths === undefined) return blocks(input, titles)
  const table = new Table({
    chars: NO_BORDERS,
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [], compact: true },
    colAligns: columns.map((column) => (isNumber(column) ? 'right' : 'left')),
  })
  const fitted = (text: string, index: number) => cut(text, widths[index] ?? MIN_WIDTH, input.ellipsis)
  if (input.header) table.push(titles.map((title, index) => input.paintHeader(fitted(title, index))))
  for (const row of input.rows) {
    table.push(columns.map((column, index) => input.paintCell(column, fitted(row[index] ?? '', index))))
  }
  const lines = table.toString().split('\n')
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

/** Renders rows as blocks of `TITLE value`, separated by empty lines; omits empty values. */
function blocks(input: TableInput, titles: string[]): string {
  const { columns, width = Infinity } = input
  const label = input.header ? Math.max(...titles.map((title) => stringWidth(title))) : 0
  const room = Math.max(MIN_WIDTH, width - (label === 0 ? 0 : label + GAP))
  const rows = input.rows.map((row) =>
    columns.flatMap((column, index) => {
      const value = row[index] ?? ''
      if (value === '') return []
      const shown = input.paintCell(column, isWhole(column) ? value : cut(value, room, input.ellipsis))
      const title = titles[index] ?? ''
      const padding = ' '.repeat(Math.max(0, label - stringWidth(title)) + GAP)
      return [label === 0 ? shown : `${input.paintHeader(title)}${padding}${shown}`]
    }),
  )
  return `${rows.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

/** Whether a truncated value is useless: as an argument of the next command, or as a different number. */
function isWhole(column: Column): boolean {
  return column.kind === 'id' || isNumber(column) || /(^|\.)slug$/.test(column.field)
}

function isNumber(column: Column): boolean {
  return column.kind === 'count' || column.kind === 'bytes'
}

/** Narrows the widest truncatable column until the row fits. @returns undefined if it cannot fit */
function fitWidths(widths: number[], whole: boolean[], room: number | undefined): number[] | undefined {
  if (room === undefined) return widths
  const fitted = [...widths]
  let excess = fitted.reduce((sum, width) => sum + width, 0) + GAP * (fitted.length - 1) - room
  while (excess > 0) {
    const widest = Math.max(0, ...fitted.filter((_, index) => whole[index] !== true))
    if (widest <= MIN_WIDTH) return undefined
    fitted[fitted.findIndex((width, index) => width === widest && whole[index] !== true)] = widest - 1
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
