import { toNonEmptyString } from '../../lib/json/values.js'
import type { ListItem } from '../pages.js'
import { findCitedSources, formatLocation, toSources } from '../sources.js'
import { splitAnswer } from './entries.js'

/** Formats a conversation as Markdown: each question as a quotation, then its answer with sources. */
export function formatMarkdown(application: string, messages: readonly ListItem[]): string {
  const turns = messages.map((message) => {
    const { output } = splitAnswer(toNonEmptyString(message.answer) ?? '')
    const sources = findCitedSources(output, toSources({ metadata: message })).map(
      ({ position, page, address, ...source }) =>
        `- [${position}] ${formatLocation(source, ' › ')}${page === undefined ? '' : `, p. ${page}`}${address === undefined ? '' : ` <${address}>`}`,
    )
    const question = (toNonEmptyString(message.query) ?? '').split('\n').map((line) => `> ${line}`.trimEnd())
    return [...question, '', output.trim(), ...(sources.length === 0 ? [] : ['', ...sources])].join('\n')
  })
  return `${[`# ${application.replace(/\s+/g, ' ').trim()}`, ...turns].join('\n\n')}\n`
}
