import type { Client } from '../client/client.js'
import type { DaemonStatus, Health } from '../contract/gateway/system.js'
import { LIMITS } from '../contract/limits.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { formatCount, pluralize } from '../lib/text/pluralize.js'
import type { DaemonFile } from '../local/daemon-file.js'
import { type FolderSize, measureFolder } from '../local/folder-size.js'
import { formatBytes, formatDuration } from './units.js'

const START_LABELS = { auto: 'started by ks', manual: 'started by hand', service: 'a service' } as const
/** Counting the documents of more spaces, or measuring more files, would take seconds. */
const MAX_COUNTED_SPACES = 50
const MAX_MEASURED_FILES = 50_000

/** The content of a daemon; its counts are absent if it has very many spaces. */
export interface DaemonContent {
  spaces: number
  documents?: number
  documentBytes?: number
}

/** What is shown of a daemon; the content is absent if the database cannot be read. */
export interface DaemonReading {
  file: DaemonFile
  status: DaemonStatus
  health: Health
  content?: DaemonContent
  size: FolderSize
}

/** Reads the state of a running daemon. */
export async function readDaemon(client: Client, file: DaemonFile): Promise<DaemonReading> {
  const [status, health, content, size] = await Promise.all([
    client.request('GET /daemon/status', { query: {} }),
    client.request('GET /health', {}),
    readContent(client).catch(() => undefined),
    measureFolder(file.dataDir, MAX_MEASURED_FILES),
  ])
  return { file, status, health, size, ...omitUndefined({ content }) }
}

async function readContent(client: Client): Promise<DaemonContent> {
  const { items } = await client.request('GET /knowledge-spaces', { query: { limit: LIMITS.page.cap } })
  if (items.length > MAX_COUNTED_SPACES) return { spaces: items.length }
  const stats = await Promise.all(
    items.map(({ id }) => client.request('GET /knowledge-spaces/{id}/stats', { path: { id }, query: {} })),
  )
  return {
    spaces: items.length,
    documents: stats.reduce((sum, { storage }) => sum + storage.documentCount, 0),
    documentBytes: stats.reduce((sum, { storage }) => sum + storage.rawDocumentBytes, 0),
  }
}

/** Formats the daemon's state as lines for people. @param isAll whether to add what developers and operators need */
export function formatDaemonStatus(reading: DaemonReading, { isAll }: { isAll: boolean }): string[] {
  const { file, status, content } = reading
  const up = `up ${formatDuration(status.uptimeMs)}`
  const host = new URL(file.url).host
  return [
    `running   pid ${file.pid} · ${host} · version ${file.version} · ${up} · ${START_LABELS[file.mode]}`,
    `data      ${file.dataDir}`,
    ...(content === undefined ? [] : [`documents ${formatContent(content)}`]),
    `disk      ${formatDisk(reading)}`,
    `work      ${formatWork(status)}`,
    ...(status.models === undefined || status.models.providers.length === 0
      ? []
      : [`models    ${formatUsageToday(status.models)}`]),
    ...listProblems(reading),
    ...(isAll ? formatInternals(reading) : []),
  ]
}

function formatContent({ spaces, documents, documentBytes = 0 }: DaemonContent): string {
  const spaceText = pluralize(spaces, 'space')
  if (documents === undefined) return `of ${spaces >= LIMITS.page.cap ? `${spaceText} or more` : spaceText}`
  return `${formatCount(documents)} in ${spaceText} · ${formatBytes(documentBytes)}`
}

function formatDisk({ status: { storage }, size }: DaemonReading): string {
  if (storage?.isFull === true) return formatFullDisk(storage)
  const used = `${size.isComplete ? '' : 'more than '}${formatBytes(size.bytes)} used`
  return storage === undefined ? used : `${used} · ${formatBytes(storage.freeBytes)} free`
}

function formatWork({ activity }: DaemonStatus): string {
  const { activeJobs, waitingJobs, runningQueries = 0, backgroundTasks = 0 } = activity
  const parts = [
    activeJobs === 0 ? '' : `reading ${pluralize(activeJobs, 'document')}`,
    waitingJobs === 0 ? '' : `${formatCount(waitingJobs)} waiting`,
    runningQueries === 0 ? '' : `answering ${pluralize(runningQueries, 'question')}`,
    backgroundTasks === 0 ? '' : `improving the search (${pluralize(backgroundTasks, 'task')})`,
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'nothing to do' : parts.join(' · ')
}

/** The damage of the database, and parts that do not work. */
function listProblems({ status: { damage }, health }: DaemonReading): string[] {
  const failed = Object.entries(health.components).flatMap(([name, ok]) => (ok ? [] : [name]))
  if (damage !== undefined) return [`database  ${damage}`]
  return failed.length === 0 ? [] : [`problems  not working: ${failed.join(', ')}; \`ks doctor\` checks why`]
}

function formatInternals({ status, health }: DaemonReading): string[] {
  const { memory, eventLoop, processes = [] } = status
  const children = processes.filter((child) => child.role !== 'daemon')
  const childTexts = children.map((child) => `${child.role} pid ${child.pid} ${formatBytes(child.rss)}`)
  const components = Object.entries(health.components).map(([name, ok]) => `${name} ${ok ? 'ok' : 'failed'}`)
  return [
    ...(memory === undefined ? [] : [`memory    ${[formatBytes(memory.rss), ...childTexts].join(' · ')}`]),
    ...(eventLoop === undefined
      ? []
      : [`loop      ${eventLoop.p50} ms median, ${eventLoop.p99} ms at the 99th percentile`]),
    `parts     ${components.join(' · ')}`,
  ]
}

/** Formats today's use of provider models. */
export function formatUsageToday({ today }: NonNullable<DaemonStatus['models']>): string {
  const { llmTokens, embeddingTokens, rerankRequests } = today
  const parts = [
    pluralize(llmTokens, 'language model token'),
    pluralize(embeddingTokens, 'embedding token'),
    pluralize(rerankRequests, 'rerank request'),
  ]
  return `${parts.join(', ')} today`
}

/** Reports a full disk and the missing space. */
export function formatFullDisk({ freeBytes, missingBytes }: NonNullable<DaemonStatus['storage']>): string {
  return `full: ${formatBytes(freeBytes)} free, ${formatBytes(missingBytes)} more needed; reads and queries still work`
}
