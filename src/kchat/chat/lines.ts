import { hasUnicode, tty, ttyLine } from '../../cli/terminal.js'
import { pluralize } from '../../lib/text/pluralize.js'
import { formatSource } from '../sources.js'
import { type ChatEntry, type ChatStep, formatUsage } from './entries.js'
import { renderMarkdown } from './markdown.js'
import { wrap } from './wrap.js'

/** One line of the view, already fitted to its width. */
export interface ViewLine {
  readonly text: string
  readonly style: 'question' | 'answer' | 'dim' | 'error'
}

const UNICODE = hasUnicode(process.env)
const PROMPT = UNICODE ? '› ' : '> '
const RULE = UNICODE ? '─' : '-'
const FOLDED_MARK = UNICODE ? '▸' : '>'
const BLANK: ViewLine = { text: '', style: 'answer' }

/** Renders an entry and an empty line after it; no lines for an answer without text. */
export function renderEntry(entry: ChatEntry, width: number): ViewLine[] {
  const { text, kind } = entry
  switch (kind) {
    case 'question':
      return [...renderIndented(text, PROMPT, 'question', width), BLANK]
    case 'note':
      return [...renderIndented(text, '', 'dim', width), BLANK]
    case 'error':
      return [...renderIndented(text, '! ', 'error', width), BLANK]
    case 'rule':
      return [{ text: `${RULE.repeat(3)} ${ttyLine(text)} ${RULE.repeat(3)}`.slice(0, width), style: 'dim' }, BLANK]
    case 'answer': {
      const answer = text === '' ? [] : renderAnswer(tty(text).trimEnd(), width)
      const foot = renderFoot(entry, width)
      const lines = [...renderHead(entry), ...answer, ...(answer.length > 0 && foot.length > 0 ? [BLANK] : []), ...foot]
      return lines.length === 0 ? [] : [...lines, BLANK]
    }
    default:
      return kind satisfies never
  }
}

function renderIndented(text: string, prefix: string, style: ViewLine['style'], width: number): ViewLine[] {
  return wrap(tty(text).trimEnd(), width - prefix.length).map((line, index) => ({
    text: (index === 0 ? prefix : ' '.repeat(prefix.length)) + line,
    style,
  }))
}

/** Renders the text of an answer as Markdown. @param text safe for the terminal */
export function renderAnswer(text: string, width: number): ViewLine[] {
  return renderMarkdown(text, width).map((line): ViewLine => ({ text: line, style: 'answer' }))
}

/** Renders the lines above an answer. */
export function renderHead(entry: ChatEntry): ViewLine[] {
  return entry.thought === undefined ? [] : [{ text: formatThoughtLine(entry), style: 'dim' }]
}

/** Renders the lines below an answer: steps, sources and usage. */
export function renderFoot({ isStopped, steps, sources, usage }: ChatEntry, width: number): ViewLine[] {
  const dim = (text: string) => wrap(text, width).map((line): ViewLine => ({ text: line, style: 'dim' }))
  return [
    ...(isStopped === true ? dim('(stopped)') : []),
    ...(steps === undefined ? [] : dim(formatSteps(steps))),
    ...(sources ?? []).flatMap((source) => dim(`  ${ttyLine(formatSource(source))}`)),
    ...(usage === undefined ? [] : dim(ttyLine(formatUsage(usage)))),
  ]
}

function formatThoughtLine({ thought = '', text, isGrowing }: ChatEntry): string {
  const count = pluralize(thought.match(/\S+/g)?.length ?? 0, 'word')
  return isGrowing === true && text === ''
    ? `(thinking: ${count} so far)`
    : `(thought first: ${count}, /thoughts shows them)`
}

/** Formats `▸ 3 steps: search, read (/steps shows them)`. */
export function formatSteps(steps: readonly ChatStep[]): string {
  const tools = [...new Set(steps.flatMap(({ tool }) => tool.split(';')).filter((tool) => tool !== ''))]
  const toolNames = tools.length === 0 ? '' : `: ${tools.map(ttyLine).join(', ')}`
  return `${FOLDED_MARK} ${pluralize(steps.length, 'step')}${toolNames} (/steps shows them)`
}
