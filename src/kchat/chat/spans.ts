import { wantsColour } from '../../cli/terminal.js'
import { wrap } from './wrap.js'

/** A piece of a text and how it looks. */
export interface Span {
  readonly text: string
  readonly look: Look
}

/** How text looks; every part of it is a switch of the terminal. */
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

/** Text as the terminal shows it in a look. What it holds must be safe already. */
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

/** The lines of a text of several looks, of at most `width` columns; nothing is left out but spaces where a line ends. */
export function wrapSpans(spans: readonly Span[], width: number): string[] {
  const whole = spans.map(({ text }) => text.replaceAll('\t', '  ')).join('')
  const lines: string[] = []
  let at = 0
  let [span, used] = [0, 0]
  for (const line of wrap(whole, width)) {
    // only spaces and line breaks are passed over
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

/** So many units of the text from a place on, painted. @returns where it ends, too */
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
