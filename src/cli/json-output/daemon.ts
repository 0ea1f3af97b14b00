import { z } from 'zod'
import { ListedJob } from '../../contract/gateway/jobs.js'
import { DaemonStatus, Health } from '../../contract/gateway/system.js'
import { count, isoDateTime, positive } from '../../contract/primitives.js'
import type { DaemonFile } from '../../local/daemon-file.js'

/** The file in which a running daemon publishes its address. */
const daemonFile = {
  instance: z.string(),
  pid: positive,
  url: z.string(),
  socket: z.string().exactOptional().describe('path of its unix socket'),
  version: z.string(),
  startedAt: isoDateTime,
  mode: z.enum(['auto', 'manual', 'service']),
  dataDir: z.string(),
}
export const DaemonFileOutput: z.ZodType<DaemonFile> = z.strictObject(daemonFile)

export const ReadyDaemon = z.strictObject({
  url: daemonFile.url,
  instance: daemonFile.instance,
  pid: daemonFile.pid,
  version: daemonFile.version,
  dataDir: daemonFile.dataDir,
})

/** The service of `ks daemon install` and its state. */
export const InstalledService = z.strictObject({ path: z.string(), state: z.string().exactOptional() })
export type InstalledService = z.output<typeof InstalledService>

export const StoppedDaemonStatus = z.strictObject({
  running: z.literal(false),
  dataDir: z.string(),
  service: InstalledService.exactOptional(),
})
export type StoppedDaemonStatus = z.output<typeof StoppedDaemonStatus>

export const RunningDaemonStatus = z.strictObject({
  running: z.literal(true),
  ...daemonFile,
  ...DaemonStatus.shape,
  health: Health,
  service: InstalledService.exactOptional(),
})
export type RunningDaemonStatus = z.output<typeof RunningDaemonStatus>

export const DaemonStopOutput = z.strictObject({
  stopped: z.boolean(),
  pid: positive.exactOptional(),
  manner: z
    .enum(['in-order', 'at-once', 'killed'])
    .exactOptional()
    .describe('in order; at once, before it closed its indexes; or killed by --force'),
})
export type DaemonStopOutput = z.output<typeof DaemonStopOutput>
export type StopManner = NonNullable<DaemonStopOutput['manner']>

/** A line of the log; its other keys depend on the message. */
export const LogLine = z.looseObject({
  level: z.union([z.string(), z.number()]).optional(),
  time: z.union([z.string(), z.number()]).optional(),
  msg: z.string().optional(),
})

const kind = z.enum(['systemd', 'launchd'])
const commands = z.array(z.string()).describe('commands to run by hand')
export const ServicePlan = z.strictObject({
  kind,
  path: z.string(),
  changes: z.boolean(),
  text: z.string(),
  commands,
  written: z.literal(false),
})
export type ServicePlan = z.output<typeof ServicePlan>
export const ServiceInstallation = z.strictObject({
  kind,
  path: z.string(),
  changes: z.boolean(),
  backup: z.string().nullable().exactOptional(),
  started: z.boolean(),
  commands,
})
export type ServiceInstallation = z.output<typeof ServiceInstallation>
export const ServiceRemoval = z.strictObject({ kind, path: z.string(), removed: z.boolean() })
export type ServiceRemoval = z.output<typeof ServiceRemoval>

const figure = z.number().nullable()

/** One reading of `ks top`; a figure is null where it is unknown. */
export const TopRecord = z.strictObject({
  at: isoDateTime,
  status: DaemonStatus,
  figures: z.strictObject({
    cpuPercent: figure.describe('percent of one processor used by the daemon itself'),
    requestsPerSecond: figure,
    errorsPerSecond: figure.describe('responses with a status of 500 and above'),
    p50: figure.describe('upper bound of the time to the start of a response, in seconds'),
    p95: figure,
    waitingQueries: figure,
    waitingWrites: figure,
    indexLag: figure.describe('number of log entries that search indexes have not read'),
  }),
  stages: z.array(z.strictObject({ stage: z.string(), jobs: z.number() })),
  models: z.array(
    z.strictObject({
      name: z.string(),
      kind: z.string(),
      calls: z.number(),
      failed: z.number(),
      callsPerSecond: figure,
      isLeftAlone: z.boolean().describe('whether the daemon suspends calls after failures'),
    }),
  ),
  spaces: z.array(
    z.strictObject({
      id: z.string(),
      slug: z.string(),
      documents: count.optional(),
      bytes: count.optional(),
      open: count.describe('number of loaded jobs that have not ended'),
      hasMore: z.boolean(),
      oldest: isoDateTime.optional().describe('creation time of the oldest of them'),
    }),
  ),
  jobs: z.array(ListedJob.extend({ space: z.string(), isReading: z.boolean() })),
  lacks: z.array(z.string()).describe('messages of the service about data that the token may not read'),
})
export type TopRecord = z.output<typeof TopRecord>

export const TopEvent = z.strictObject({ event: z.literal('top'), data: TopRecord })
