import { wantsColour } from '../../cli/terminal.js'
import { wrap } from './wrap.js'

/** A range of text with one style. */
export interface Span {
  readonly text: string
  readonly look: Look
}

/** A text style; each member is a terminal attribute. */
export interface Look {
  readonly isBold?: boolean
  readonly isItalic?: boolean
  readonly isUnderlined?: boolean
  readonly isStruck?: boolean
  readonly isDim?: boolean
  readonly isCode?: boolean
}

export const PLAIN: Look = {}

const COLOURED = wantsColour({ isTTY: process.stdout.isTTY === true, env: process.env })
const CYAN = '36'
const RESET = '\u001b[0m'

/** Text with the escape codes of a style. The text must already be safe for the terminal. */
export function painted(text: string, look: Look): string {
  const codes = [
    look.isBold === true ? '1' : '',
    look.isDim === true ? '2' : '',
    look.isItalic === true ? '3' : '',
    look.isUnderlined === true ? '4' : '',
    look.isStruck === true ? '9' : '',
    look.isCode === true && COLOURED ? CYAN : '',
  ].filter((code) => code !== '')
  return codes.length === 0 || text === '' ? text : `\u001b[${codes.join(';')}m${text}${RESET}`
}

/** Wraps styled text to lines of at most `width` columns. Only spaces at line ends are dropped. */
export function wrapSpans(spans: readonly Span[], width: number): string[] {
  const whole = spans.map(({ text }) => text.replaceAll('\t', '  ')).join('')
  const lines: string[] = []
  let at = 0
  let [span, used] = [0, 0]
  for (const line of wrap(whole, width)) {
    // Only spaces and line breaks are skipped.
    const begins = line === '' ? at : whole.indexOf(line, at)
    ;[span, used] = forward(spans, span, used, begins - at)
    const [shown, ...end] = taken(spans, span, used, line.length)
    ;[span, used] = end
    at = begins + line.length
    lines.push(shown)
  }
  return lines
}

function lengthOf(span: Span | undefined): number {
  return span === undefined ? 0 : span.text.replaceAll('\t', '  ').length
}

function forward(spans: readonly Span[], span: number, used: number, by: number): [number, number] {
  const [, ...end] = taken(spans, span, used, by)
  return end
}

/**
 * Takes `count` UTF-16 units of styled text from a position. @returns the text with escape codes, and the end position
 */
function taken(spans: readonly Span[], from: number, usedBefore: number, count: number): [string, number, number] {
  let [span, used, left] = [from, usedBefore, count]
  let shown = ''
  while (left > 0 && span < spans.length) {
    const current = spans[span]
    const size = Math.min(left, lengthOf(current) - used)
    if (current !== undefined)
      shown += painted(current.text.replaceAll('\t', '  ').slice(used, used + size), current.look)
    left -= size
    used += size
    if (used >= lengthOf(current)) [span, used] = [span + 1, 0]
  }
  return [shown, span, used]
}
