import type { KnowledgeSpaceStats, KnowledgeSpaceStatus, ProjectionSummary } from '../contract/gateway/space-status.js'
import { formatCount, pluralize } from '../lib/text/pluralize.js'
import { formatMissingVectors } from './doctor/vectors.js'
import { type OutputStyle, ttyLine } from './terminal.js'
import { formatBytes } from './units.js'

type PictureSummary = NonNullable<KnowledgeSpaceStatus['index']['pictures']>

/** What is shown of a space. */
export interface SpaceReading {
  status: KnowledgeSpaceStatus
  stats: KnowledgeSpaceStats
  /** Number of documents that are being read, at most `maxOpenJobs`. */
  openJobs: number
  maxOpenJobs: number
}

const INDEX_LABELS = { denseVector: 'vectors', fts: 'text', graph: 'graph', metadata: 'metadata' } as const

/** Formats documents, search and problems of a space as lines. @param isAll whether to add internals */
export function formatSpaceStatus(
  reading: SpaceReading,
  options: { isAll: boolean; paint: OutputStyle['paint'] },
): string[] {
  const { status, stats } = reading
  const { summaries, missingVectors, pictures } = status.index
  const problems = listProblems(reading)
  const unread = summaries.graph.building
  return [
    ...formatContent(stats),
    `reading      ${formatReading(reading)}`,
    `search       ${formatSearch(summaries.fts)}`,
    ...(missingVectors === undefined ? [] : [`vectors      ${ttyLine(formatMissingVectors(missingVectors))}`]),
    ...(pictures === undefined ? [] : [`pictures     ${formatPictures(pictures)}`]),
    ...(unread === 0 ? [] : [`graph        ${pluralize(unread, 'document')} not read yet`]),
    ...(problems.length === 0
      ? [`problems     ${options.paint('green', 'none')}`]
      : problems.map((problem) => `problems     ${options.paint('red', ttyLine(problem))}`)),
    ...(options.isAll ? formatInternals(status) : []),
  ]
}

/** Formats the counts of a space as lines. */
export function formatSpaceStats(stats: KnowledgeSpaceStats): string[] {
  const { projections, window } = stats
  const failed = stats.commits.failedRetryable + stats.commits.failedTerminal
  return [
    ...formatContent(stats),
    `passages     ${formatCount(projections.fts.total)}`,
    `failed       ${pluralize(failed, 'change')} in the last ${pluralize(window.minutes, 'minute')}`,
  ]
}

function formatContent({ storage }: KnowledgeSpaceStats): string[] {
  const { documentCount, rawDocumentBytes, workspaceFileCount = 0, workspaceBytes = 0 } = storage
  const documents = `documents    ${formatCount(documentCount)} · ${formatBytes(rawDocumentBytes)}`
  if (workspaceFileCount === 0) return [documents]
  return [documents, `workspaces   ${pluralize(workspaceFileCount, 'file')} · ${formatBytes(workspaceBytes)}`]
}

function formatReading({ openJobs, maxOpenJobs }: SpaceReading): string {
  if (openJobs === 0) return 'nothing to read'
  return `${pluralize(openJobs, 'document')}${openJobs >= maxOpenJobs ? ' or more' : ''} in progress`
}

function formatSearch({ total, ready, building, failed }: ProjectionSummary): string {
  if (total === 0) return 'no passages yet'
  const missing = [
    building === 0 ? '' : `${formatCount(building)} pending`,
    failed === 0 ? '' : `${formatCount(failed)} failed`,
  ].filter((part) => part !== '')
  if (missing.length === 0) return `${pluralize(total, 'passage')}, all found by search`
  return `${formatCount(ready)} of ${pluralize(total, 'passage')} found by search, ${missing.join(', ')}`
}

function listProblems({ status, stats }: SpaceReading): string[] {
  const { failedRetryable, failedTerminal } = stats.commits
  const failed = failedRetryable + failedTerminal
  return [
    ...(status.storage.healthy ? [] : ['the storage does not work; `ks doctor` checks why']),
    ...(status.index.degraded ?? []),
    ...(failed === 0 ? [] : [`${pluralize(failed, 'change')} failed; \`ks jobs --state failed\` shows why`]),
  ]
}

function formatInternals({
  index,
  storage,
  activeLeases,
  activeSessions,
  failedCommits,
}: KnowledgeSpaceStatus): string[] {
  const summaries = Object.entries(INDEX_LABELS).map(([name, label]) => {
    const summary = Object.entries(index.summaries).find(([key]) => key === name)?.[1]
    const counts = Object.entries(summary ?? {}).filter(([state, count]) => state !== 'total' && count > 0)
    const states = counts.map(([state, count]) => `${formatCount(count)} ${state}`).join(', ')
    return `${`index ${label}`.padEnd(16)} ${states === '' ? 'empty' : states}`
  })
  return [
    '',
    ...summaries,
    `storage          ${ttyLine(storage.provider)}`,
    `leases           ${formatCount(activeLeases.count)} active`,
    `sessions         ${formatCount(activeSessions.count)} active`,
    `commits          ${formatCount(failedCommits.count)} failed`,
  ]
}

function formatPictures({ described, refused, error, permanent }: PictureSummary): string {
  const parts = [`${formatCount(described)} described`, ...(refused > 0 ? [`${formatCount(refused)} refused`] : [])]
  if (error !== undefined) parts.push(`${permanent === true ? 'stopped' : 'waiting'}: ${ttyLine(error)}`)
  return parts.join(', ')
}
