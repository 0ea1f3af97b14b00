import { hasUnicode, tty, ttyLine } from '../../cli/terminal.js'
import { type Entry, type Step, usageLine } from './entries.js'
import { markdownLines } from './markdown.js'
import { wrap } from './wrap.js'

/** One line of the view, already fitted to its width. */
export interface Line {
  readonly text: string
  readonly style: 'question' | 'answer' | 'dim' | 'error'
}

const UNICODE = hasUnicode(process.env)
const PROMPT = UNICODE ? '› ' : '> '
const RULE = UNICODE ? '─' : '-'
const FOLDED = UNICODE ? '▸' : '>'
const BLANK: Line = { text: '', style: 'answer' }

/** The lines of an entry and an empty line after them; empty for an answer without text. */
export function linesOf(entry: Entry, width: number): Line[] {
  const { text, kind } = entry
  switch (kind) {
    case 'question':
      return [...indented(text, PROMPT, 'question', width), BLANK]
    case 'note':
      return [...indented(text, '', 'dim', width), BLANK]
    case 'error':
      return [...indented(text, '! ', 'error', width), BLANK]
    case 'rule':
      return [{ text: `${RULE.repeat(3)} ${ttyLine(text)} ${RULE.repeat(3)}`.slice(0, width), style: 'dim' }, BLANK]
    case 'answer': {
      const said = text === '' ? [] : answerLines(tty(text).trimEnd(), width)
      const foot = footOf(entry, width)
      const lines = [...headOf(entry), ...said, ...(said.length > 0 && foot.length > 0 ? [BLANK] : []), ...foot]
      return lines.length === 0 ? [] : [...lines, BLANK]
    }
    default:
      return kind satisfies never
  }
}

function indented(text: string, head: string, style: Line['style'], width: number): Line[] {
  return wrap(tty(text).trimEnd(), width - head.length).map((line, index) => ({
    text: (index === 0 ? head : ' '.repeat(head.length)) + line,
    style,
  }))
}

/** @param text safe for the terminal */
export function answerLines(text: string, width: number): Line[] {
  return markdownLines(text, width).map((line): Line => ({ text: line, style: 'answer' }))
}

/** The lines above an answer. */
export function headOf(entry: Entry): Line[] {
  return entry.thought === undefined ? [] : [{ text: foldedThought(entry), style: 'dim' }]
}

/** The lines below an answer: steps, sources and usage. */
export function footOf({ isStopped, steps, sources, usage }: Entry, width: number): Line[] {
  const dim = (text: string) => wrap(text, width).map((line): Line => ({ text: line, style: 'dim' }))
  return [
    ...(isStopped === true ? dim('(stopped)') : []),
    ...(steps === undefined ? [] : dim(foldedSteps(steps))),
    ...(sources ?? []).flatMap(({ position, name, address }) =>
      dim(`  [${position}] ${tty(name)}${address === undefined ? '' : ` ${tty(address)}`}`),
    ),
    ...(usage === undefined ? [] : dim(ttyLine(usageLine(usage)))),
  ]
}

function foldedThought({ thought = '', text, isGrowing }: Entry): string {
  const words = thought.match(/\S+/g)?.length ?? 0
  const said = `${words} word${words === 1 ? '' : 's'}`
  return isGrowing === true && text === ''
    ? `(thinking: ${said} so far)`
    : `(thought first: ${said}, /thoughts shows them)`
}

/** `▸ 3 steps: search, read, /steps shows them` */
export function foldedSteps(steps: readonly Step[]): string {
  const tools = [...new Set(steps.flatMap(({ tool }) => tool.split(';')).filter((tool) => tool !== ''))]
  const named = tools.length === 0 ? '' : `: ${tools.map(ttyLine).join(', ')}`
  return `${FOLDED} ${steps.length} step${steps.length === 1 ? '' : 's'}${named} (/steps shows them)`
}
