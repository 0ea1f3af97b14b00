import stringWidth from 'string-width'
import type { Colour } from '../terminal.js'

/** Lays out lines of a fixed width. */

export interface TopLine {
  text: string
  look?: Colour | undefined
}

export interface Segment {
  text: string
  look?: Colour | undefined
}

/** A column of a table. */
export interface Cell {
  title: string
  isRight?: boolean
  /** Whether the column takes the remaining width. */
  grows?: boolean
  /** Priority; if columns do not fit, those with the lowest are hidden first. */
  needed: number
}

const GAP = 2
const ELLIPSIS = '…'
/** Minimum width of a growing column. */
const LEAST = 12
const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Truncates text to a number of terminal columns. */
export function cut(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text
  let kept = ''
  let width = 0
  for (const { segment } of characters.segment(text)) {
    width += stringWidth(segment)
    if (width > columns - 1) break
    kept += segment
  }
  return columns < 1 ? '' : kept + ELLIPSIS
}

/** Joins segments to lines, starting a new line if one does not fit. */
export function flow(segments: readonly Segment[], columns: number): TopLine[] {
  const lines: TopLine[] = []
  let open: TopLine | undefined
  for (const { text, look } of segments) {
    const joined: string | undefined = open === undefined ? undefined : `${open.text}${' '.repeat(GAP)}${text}`
    if (open !== undefined && joined !== undefined && stringWidth(joined) <= columns) open.text = joined
    else {
      open = { text: cut(text, columns), look }
      lines.push(open)
    }
  }
  return lines
}

interface Table {
  title: string
  heads: readonly Cell[]
  cells: readonly (readonly string[])[]
  looks: readonly (Colour | undefined)[]
  /** Index of a row that must be visible. */
  at?: number
  columns: number
  /** Number of lines for the table; undefined for no limit. */
  rows: number | undefined
}

/**
 * Renders a table with its title and headings; hides columns that do not fit, and reports the number of hidden rows.
 */
export function tableLines({ title, heads, cells, looks, at = 0, columns, rows }: Table): TopLine[] {
  const room = rows === undefined ? cells.length : rows - 2
  if (rows !== undefined && rows <= 0) return []
  const first = Math.max(0, Math.min(at - Math.floor(room / 2), cells.length - room))
  const shown = cells.slice(first, first + Math.max(0, room))
  const widths = widthsOf(heads, shown, columns)
  const hidden = cells.length - shown.length
  const more = hidden === 0 ? '' : `  ${shown.length} of ${cells.length}`
  const line = (texts: readonly string[]) => joined(texts, heads, widths)
  const all: TopLine[] = [
    { text: cut(`${title}${more}`, columns), look: 'bold' },
    { text: line(heads.map((head) => head.title)), look: 'dim' },
    ...shown.map((texts, row) => ({ text: line(texts), look: looks[first + row] })),
  ]
  return rows === undefined ? all : all.slice(0, rows)
}

/** The width of each column; 0 for a hidden column. */
function widthsOf(heads: readonly Cell[], cells: readonly (readonly string[])[], columns: number): number[] {
  const natural = heads.map((head, at) =>
    Math.max(stringWidth(head.title), ...cells.map((texts) => stringWidth(texts[at] ?? ''))),
  )
  const kept = new Set(heads.keys())
  for (;;) {
    const fixed = [...kept].filter((at) => heads[at]?.grows !== true)
    const used = fixed.reduce((sum, at) => sum + (natural[at] ?? 0) + GAP, 0)
    const left = columns - used
    const least = [...kept].sort((a, b) => (heads[a]?.needed ?? 0) - (heads[b]?.needed ?? 0))[0]
    if (left >= LEAST || kept.size <= 1 || least === undefined)
      return heads.map((head, at) => {
        if (!kept.has(at)) return 0
        return head.grows === true ? Math.max(1, Math.min(natural[at] ?? 0, left)) : (natural[at] ?? 0)
      })
    kept.delete(least)
  }
}

function joined(texts: readonly string[], heads: readonly Cell[], widths: readonly number[]): string {
  return widths
    .flatMap((width, at) => {
      if (width === 0) return []
      const text = cut(texts[at] ?? '', width)
      const space = ' '.repeat(width - stringWidth(text))
      return [heads[at]?.isRight === true ? space + text : text + space]
    })
    .join(' '.repeat(GAP))
    .trimEnd()
}
