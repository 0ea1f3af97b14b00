import type { CommunityReport } from '../../../contract/gateway/communities.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Read } from '../../store/program.js'
import {
  findReport,
  listReportPassages,
  MAX_EXTRACTED_SENTENCES,
  parseReportEvidence,
  parseWrittenReport,
} from '../../store/rows/views/reports.js'
import type { ViewRow } from '../../store/rows/views/views.js'
import type { GraphView } from '../graph/read.js'

type ReportCitation = CommunityReport['statements'][number]['citations'][number]

/**
 * The report of a community as one reader sees it: statements whose passages the reader may read and that the current
 * revision shows. A model's report is shown only if all of its evidence is visible, since any of it may have been used.
 */
export function* loadCommunityReport(view: GraphView, row: ViewRow): Read<CommunityReport> {
  const report = yield* findReport(view.space.key, row.key)
  const evidence = report === undefined ? [] : parseReportEvidence(report)
  const shown = yield* loadCitations(
    view,
    evidence.map(({ node }) => node),
  )
  const written = report === undefined ? undefined : parseWrittenReport(report)
  if (written !== undefined && evidence.every(({ node }) => shown.has(node)))
    return {
      title: written.title === '' ? row.name : written.title,
      writtenBy: 'model',
      statements: written.statements.map(({ text, from }) => ({
        text,
        citations: from.flatMap((index) => shown.get(evidence[index]?.node ?? -1) ?? []),
      })),
    }
  const statements = evidence.flatMap(({ text, node }) => {
    const citation = shown.get(node)
    return citation === undefined ? [] : [{ text, citations: [citation] }]
  })
  return { title: row.name, writtenBy: 'rules', statements: statements.slice(0, MAX_EXTRACTED_SENTENCES) }
}

/** Citations of the passages that the reader sees. */
function* loadCitations(view: GraphView, nodes: readonly number[]): Read<Map<number, ReportCitation>> {
  const rows = yield* listReportPassages(view, [...new Set(nodes)])
  return new Map(
    rows.map(({ key, id, document, filename, title, page }) => [
      key,
      { nodeId: id, documentId: document, filename, title, ...omitUndefined({ pageNumber: page ?? undefined }) },
    ]),
  )
}

/** Renders a report as markdown: its statements with numbers, and the passages that they come from. */
export function renderReport({ title, statements }: CommunityReport): string {
  const sources = new Map<string, { number: number; citation: ReportCitation }>()
  const lines = statements.map(({ text, citations }) => {
    const marks = citations.map((citation) => {
      const known = sources.get(citation.nodeId) ?? { number: sources.size + 1, citation }
      sources.set(citation.nodeId, known)
      return `[${known.number}]`
    })
    return `${text} ${marks.join('')}`
  })
  const body = lines.length === 0 ? ['No sentence names two of its members.'] : lines
  const from = [...sources.values()].map(({ number, citation: { filename, nodeId, pageNumber } }) => {
    const page = pageNumber === undefined ? '' : `, p. ${pageNumber}`
    return `[${number}] ${filename}${page} (passage ${nodeId})`
  })
  return `${[`# ${title}`, ...body, ...(from.length === 0 ? [] : ['## Sources', from.join('\n')])].join('\n\n')}\n`
}
