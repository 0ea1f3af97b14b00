import type { EvidenceReference, ReplayedQuery } from '../contract/gateway/snapshots.js'
import type { OutputColumn } from './columns.js'

export const SNAPSHOT_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'workspace' },
  { field: 'name' },
  { field: 'fileCount', title: 'FILES', kind: 'count' },
  { field: 'totalBytes', title: 'SIZE', kind: 'bytes' },
  { field: 'queryCount', title: 'QUERIES', kind: 'count' },
  { field: 'createdAt', title: 'MADE', kind: 'time' },
]
export const SNAPSHOT_FIELDS = [
  'id',
  'knowledgeSpaceId',
  'workspace',
  'name',
  'sessionId',
  'createdBy',
  'createdAt',
  'publicationId',
  'fileCount',
  'totalBytes',
  'queryCount',
]

/** Formats a passage as one line: file, sections, score. */
export function formatEvidenceReference(
  { nodeId, filename, sectionPath, score }: EvidenceReference,
  arrow: string,
): string {
  const location = filename === undefined ? `passage ${nodeId}` : [filename, ...(sectionPath ?? [])].join(` ${arrow} `)
  return `${location}  ${score.toFixed(2)}`
}

/** Formats the changes of a replayed query as lines. */
export function* formatReplay(query: ReplayedQuery, arrow: string): Generator<string> {
  const { recorded, now } = query.evidenceState
  const change = now === undefined || now === recorded ? recorded : `${recorded}, now ${now}`
  yield `${query.query.replace(/\s+/g, ' ').trim()}  (${query.mode}, ${change})`
  if (query.error !== undefined) yield `  ! ${query.error}`
  for (const item of query.added) yield `  + ${formatEvidenceReference(item, arrow)}`
  for (const item of query.lost) yield `  - ${formatEvidenceReference(item, arrow)}  ${item.reason}`
  for (const item of query.kept) yield `  = ${formatEvidenceReference(item, arrow)}`
}
