import type { CommunityReport } from '../../contract/gateway/communities.js'
import { defined } from '../../lib/defined.js'
import type { GraphView } from '../graph/read.js'
import { type Read, sql } from '../storage/program.js'
import { evidenceOf, reportOf, TOLD, writtenOf } from './report-store.js'
import type { ViewRow } from './store.js'

type Citation = CommunityReport['statements'][number]['citations'][number]

/**
 * The report of a community as one reader sees it: statements whose passages the reader may read and that a publication
 * still shows. What a model wrote is shown where all of its evidence is, since any of it may have been used.
 */
export function* communityReport(view: GraphView, row: ViewRow): Read<CommunityReport> {
  const report = yield* reportOf(view.space.key, row.key)
  const evidence = report === undefined ? [] : evidenceOf(report)
  const shown = yield* citationsOf(
    view,
    evidence.map(({ node }) => node),
  )
  const written = report === undefined ? undefined : writtenOf(report)
  if (written !== undefined && evidence.every(({ node }) => shown.has(node)))
    return {
      title: written.title === '' ? row.name : written.title,
      writtenBy: 'model',
      statements: written.statements.map(({ text, from }) => ({
        text,
        citations: from.flatMap((place) => shown.get(evidence[place]?.node ?? -1) ?? []),
      })),
    }
  const told = evidence.flatMap(({ text, node }) => {
    const citation = shown.get(node)
    return citation === undefined ? [] : [{ text, citations: [citation] }]
  })
  return { title: row.name, writtenBy: 'rules', statements: told.slice(0, TOLD) }
}

/** Where passages stand, of those that the reader sees. */
function* citationsOf({ space, revision, denied }: GraphView, nodes: readonly number[]): Read<Map<number, Citation>> {
  const rows = yield* sql.all<{
    key: number
    id: string
    document: string
    filename: string
    title: string
    page: number | null
  }>(
    `SELECT n.key, n.id, d.id document, d.filename, v.title, n.page FROM json_each(?) wanted
     CROSS JOIN nodes n ON n.key = wanted.value CROSS JOIN versions v ON v.key = n.version_key
     CROSS JOIN documents d ON d.key = n.doc_key
     WHERE n.space_key = ? AND v.from_revision <= ? AND (v.until_revision IS NULL OR v.until_revision > ?)
       AND d.deleted_at IS NULL AND (d.source_id IS NULL OR d.source_id NOT IN (SELECT value FROM json_each(?)))`,
    [JSON.stringify([...new Set(nodes)]), space.key, revision, revision, JSON.stringify(denied)],
  )
  return new Map(
    rows.map(({ key, id, document, filename, title, page }) => [
      key,
      { nodeId: id, documentId: document, filename, title, ...defined({ pageNumber: page ?? undefined }) },
    ]),
  )
}

/** A report as markdown: its statements with numbers, and the passages that they come from. */
export function reportMarkdown({ title, statements }: CommunityReport): string {
  const sources = new Map<string, { number: number; citation: Citation }>()
  const lines = statements.map(({ text, citations }) => {
    const marks = citations.map((citation) => {
      const known = sources.get(citation.nodeId) ?? { number: sources.size + 1, citation }
      sources.set(citation.nodeId, known)
      return `[${known.number}]`
    })
    return `${text} ${marks.join('')}`
  })
  const told = lines.length === 0 ? ['No sentence names two of its members.'] : lines
  const from = [...sources.values()].map(({ number, citation: { filename, nodeId, pageNumber } }) => {
    const page = pageNumber === undefined ? '' : `, p. ${pageNumber}`
    return `[${number}] ${filename}${page} (passage ${nodeId})`
  })
  return `${[`# ${title}`, ...told, ...(from.length === 0 ? [] : ['## Sources', from.join('\n')])].join('\n\n')}\n`
}
