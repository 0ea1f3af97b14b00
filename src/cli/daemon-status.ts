import type { DaemonStatus, Health } from '../contract/gateway/system.js'
import { pluralize } from '../lib/text/pluralize.js'
import type { DaemonFile } from '../local/daemon-file.js'
import { formatBytes, formatDuration } from './units.js'

const START_LABELS = { auto: 'started by ks', manual: 'started by hand', service: 'a service' } as const

/** Formats the daemon's state as lines for people. */
export function formatDaemonStatus(file: DaemonFile, status: DaemonStatus, health: Health): string[] {
  const up = `up ${formatDuration(status.uptimeMs)}`
  const host = new URL(file.url).host
  const { activity, memory, eventLoop, storage, damage, models, processes = [] } = status
  const components = Object.entries(health.components).map(([name, ok]) => `${name} ${ok ? 'ok' : 'failed'}`)
  const children = processes.filter((child) => child.role !== 'daemon')
  const childTexts = children.map((child) => `${child.role} pid ${child.pid} ${formatBytes(child.rss)}`)
  const { backgroundTasks = 0 } = activity
  const background = backgroundTasks === 0 ? '' : ` · ${pluralize(backgroundTasks, 'background task')}`
  return [
    `running   pid ${file.pid} · ${host} · version ${file.version} · ${up} · ${START_LABELS[file.mode]}`,
    `data      ${file.dataDir}`,
    `jobs      ${activity.activeJobs} running, ${activity.waitingJobs} waiting · ${activity.runningQueries ?? 0} queries${background}`,
    ...(memory === undefined
      ? []
      : [`memory    ${formatBytes(memory.rss)}${childTexts.length === 0 ? '' : ` · ${childTexts.join(' · ')}`}`]),
    ...(eventLoop === undefined
      ? []
      : [`loop      ${eventLoop.p50} ms median, ${eventLoop.p99} ms at the 99th percentile`]),
    ...(models === undefined || models.providers.length === 0 ? [] : [`models    ${formatUsageToday(models)}`]),
    ...(storage?.isFull === true ? [`disk      ${formatFullDisk(storage)}`] : []),
    ...(damage === undefined ? [] : [`database  ${damage}`]),
    `parts     ${components.join(' · ')}`,
  ]
}

/** Formats today's use of provider models. */
export function formatUsageToday({ today }: NonNullable<DaemonStatus['models']>): string {
  const { llmTokens, embeddingTokens, rerankRequests } = today
  const [language, embedded, reranked] = [llmTokens, embeddingTokens, rerankRequests].map((count) =>
    count.toLocaleString('en'),
  )
  return `${language} language model tokens, ${embedded} embedding tokens, ${reranked} rerank requests today`
}

/** Reports a full disk and the missing space. */
export function formatFullDisk({ freeBytes, missingBytes }: NonNullable<DaemonStatus['storage']>): string {
  return `full: ${formatBytes(freeBytes)} free, ${formatBytes(missingBytes)} more needed; reads and queries still work`
}
