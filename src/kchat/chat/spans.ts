import { isColourEnabled } from '../../cli/terminal.js'
import { wrap } from './wrap.js'

/** A range of text with one style. */
export interface StyledSpan {
  readonly text: string
  readonly style: TerminalStyle
}

/** A text style; each member is a terminal attribute. */
export interface TerminalStyle {
  readonly isBold?: boolean
  readonly isItalic?: boolean
  readonly isUnderlined?: boolean
  readonly isStruck?: boolean
  readonly isDim?: boolean
  readonly isCode?: boolean
}

export const PLAIN: TerminalStyle = {}

const COLOURED = isColourEnabled({ isTTY: process.stdout.isTTY === true, env: process.env })
const CYAN = '36'
const RESET = '\u001b[0m'

/** Text with the escape codes of a style. The text must already be safe for the terminal. */
export function applyStyle(text: string, style: TerminalStyle): string {
  const codes = [
    style.isBold === true ? '1' : '',
    style.isDim === true ? '2' : '',
    style.isItalic === true ? '3' : '',
    style.isUnderlined === true ? '4' : '',
    style.isStruck === true ? '9' : '',
    style.isCode === true && COLOURED ? CYAN : '',
  ].filter((code) => code !== '')
  return codes.length === 0 || text === '' ? text : `\u001b[${codes.join(';')}m${text}${RESET}`
}

/** Wraps styled text to lines of at most `width` columns. Only spaces at line ends are dropped. */
export function wrapSpans(spans: readonly StyledSpan[], width: number): string[] {
  const text = spans.map(({ text }) => text.replaceAll('\t', '  ')).join('')
  const lines: string[] = []
  let offset = 0
  let [span, used] = [0, 0]
  for (const line of wrap(text, width)) {
    // Only spaces and line breaks are skipped.
    const lineStart = line === '' ? offset : text.indexOf(line, offset)
    ;[span, used] = skip(spans, span, used, lineStart - offset)
    const [styledText, ...end] = takeStyled(spans, span, used, line.length)
    ;[span, used] = end
    offset = lineStart + line.length
    lines.push(styledText)
  }
  return lines
}

function spanLength(span: StyledSpan | undefined): number {
  return span === undefined ? 0 : span.text.replaceAll('\t', '  ').length
}

function skip(spans: readonly StyledSpan[], span: number, used: number, count: number): [number, number] {
  const [, ...end] = takeStyled(spans, span, used, count)
  return end
}

/**
 * Takes `count` UTF-16 units of styled text from a position. @returns the text with escape codes, and the end position
 */
function takeStyled(
  spans: readonly StyledSpan[],
  from: number,
  usedBefore: number,
  count: number,
): [string, number, number] {
  let [span, used, remaining] = [from, usedBefore, count]
  let styledText = ''
  while (remaining > 0 && span < spans.length) {
    const current = spans[span]
    const size = Math.min(remaining, spanLength(current) - used)
    if (current !== undefined)
      styledText += applyStyle(current.text.replaceAll('\t', '  ').slice(used, used + size), current.style)
    remaining -= size
    used += size
    if (used >= spanLength(current)) [span, used] = [span + 1, 0]
  }
  return [styledText, span, used]
}
