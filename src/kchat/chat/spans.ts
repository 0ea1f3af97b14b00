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

const IS_COLOUR_ENABLED = isColourEnabled({ isTTY: process.stdout.isTTY === true, env: process.env })
const CYAN = '36'
const RESET = '\u001b[0m'

/** Adds the escape codes of a style to a text that is safe for the terminal. */
export function applyStyle(text: string, style: TerminalStyle): string {
  const codes = [
    style.isBold === true ? '1' : '',
    style.isDim === true ? '2' : '',
    style.isItalic === true ? '3' : '',
    style.isUnderlined === true ? '4' : '',
    style.isStruck === true ? '9' : '',
    style.isCode === true && IS_COLOUR_ENABLED ? CYAN : '',
  ].filter((code) => code !== '')
  return codes.length === 0 || text === '' ? text : `\u001b[${codes.join(';')}m${text}${RESET}`
}

/** Wraps styled text to lines of at most `width` columns. Only spaces at line ends are dropped. */
export function wrapSpans(spans: readonly StyledSpan[], width: number): string[] {
  let text = ''
  const located = spans.map((span) => {
    const start = text.length
    const spanText = span.text.replaceAll('\t', '  ')
    text += spanText
    return { start, text: spanText, style: span.style }
  })
  const lines: string[] = []
  let offset = 0
  let spanIndex = 0
  for (const line of wrap(text, width)) {
    // Only spaces and line breaks are skipped.
    const lineStart = line === '' ? offset : text.indexOf(line, offset)
    offset = lineStart + line.length
    // The last span of the previous line may continue in this one.
    if (spanIndex > 0) spanIndex--
    let styledLine = ''
    for (let span = located[spanIndex]; span !== undefined && span.start < offset; span = located[++spanIndex])
      styledLine += applyStyle(span.text.slice(Math.max(0, lineStart - span.start), offset - span.start), span.style)
    lines.push(styledLine)
  }
  return lines
}
