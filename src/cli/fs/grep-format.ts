import type { Colour } from '../terminal.js'
import type { GrepLine } from './grep-search.js'

export interface GrepStyle {
  /** Whether the path is printed once above its lines. */
  heading: boolean
  withPath: boolean
  withLine: boolean
  withColumn: boolean
  /** Whether each match is printed alone. */
  onlyMatches: boolean
  paint: (colour: Colour, text: string) => string
  /** Escapes text of documents for the output. */
  escapeText: (text: string) => string
}

/** Formats lines as `rg` does: `path:line:column:text`, lines around them with `-`, and `--` between groups. */
export async function* formatGrepLines(
  lines: AsyncIterable<GrepLine | 'gap'>,
  style: GrepStyle,
): AsyncGenerator<string> {
  let path: string | undefined
  let isGapDue = false
  for await (const line of lines) {
    if (line === 'gap') {
      isGapDue = true
      continue
    }
    const isNewPath = line.path !== path
    if (isGapDue && !style.onlyMatches && !(isNewPath && style.heading)) yield '--'
    isGapDue = false
    if (isNewPath && style.heading) {
      if (path !== undefined) yield ''
      yield style.paint('magenta', style.escapeText(line.path))
    }
    path = line.path
    yield* style.onlyMatches
      ? formatMatches(line, style)
      : [formatPrefix(line, line.column, style) + formatText(line, style)]
  }
}

function* formatMatches(line: GrepLine, style: GrepStyle): Generator<string> {
  for (const { start, end } of line.spans) {
    const column = line.column + start - (line.spans[0]?.start ?? 0)
    yield formatPrefix(line, column, style) + style.paint('red', style.escapeText(line.text.slice(start, end)))
  }
}

function formatPrefix({ path, line, isMatch }: GrepLine, column: number, style: GrepStyle): string {
  const separator = isMatch ? ':' : '-'
  const parts = [
    ...(style.withPath && !style.heading ? [style.paint('magenta', style.escapeText(path))] : []),
    ...(style.withLine ? [style.paint('green', String(line))] : []),
    ...(style.withColumn && isMatch ? [String(column)] : []),
  ]
  return parts.map((part) => part + separator).join('')
}

function formatText({ text, spans }: GrepLine, { paint, escapeText }: GrepStyle): string {
  let shown = ''
  let offset = 0
  for (const { start, end } of spans) {
    shown += escapeText(text.slice(offset, start)) + paint('red', escapeText(text.slice(start, end)))
    offset = end
  }
  return shown + escapeText(text.slice(offset))
}
