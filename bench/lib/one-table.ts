import { barText, type Figure, format, holds, spreadText, tableText } from './report.js'

/** What a part of `npm run bench` found, or why it found nothing. */
export type Part = { name: string; figures: Figure[] } | { name: string; failure: string }

/**
 * One table of all parts: what has a bar or something to be read beside, held or missed.
 *
 * @param counts whether the bars do: at small sizes they say nothing
 */
export function oneTable(parts: readonly Part[], counts: boolean): string {
  const rows = parts.flatMap((part) =>
    'failure' in part
      ? [[part.name, part.failure, '', '', 'FAILED', '']]
      : part.figures.filter(isShown).map((figure) => row(part.name, figure, counts)),
  )
  return tableText(['part', 'what', 'figure', 'bar', '', 'relative to, or how'], rows)
}

function isShown({ bar, beside }: Figure): boolean {
  return bar !== undefined || beside !== undefined
}

function row(part: string, figure: Figure, counts: boolean): string[] {
  const spread = spreadText(figure)
  const verdict = figure.bar === undefined ? '' : !counts ? 'not counted' : holds(figure) ? 'held' : 'MISSED'
  const value = spread === undefined ? format(figure) : `${format(figure)} [${spread}]`
  return [part, figure.name, value, barText(figure).trimEnd(), verdict, figure.beside ?? figure.note ?? '']
}

/** How many bars there are, and how many were missed; a part that failed counts as one. */
export function countBars(parts: readonly Part[]): { bars: number; missed: number } {
  const figures = parts.flatMap((part) => ('failure' in part ? [undefined] : part.figures.filter(({ bar }) => bar)))
  return { bars: figures.length, missed: figures.filter((figure) => figure === undefined || !holds(figure)).length }
}
