import stringWidth from 'string-width'
import type { Colour } from '../terminal.js'

/** A line, or a segment of a line, in one colour. */
export interface TopLine {
  text: string
  colour?: Colour | undefined
}

/** A column of a table. */
export interface TopColumn {
  title: string
  isRightAligned?: boolean
  /** Whether the column takes the remaining width. */
  isGrowing?: boolean
  /** If columns do not fit, those with the lowest priority are hidden first. */
  priority: number
}

const COLUMN_GAP = 2
const ELLIPSIS = '…'
/** Minimum width of a growing column. */
const MIN_GROWING_WIDTH = 12
const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

export function truncate(text: string, maxColumns: number): string {
  if (stringWidth(text) <= maxColumns) return text
  let shown = ''
  let width = 0
  for (const { segment } of characters.segment(text)) {
    width += stringWidth(segment)
    if (width > maxColumns - 1) break
    shown += segment
  }
  return maxColumns < 1 ? '' : shown + ELLIPSIS
}

/** Joins segments to lines, starting a new line if one does not fit. */
export function flowSegments(segments: readonly TopLine[], columns: number): TopLine[] {
  const lines: TopLine[] = []
  let current: TopLine | undefined
  for (const { text, colour } of segments) {
    const joined: string | undefined =
      current === undefined ? undefined : `${current.text}${' '.repeat(COLUMN_GAP)}${text}`
    if (current !== undefined && joined !== undefined && stringWidth(joined) <= columns) current.text = joined
    else {
      current = { text: truncate(text, columns), colour }
      lines.push(current)
    }
  }
  return lines
}

interface TopTable {
  title: string
  columns: readonly TopColumn[]
  /** Cells by row. */
  rows: readonly (readonly string[])[]
  rowColours: readonly (Colour | undefined)[]
  /** Index of a row that must be visible. */
  visibleRow?: number
  /** Terminal columns of the table. */
  width: number
  /** Number of lines for the table; undefined for no limit. */
  maxLines: number | undefined
}

/**
 * Renders a table with its title and headings; hides columns that do not fit, and reports the number of hidden rows.
 */
export function renderTopTable(table: TopTable): TopLine[] {
  const { title, columns, rows, rowColours, visibleRow = 0, width, maxLines } = table
  if (maxLines !== undefined && maxLines <= 0) return []
  const maxRows = maxLines === undefined ? rows.length : maxLines - 2
  const first = Math.max(0, Math.min(visibleRow - Math.floor(maxRows / 2), rows.length - maxRows))
  const shown = rows.slice(first, first + Math.max(0, maxRows))
  const widths = computeWidths(columns, shown, width)
  const counts = rows.length === shown.length ? '' : `  ${shown.length} of ${rows.length}`
  const headings = columns.map((column) => column.title)
  const lines: TopLine[] = [
    { text: truncate(`${title}${counts}`, width), colour: 'bold' },
    { text: joinCells(headings, columns, widths), colour: 'dim' },
    ...shown.map((cells, index) => ({ text: joinCells(cells, columns, widths), colour: rowColours[first + index] })),
  ]
  return maxLines === undefined ? lines : lines.slice(0, maxLines)
}

/** The width of each column; 0 for a hidden column. */
function computeWidths(
  columns: readonly TopColumn[],
  rows: readonly (readonly string[])[],
  maxWidth: number,
): number[] {
  const contentWidths = columns.map(({ title }, index) =>
    Math.max(stringWidth(title), ...rows.map((cells) => stringWidth(cells[index] ?? ''))),
  )
  const visible = new Set(columns.keys())
  for (;;) {
    const fixed = [...visible].filter((index) => columns[index]?.isGrowing !== true)
    const remaining = maxWidth - fixed.reduce((sum, index) => sum + (contentWidths[index] ?? 0) + COLUMN_GAP, 0)
    const [lowest] = [...visible].sort((a, b) => (columns[a]?.priority ?? 0) - (columns[b]?.priority ?? 0))
    if (remaining >= MIN_GROWING_WIDTH || visible.size <= 1 || lowest === undefined)
      return columns.map(({ isGrowing }, index) => {
        if (!visible.has(index)) return 0
        const contentWidth = contentWidths[index] ?? 0
        return isGrowing === true ? Math.max(1, Math.min(contentWidth, remaining)) : contentWidth
      })
    visible.delete(lowest)
  }
}

function joinCells(cells: readonly string[], columns: readonly TopColumn[], widths: readonly number[]): string {
  return widths
    .flatMap((width, index) => {
      if (width === 0) return []
      const text = truncate(cells[index] ?? '', width)
      const space = ' '.repeat(width - stringWidth(text))
      return [columns[index]?.isRightAligned === true ? space + text : text + space]
    })
    .join(' '.repeat(COLUMN_GAP))
    .trimEnd()
}
