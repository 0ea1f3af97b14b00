import stringWidth from 'string-width'
import { hasUnicode } from '../../cli/terminal.js'
import { applyStyle, type StyledSpan, wrapSpans } from './spans.js'

const COLUMN_GAP = 2
/** minimum width of a column; a narrower one breaks most words */
const MIN_COLUMN_WIDTH = 6
const RULE = hasUnicode(process.env) ? '─' : '-'

type StyledCell = readonly StyledSpan[]

/**
 * Renders a table in columns that fit; otherwise each row as lines of `title: cell`.
 *
 * @param rows the first row has the titles
 */
export function renderTableLines(
  rows: readonly (readonly StyledCell[])[],
  alignments: readonly string[],
  width: number,
): string[] {
  const [titles = [], ...body] = rows
  const naturalWidths = titles.map((_, column) => Math.max(1, ...rows.map((row) => cellWidth(row[column] ?? []))))
  const widths = fitWidths(naturalWidths, width - COLUMN_GAP * (titles.length - 1))
  if (widths === undefined) return renderRecords(titles, body, width)
  const rule = applyStyle(widths.map((size) => RULE.repeat(size)).join(' '.repeat(COLUMN_GAP)), { isDim: true })
  const renderCells = (row: readonly StyledCell[]) => renderRow(row, widths, alignments)
  return [...renderCells(titles), rule, ...body.flatMap(renderCells)]
}

function cellWidth(cell: StyledCell): number {
  return stringWidth(cell.map(({ text }) => text).join(''))
}

/** Narrows the widest columns until all fit. @returns undefined if columns would be too narrow */
function fitWidths(naturalWidths: readonly number[], availableWidth: number): number[] | undefined {
  const total = naturalWidths.reduce((sum, size) => sum + size, 0)
  if (total <= availableWidth) return [...naturalWidths]
  if (naturalWidths.length * MIN_COLUMN_WIDTH > availableWidth) return undefined
  // Finds the largest maximum width with which all columns fit.
  let [low, high] = [MIN_COLUMN_WIDTH, Math.max(...naturalWidths)]
  while (low < high) {
    const maxWidth = Math.ceil((low + high) / 2)
    if (naturalWidths.reduce((sum, size) => sum + Math.min(size, maxWidth), 0) <= availableWidth) low = maxWidth
    else high = maxWidth - 1
  }
  return naturalWidths.map((size) => Math.min(size, low))
}

function renderRow(row: readonly StyledCell[], widths: readonly number[], alignments: readonly string[]): string[] {
  const cells = widths.map((width, column) => wrapSpans(row[column] ?? [], width))
  const height = Math.max(1, ...cells.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((lines, column) => {
        const text = lines[line] ?? ''
        const space = ' '.repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(text)))
        return alignments[column] === 'right' ? space + text : text + space
      })
      .join(' '.repeat(COLUMN_GAP))
      .trimEnd(),
  )
}

function renderRecords(
  titles: readonly StyledCell[],
  body: readonly (readonly StyledCell[])[],
  width: number,
): string[] {
  const lines = body.flatMap((row) => [
    ...row.flatMap((cell, column) => {
      const title = titles[column] ?? []
      return wrapSpans([...title, { text: ': ', style: { isBold: true } }, ...cell], width)
    }),
    '',
  ])
  return lines.slice(0, -1)
}
