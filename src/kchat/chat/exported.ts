import { textOf } from '../../lib/json/values.js'
import type { Item } from '../pages.js'
import { citedBy, sourcesOf } from '../turn.js'
import { partsOfAnswer } from './entries.js'

/** Formats a conversation as Markdown: each question as a quotation, then its answer with sources. */
export function markdownOf(application: string, messages: readonly Item[]): string {
  const turns = messages.map((message) => {
    const { said } = partsOfAnswer(textOf(message.answer) ?? '')
    const sources = citedBy(said, sourcesOf({ metadata: message })).map(
      ({ position, name, address }) => `- [${position}] ${name}${address === undefined ? '' : ` <${address}>`}`,
    )
    const question = (textOf(message.query) ?? '').split('\n').map((line) => `> ${line}`.trimEnd())
    return [...question, '', said.trim(), ...(sources.length === 0 ? [] : ['', ...sources])].join('\n')
  })
  return `${[`# ${application.replace(/\s+/g, ' ').trim()}`, ...turns].join('\n\n')}\n`
}
