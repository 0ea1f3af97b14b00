import stringWidth from 'string-width'
import { hasUnicode } from '../../cli/terminal.js'
import { painted, type Span, wrapSpans } from './spans.js'

const GAP = 2
/** minimum width of a column; a narrower one breaks most words */
const NARROWEST = 6
const RULE = hasUnicode(process.env) ? '─' : '-'

type Cell = readonly Span[]

/**
 * Renders a table in columns that fit; otherwise each row as lines of `title: cell`.
 *
 * @param rows the first row has the titles
 */
export function tableLines(rows: readonly (readonly Cell[])[], alignments: readonly string[], width: number): string[] {
  const [titles = [], ...body] = rows
  const natural = titles.map((_, column) => Math.max(1, ...rows.map((row) => widthOf(row[column] ?? []))))
  const widths = fitted(natural, width - GAP * (titles.length - 1))
  if (widths === undefined) return records(titles, body, width)
  const rule = painted(widths.map((size) => RULE.repeat(size)).join(' '.repeat(GAP)), { isDim: true })
  const drawn = (row: readonly Cell[]) => rowLines(row, widths, alignments)
  return [...drawn(titles), rule, ...body.flatMap(drawn)]
}

function widthOf(cell: Cell): number {
  return stringWidth(cell.map(({ text }) => text).join(''))
}

/** Narrows the widest columns until all fit. @returns undefined if columns would be too narrow */
function fitted(natural: readonly number[], room: number): number[] | undefined {
  const total = natural.reduce((sum, size) => sum + size, 0)
  if (total <= room) return [...natural]
  if (natural.length * NARROWEST > room) return undefined
  // Finds the largest maximum width with which all columns fit.
  let [low, high] = [NARROWEST, Math.max(...natural)]
  while (low < high) {
    const most = Math.ceil((low + high) / 2)
    if (natural.reduce((sum, size) => sum + Math.min(size, most), 0) <= room) low = most
    else high = most - 1
  }
  return natural.map((size) => Math.min(size, low))
}

function rowLines(row: readonly Cell[], widths: readonly number[], alignments: readonly string[]): string[] {
  const cells = widths.map((width, column) => wrapSpans(row[column] ?? [], width))
  const height = Math.max(1, ...cells.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) =>
    cells
      .map((lines, column) => {
        const text = lines[line] ?? ''
        const space = ' '.repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(text)))
        return alignments[column] === 'right' ? space + text : text + space
      })
      .join(' '.repeat(GAP))
      .trimEnd(),
  )
}

function records(titles: readonly Cell[], body: readonly (readonly Cell[])[], width: number): string[] {
  const lines = body.flatMap((row) => [
    ...row.flatMap((cell, column) => {
      const title = titles[column] ?? []
      return wrapSpans([...title, { text: ': ', look: { isBold: true } }, ...cell], width)
    }),
    '',
  ])
  return lines.slice(0, -1)
}
