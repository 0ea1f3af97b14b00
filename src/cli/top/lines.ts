import stringWidth from 'string-width'
import type { Colour } from '../terminal.js'

/** Lays out lines of a fixed width. */

export interface TopLine {
  text: string
  look?: Colour | undefined
}

export interface TopSegment {
  text: string
  look?: Colour | undefined
}

/** A column of a table. */
export interface TopColumn {
  title: string
  isRight?: boolean
  /** Whether the column takes the remaining width. */
  grows?: boolean
  /** Priority; if columns do not fit, those with the lowest are hidden first. */
  needed: number
}

const COLUMN_GAP = 2
const ELLIPSIS = '…'
/** Minimum width of a growing column. */
const MIN_GROWING_WIDTH = 12
const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Truncates text to a number of terminal columns. */
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
export function flowSegments(segments: readonly TopSegment[], columns: number): TopLine[] {
  const lines: TopLine[] = []
  let current: TopLine | undefined
  for (const { text, look } of segments) {
    const joinCells: string | undefined =
      current === undefined ? undefined : `${current.text}${' '.repeat(COLUMN_GAP)}${text}`
    if (current !== undefined && joinCells !== undefined && stringWidth(joinCells) <= columns) current.text = joinCells
    else {
      current = { text: truncate(text, columns), look }
      lines.push(current)
    }
  }
  return lines
}

interface TopTable {
  title: string
  heads: readonly TopColumn[]
  cells: readonly (readonly string[])[]
  looks: readonly (Colour | undefined)[]
  /** Index of a row that must be visible. */
  visibleRow?: number
  columns: number
  /** Number of lines for the table; undefined for no limit. */
  rows: number | undefined
}

/**
 * Renders a table with its title and headings; hides columns that do not fit, and reports the number of hidden rows.
 */
export function renderTopTable({ title, heads, cells, looks, visibleRow = 0, columns, rows }: TopTable): TopLine[] {
  const maxRows = rows === undefined ? cells.length : rows - 2
  if (rows !== undefined && rows <= 0) return []
  const first = Math.max(0, Math.min(visibleRow - Math.floor(maxRows / 2), cells.length - maxRows))
  const shown = cells.slice(first, first + Math.max(0, maxRows))
  const widths = computeWidths(heads, shown, columns)
  const hidden = cells.length - shown.length
  const more = hidden === 0 ? '' : `  ${shown.length} of ${cells.length}`
  const line = (texts: readonly string[]) => joinCells(texts, heads, widths)
  const all: TopLine[] = [
    { text: truncate(`${title}${more}`, columns), look: 'bold' },
    { text: line(heads.map((head) => head.title)), look: 'dim' },
    ...shown.map((texts, row) => ({ text: line(texts), look: looks[first + row] })),
  ]
  return rows === undefined ? all : all.slice(0, rows)
}

/** The width of each column; 0 for a hidden column. */
function computeWidths(heads: readonly TopColumn[], cells: readonly (readonly string[])[], columns: number): number[] {
  const natural = heads.map((head, index) =>
    Math.max(stringWidth(head.title), ...cells.map((texts) => stringWidth(texts[index] ?? ''))),
  )
  const visible = new Set(heads.keys())
  for (;;) {
    const fixed = [...visible].filter((index) => heads[index]?.grows !== true)
    const used = fixed.reduce((sum, index) => sum + (natural[index] ?? 0) + COLUMN_GAP, 0)
    const remaining = columns - used
    const leastNeeded = [...visible].sort((a, b) => (heads[a]?.needed ?? 0) - (heads[b]?.needed ?? 0))[0]
    if (remaining >= MIN_GROWING_WIDTH || visible.size <= 1 || leastNeeded === undefined)
      return heads.map((head, index) => {
        if (!visible.has(index)) return 0
        return head.grows === true ? Math.max(1, Math.min(natural[index] ?? 0, remaining)) : (natural[index] ?? 0)
      })
    visible.delete(leastNeeded)
  }
}

function joinCells(texts: readonly string[], heads: readonly TopColumn[], widths: readonly number[]): string {
  return widths
    .flatMap((width, index) => {
      if (width === 0) return []
      const text = truncate(texts[index] ?? '', width)
      const space = ' '.repeat(width - stringWidth(text))
      return [heads[index]?.isRight === true ? space + text : text + space]
    })
    .join(' '.repeat(COLUMN_GAP))
    .trimEnd()
}
