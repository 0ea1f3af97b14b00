import type { DaemonStatus, Health } from '../contract/gateway/system.js'
import type { DaemonFile } from '../local/daemon-file.js'
import { bytes, duration } from './units.js'

const STARTED_BY = { auto: 'started by ks', manual: 'started by hand', service: 'a service' } as const

/** Formats the daemon's state as lines for people. */
export function statusLines(file: DaemonFile, status: DaemonStatus, health: Health): string[] {
  const up = `up ${duration(status.uptimeMs)}`
  const where = new URL(file.url).host
  const { activity, memory, eventLoop, storage, damage, models, processes = [] } = status
  const parts = Object.entries(health.components).map(([name, ok]) => `${name} ${ok ? 'ok' : 'failed'}`)
  const children = processes.filter((one) => one.role !== 'daemon')
  const all = children.map((one) => `${one.role} pid ${one.pid} ${bytes(one.rss)}`)
  const background = (activity.backgroundTasks ?? 0) === 0 ? '' : ' · vectors are being built'
  return [
    `running   pid ${file.pid} · ${where} · version ${file.version} · ${up} · ${STARTED_BY[file.mode]}`,
    `data      ${file.dataDir}`,
    `jobs      ${activity.activeJobs} running, ${activity.waitingJobs} waiting · ${activity.runningQueries ?? 0} queries${background}`,
    ...(memory === undefined
      ? []
      : [`memory    ${bytes(memory.rss)}${all.length === 0 ? '' : ` · ${all.join(' · ')}`}`]),
    ...(eventLoop === undefined
      ? []
      : [`loop      ${eventLoop.p50} ms median, ${eventLoop.p99} ms at the 99th percentile`]),
    ...(models === undefined || models.providers.length === 0 ? [] : [`models    ${usedToday(models)}`]),
    ...(storage?.isFull === true ? [`disk      ${fullDisk(storage)}`] : []),
    ...(damage === undefined ? [] : [`database  ${damage}`]),
    `parts     ${parts.join(' · ')}`,
  ]
}

/** Formats today's use of provider models. */
export function usedToday({ today }: NonNullable<DaemonStatus['models']>): string {
  const { llmTokens, embeddingTokens, rerankRequests } = today
  const [language, embedded, reranked] = [llmTokens, embeddingTokens, rerankRequests].map((n) => n.toLocaleString('en'))
  return `${language} language model tokens, ${embedded} embedding tokens, ${reranked} rerank requests today`
}

/** Reports a full disk and the missing space. */
export function fullDisk({ freeBytes, missingBytes }: NonNullable<DaemonStatus['storage']>): string {
  return `full: ${bytes(freeBytes)} free, ${bytes(missingBytes)} more needed; reads and queries still work`
}
