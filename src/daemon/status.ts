import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { DaemonStatus } from '../contract/gateway/system.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import type { DaemonMode } from '../local/daemon-file.js'
import type { DiskSpaceState } from '../local/disk-reserve.js'

/** Interval of the measuring timer, which the histogram includes in every delay; it is subtracted again. */
const DELAY_RESOLUTION_MS = 10
const NANOSECONDS_PER_MS = 1e6

export interface DaemonIdentity {
  instance: string
  pid: number
  version: string
  mode: DaemonMode
  startedAt: string
}

export interface DaemonActivity {
  activeJobs: number
  waitingJobs: number
  runningQueries: number
  backgroundTasks: number
  indexPid?: number
  parserPids: number[]
}

export interface StatusSources {
  identity: DaemonIdentity
  limits: DaemonStatus['limits']
  activity(): Promise<DaemonActivity>
  /** The activity of one tenant. */
  jobsOf(tenant: string): Promise<{ activeJobs: number; waitingJobs: number }>
  openRequests(): number
  models?(): Promise<NonNullable<DaemonStatus['models']>>
  /** The process that watches folders. */
  watcherPid?(): number | undefined
  /** Free space on the disk of the data directory. */
  storage?(): DiskSpaceState
  /** Damage of the database. */
  damage?(): string | undefined
}

export interface StatusReader {
  /** The complete status, of all tenants. */
  read(options: { reset: boolean }): Promise<DaemonStatus>
  /** The status for callers other than the operator, without information about other tenants. */
  readFor(tenant: string): Promise<DaemonStatus>
  close(): void
}

/** Measures the event-loop delay from now on; memory and children at each reading. */
export function createStatusReader(sources: StatusSources): StatusReader {
  const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS })
  delay.enable()
  return {
    read: async ({ reset }) => {
      const { identity, limits } = sources
      const { indexPid, parserPids, ...work } = await sources.activity()
      const children: [pid: number, role: 'index' | 'parser' | 'watcher'][] = parserPids.map((pid) => [pid, 'parser'])
      if (indexPid !== undefined) children.unshift([indexPid, 'index'])
      const watcher = sources.watcherPid?.()
      if (watcher !== undefined) children.push([watcher, 'watcher'])
      const own = measureOwnMemory()
      const storage = sources.storage?.()
      const damage = sources.damage?.()
      const models = await sources.models?.()
      const status: DaemonStatus = {
        ...identity,
        uptimeMs: Math.round(process.uptime() * 1000),
        limits,
        memory: own,
        eventLoop: {
          p50: toDelayMs(delay.percentile(50)),
          p99: toDelayMs(delay.percentile(99)),
          p999: toDelayMs(delay.percentile(99.9)),
          max: toDelayMs(delay.max),
        },
        activity: { ...work, openRequests: sources.openRequests() },
        ...omitUndefined({ storage, damage, models }),
        processes: [
          { role: 'daemon', pid: identity.pid, rss: own.rss, peakRss: own.peakRss },
          ...children.flatMap(([pid, role]) => {
            const memory = readChildMemory(pid)
            return memory === undefined ? [] : [{ role, pid, ...memory }]
          }),
        ],
      }
      if (reset) delay.reset()
      return status
    },
    readFor: async (tenant) => {
      const { identity, limits } = sources
      const { instance, version, mode, startedAt } = identity
      const uptimeMs = Math.round(process.uptime() * 1000)
      return { instance, version, mode, startedAt, uptimeMs, limits, activity: await sources.jobsOf(tenant) }
    },
    close: () => delay.disable(),
  }
}

function toDelayMs(nanoseconds: number): number {
  const delayMs = nanoseconds / NANOSECONDS_PER_MS - DELAY_RESOLUTION_MS
  return delayMs > 0 ? Math.round(delayMs * 1000) / 1000 : 0
}

function measureOwnMemory(): NonNullable<DaemonStatus['memory']> {
  const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage()
  return { rss, peakRss: Math.max(rss, process.resourceUsage().maxRSS * 1024), heapUsed, external, arrayBuffers }
}

/** Memory of another process from /proc; undefined without /proc or without such a process. */
function readChildMemory(pid: number): { rss: number; peakRss: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/status`, 'utf8')
    const rss = parseKibibytes(text, 'VmRSS')
    return { rss, peakRss: Math.max(rss, parseKibibytes(text, 'VmHWM')) }
  } catch {
    return undefined
  }
}

function parseKibibytes(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0) * 1024
}
