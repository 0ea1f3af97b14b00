import type { ReachedResearchLimit, ResearchReport } from '../../../contract/gateway/research.js'
import { type Degradation, toDegradedFields } from '../../base/degraded.js'
import { type ComparisonField, formatComparisonTable } from './digest.js'

/** Content of a report. */
export interface ReportContent extends Pick<ResearchReport, 'sections' | 'sources'> {
  /** fields of a comparison; their values use the numbers of `sources` */
  fields: readonly ComparisonField[]
  stoppedBy: ReachedResearchLimit | undefined
  degraded: readonly Degradation[]
}

/**
 * Formats a report as markdown: what was not found, the table of a comparison, a section for each question, the
 * sources.
 */
export function formatReport(query: string, parts: ReportContent): string {
  const { sections, sources, stoppedBy, degraded, fields } = parts
  const lines = [`# ${toOneLine(query)}`, ...formatOpenQuestions(sections)]
  const table = formatComparisonTable(fields)
  if (table !== undefined) lines.push(table)
  for (const { question, state, answer } of sections) {
    if (sections.length > 1) lines.push(`## ${toOneLine(question)}`)
    lines.push(answer)
    if (state === 'conflict') lines.push('The passages contradict each other here.')
    if (state === 'permission-limited') lines.push('Better passages exist that you may not read.')
  }
  if (stoppedBy !== undefined)
    lines.push(`The work ended early: ${stoppedBy.limit} of ${stoppedBy.limitValue} was reached.`)
  const { degradedReasons, degradedClass } = toDegradedFields(degraded)
  if (degradedClass !== undefined)
    lines.push([`This report is degraded (${degradedClass}):`, ...degradedReasons.map((one) => `- ${one}`)].join('\n'))
  if (sources.length > 0) lines.push('## Sources', sources.map(formatSource).join('\n'))
  return `${lines.join('\n\n')}\n`
}

/** Open questions precede the answers. */
function formatOpenQuestions(sections: ResearchReport['sections']): string[] {
  const formatList = (title: string, matches: (state: ResearchReport['state']) => boolean): string[] => {
    const open = sections.filter(({ state }) => matches(state)).map(({ question }) => `- ${toOneLine(question)}`)
    return open.length === 0 ? [] : [[`**${title}**`, ...open].join('\n')]
  }
  return [
    ...formatList('Not found:', (state) => state === 'not-enough-evidence' || state === 'permission-limited'),
    ...formatList('Found only in part:', (state) => state === 'partial'),
  ]
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function formatSource({ number, title, citation }: ResearchReport['sources'][number]): string {
  const page = citation.pageNumber === undefined ? '' : `, p. ${citation.pageNumber}`
  const address = citation.sourceUrl === undefined ? '' : `, <${citation.sourceUrl}>`
  return `[${number}] ${toOneLine(title)}${page}${address}`
}
