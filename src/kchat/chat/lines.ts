import { hasUnicode, tty } from '../../cli/terminal.js'
import type { Entry } from './conversation.js'
import { wrap } from './wrap.js'

/** One line of the view, already as wide as it may be. */
export interface Line {
  readonly text: string
  readonly style: 'question' | 'answer' | 'dim' | 'error'
}

const PROMPT = hasUnicode(process.env) ? '› ' : '> '
/** An entry never changes, so its lines are made once for a width. */
const made = new WeakMap<Entry, { width: number; lines: Line[] }>()

/** The lines of an entry, with an empty one after them. */
export function linesOf(entry: Entry, width: number): Line[] {
  const known = made.get(entry)
  if (known?.width === width) return known.lines
  const lines = build(entry, width)
  made.set(entry, { width, lines })
  return lines
}

function build(entry: Entry, width: number): Line[] {
  const text = tty(entry.text).trimEnd()
  const indented = (head: string, style: Line['style']): Line[] =>
    wrap(text, width - head.length).map((line, index) => ({
      text: (index === 0 ? head : ' '.repeat(head.length)) + line,
      style,
    }))
  const blank: Line = { text: '', style: 'answer' }
  switch (entry.kind) {
    case 'question':
      return [...indented(PROMPT, 'question'), blank]
    case 'note':
      return [...indented('', 'dim'), blank]
    case 'error':
      return [...indented('! ', 'error'), blank]
    case 'answer': {
      const sources = (entry.sources ?? []).flatMap(({ position, name }) =>
        wrap(`  [${position}] ${tty(name)}`, width).map((line): Line => ({ text: line, style: 'dim' })),
      )
      const stopped: Line[] = entry.isStopped === true ? [{ text: '(stopped)', style: 'dim' }] : []
      return [...indented('', 'answer'), ...stopped, ...sources, blank]
    }
    default:
      return entry.kind satisfies never
  }
}
