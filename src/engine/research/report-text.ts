import type { ResearchReport, ResearchStop } from '../../contract/gateway/research.js'
import { type Degradation, degradedFields } from '../base/degraded.js'
import { comparisonTable, type Field } from './digest.js'

/** Content of a report. */
export interface ReportParts extends Pick<ResearchReport, 'sections' | 'sources'> {
  /** fields of a comparison; their values use the numbers of `sources` */
  fields: readonly Field[]
  stoppedBy: ResearchStop | undefined
  degraded: readonly Degradation[]
}

/**
 * Formats a report as markdown: what was not found, the table of a comparison, a section for each question, the
 * sources.
 */
export function reportText(query: string, parts: ReportParts): string {
  const { sections, sources, stoppedBy, degraded, fields } = parts
  const lines = [`# ${oneLine(query)}`, ...lacking(sections)]
  const table = comparisonTable(fields)
  if (table !== undefined) lines.push(table)
  for (const { question, state, answer } of sections) {
    if (sections.length > 1) lines.push(`## ${oneLine(question)}`)
    lines.push(answer)
    if (state === 'conflict') lines.push('The passages contradict each other here.')
    if (state === 'permission-limited') lines.push('Better passages exist that you may not read.')
  }
  if (stoppedBy !== undefined)
    lines.push(`The work ended early: ${stoppedBy.limit} of ${stoppedBy.limitValue} was reached.`)
  const { degradedReasons, degradedClass } = degradedFields(degraded)
  if (degradedClass !== undefined)
    lines.push([`This report is degraded (${degradedClass}):`, ...degradedReasons.map((one) => `- ${one}`)].join('\n'))
  if (sources.length > 0) lines.push('## Sources', sources.map(sourceLine).join('\n'))
  return `${lines.join('\n\n')}\n`
}

/** Open questions precede the answers. */
function lacking(sections: ResearchReport['sections']): string[] {
  const told = (title: string, which: (state: ResearchReport['state']) => boolean): string[] => {
    const open = sections.filter(({ state }) => which(state)).map(({ question }) => `- ${oneLine(question)}`)
    return open.length === 0 ? [] : [[`**${title}**`, ...open].join('\n')]
  }
  return [
    ...told('Not found:', (state) => state === 'not-enough-evidence' || state === 'permission-limited'),
    ...told('Found only in part:', (state) => state === 'partial'),
  ]
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function sourceLine({ number, title, citation }: ResearchReport['sources'][number]): string {
  const page = citation.pageNumber === undefined ? '' : `, p. ${citation.pageNumber}`
  const address = citation.sourceUrl === undefined ? '' : `, <${citation.sourceUrl}>`
  return `[${number}] ${oneLine(title)}${page}${address}`
}
