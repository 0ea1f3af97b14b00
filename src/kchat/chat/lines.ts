import { hasUnicode, tty } from '../../cli/terminal.js'
import type { Entry } from './conversation.js'
import { type WrappedText, wrap, wrapMore } from './wrap.js'

/** One line of the view, already as wide as it may be. */
export interface Line {
  readonly text: string
  readonly style: 'question' | 'answer' | 'dim' | 'error'
}

const PROMPT = hasUnicode(process.env) ? '› ' : '> '
/** An entry never changes, so its lines are made once for a width. */
const made = new WeakMap<Entry, { width: number; lines: Line[] }>()
/** The answer that is being written: what of it was wrapped stays so. */
let growing: { text: string; wrapped: WrappedText } | undefined

/** The lines of an entry, with an empty one after them. */
export function linesOf(entry: Entry, width: number): Line[] {
  const known = made.get(entry)
  if (known?.width === width) return known.lines
  const lines = build(entry, width)
  made.set(entry, { width, lines })
  return lines
}

function build(entry: Entry, width: number): Line[] {
  const indented = (head: string, style: Line['style']): Line[] =>
    wrap(tty(entry.text).trimEnd(), width - head.length).map((line, index) => ({
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
      const thought: Line[] = entry.thought === undefined ? [] : [{ text: foldedThought(entry), style: 'dim' }]
      const said = entry.isGrowing === true ? grown(entry.text, width) : indented('', 'answer')
      const sources = (entry.sources ?? []).flatMap(({ position, name, address }) =>
        wrap(`  [${position}] ${tty(name)}${address === undefined ? '' : ` ${tty(address)}`}`, width).map(
          (line): Line => ({ text: line, style: 'dim' }),
        ),
      )
      const stopped: Line[] = entry.isStopped === true ? [{ text: '(stopped)', style: 'dim' }] : []
      const isEmpty = entry.text === '' && thought.length > 0
      return [...thought, ...(isEmpty ? [] : said), ...stopped, ...sources, blank]
    }
    default:
      return entry.kind satisfies never
  }
}

function foldedThought({ thought = '', text, isGrowing }: Entry): string {
  const words = thought.match(/\S+/g)?.length ?? 0
  const said = `${words} word${words === 1 ? '' : 's'}`
  return isGrowing === true && text === ''
    ? `(thinking: ${said} so far)`
    : `(thought first: ${said}, /thoughts shows them)`
}

/** The lines of a text that goes on where the last one ended, as a rule. Their last one may still change. */
function grown(text: string, width: number): Line[] {
  // what follows decides what it is
  const whole = text.endsWith('\r') ? text.slice(0, -1) : text
  const isMore = growing !== undefined && growing.wrapped.width === width && whole.startsWith(growing.text)
  const before = isMore ? growing : undefined
  const wrapped = wrapMore(before?.wrapped, tty(whole.slice(before?.text.length ?? 0)), width)
  growing = { text: whole, wrapped }
  const last = wrapped.lines.findLastIndex((line) => line !== '')
  return wrapped.lines.slice(0, last + 1).map((line): Line => ({ text: line, style: 'answer' }))
}
