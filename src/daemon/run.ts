import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { KsError } from '../contract/errors.js'
import type { Engine } from '../engine/api.js'
import type { EngineOptions } from '../engine/base/options.js'
import { readAllowedPrograms } from '../local/allowed-programs.js'
import { type DaemonFile, type DaemonMode, removeDaemonFile, writeDaemonFile } from '../local/daemon-file.js'
import { prepareDataDir } from '../local/data-dir.js'
import { resolveLocalDirs } from '../local/dirs.js'
import { isStorageFull } from '../local/disk-error.js'
import { DiskReserve } from '../local/disk-reserve.js'
import { adoptKeys, ensureCliToken, loadSigningKey, readCliToken } from '../local/keys.js'
import type { DataLayout } from '../local/layout.js'
import { getHomeFolder } from '../local/local-path.js'
import { acquireLock } from '../local/lock.js'
import { findLockHolder } from '../local/lock-holder.js'
import { listSecretPaths } from '../local/secret-paths.js'
import { SETTINGS, type Settings } from '../local/settings.js'
import { assembleApp, collectSecrets, mayUseLocalFiles, toEngineOptions } from './assemble.js'
import { loadSettings } from './config.js'
import { watchIdle } from './idle.js'
import { listenSocket, listenTcp } from './listen.js'
import { openLog } from './log.js'
import { createOpenWork, type OpenWork } from './open-work.js'
import { selectTrustedConverters, selectTrustedProviders } from './programs.js'
import { createRedactor } from './redact.js'
import type { DaemonApp } from './server.js'
import { createStatusReader, type DaemonIdentity } from './status.js'
import { keepTokenFresh } from './token-renewal.js'
import { readProgramVersion } from './version.js'
import { WatchSupervisor } from './watch/supervisor.js'

export interface DaemonOptions {
  dataDir: string
  mode: DaemonMode
  env: Readonly<Record<string, string | undefined>>
  /** Settings from the command line. */
  flags: { readonly [N in keyof Settings]?: unknown }
  openEngine(options: EngineOptions): Promise<Engine>
  /** Whether to write the log to stderr as well. */
  echoLog: boolean
}

export interface RunningDaemon {
  file: DaemonFile
  log: Logger
  /** Requests an orderly stop; repeated requests have no effect. */
  stop(reason: string): void
  /** Settles when the daemon has stopped for any reason; rejects if a part could not be closed, or not in time. */
  stopped: Promise<void>
}

/** Another process owns the data directory. */
export class DataDirInUseError extends Error {
  constructor(dataDir: string, pid: number | undefined) {
    super(`the data directory ${dataDir} is in use by ${pid === undefined ? 'another process' : `process ${pid}`}`)
    this.name = 'DataDirOwned'
  }
}

/** An orderly stop exceeded its timeout: the rest ends with the process. */
export class StopTimeoutError extends Error {
  constructor(seconds: number) {
    super(`the daemon could not stop in order within ${seconds} s; everything that was acknowledged is on disk`)
    this.name = 'StopOverdue'
  }
}

/** Time for open requests and streams to finish after a stop was requested, and after their streams were cut. */
const STREAM_GRACE_MS = 10_000
const CUT_GRACE_MS = 1_000
const DAEMON_FILE_RETRY_MS = 1000

/** A path of the data directory that was renamed because it was a folder instead of a file, or vice versa. */
interface RenamedPath {
  path: string
  /** its new path */
  aside: string
}

/** Closing functions of everything opened so far; run in reverse order when a start fails or the daemon stops. */
type Closers = (() => void | Promise<void>)[]

/**
 * Starts a daemon: lock → settings and log → keys → engine → listen → daemon.json, so that a reader of the file finds a
 * daemon that responds.
 *
 * @throws DataDirInUseError, KsError
 */
export async function startDaemon(options: DaemonOptions): Promise<RunningDaemon> {
  const allowNetworkDisk = SETTINGS.allowNetworkDisk.read(options.env[SETTINGS.allowNetworkDisk.env] ?? false)
  const renamedPaths: RenamedPath[] = []
  const onRenamed = (path: string, to: string) => void renamedPaths.push({ path, aside: to })
  const layout = prepareDataDir(options.dataDir, { allowNetworkDisk, onRenamed })
  const lock = acquireLock(layout.lock)
  if (lock === undefined) {
    // Of several daemons started at once in mode `auto`, all but one exit silently.
    const pid = options.mode === 'auto' ? undefined : await findLockHolder(layout)
    throw new DataDirInUseError(options.dataDir, pid)
  }
  const closers: Closers = [() => lock.release()]
  try {
    const diskReserve = new DiskReserve(layout.reserve, layout.root)
    closers.push(() => diskReserve.close())
    await diskReserve.start()
    return await startWithLock(options, layout, { diskReserve, heldLock: lock.name, renamedPaths }, closers)
  } catch (error) {
    await closeAll(closers)
    throw error
  }
}

async function startWithLock(
  options: DaemonOptions,
  layout: DataLayout,
  { renamedPaths, ...resources }: { diskReserve: DiskReserve; heldLock: string; renamedPaths: RenamedPath[] },
  closers: Closers,
): Promise<RunningDaemon> {
  const { diskReserve } = resources
  const identity: DaemonIdentity = {
    instance: randomUUID(),
    pid: process.pid,
    version: readProgramVersion(),
    mode: options.mode,
    startedAt: new Date().toISOString(),
  }
  closers.push(() => removeDaemonFile(layout.daemonFile, identity.instance))
  const loaded = loadSettings({ file: layout.config, env: options.env, flags: options.flags })
  const { origins } = loaded
  const redactor = createRedactor()
  for (const secret of collectSecrets(loaded.settings, options.env)) redactor.register(secret)
  const { logger: log, close } = openLog({
    path: layout.log,
    level: loaded.settings.logLevel,
    redactor,
    echo: options.echoLog,
  })
  closers.push(close)
  const givenSettings = Object.entries(origins).flatMap(([name, origin]) =>
    origin === 'default' ? [] : [`${name} (${origin})`],
  )
  log.info({ version: identity.version, mode: options.mode, given: givenSettings }, 'starting')
  for (const renamed of renamedPaths)
    log.warn(renamed, 'a path of the data directory had the wrong type and was renamed')
  const sources = { env: options.env, platform: process.platform, home: getHomeFolder() }
  const allowedPrograms = readAllowedPrograms(resolveLocalDirs(sources).config)
  const settings = {
    ...loaded.settings,
    providers: selectTrustedProviders(loaded, allowedPrograms, log),
    converters: selectTrustedConverters(loaded, allowedPrograms, log),
  }

  if (settings.keys !== undefined) adoptKeys(settings.keys, layout)
  const signingKey = loadSigningKey(layout.root)
  redactor.register(Buffer.from(signingKey).toString('base64url'))
  const renewToken = async () => redactor.register(await ensureCliToken(layout.root))
  await renewToken().catch((error: unknown) => {
    // The existing token may be valid for weeks.
    if (!isStorageFull(error) || readCliToken(layout.root) === undefined) throw error
    log.error({ err: error }, 'the token of the CLI was not renewed')
  })
  const watching = new WatchSupervisor({ dataDir: layout.root, allowed: mayUseLocalFiles(settings), log })
  const localFiles = watching.allowed ? { localFiles: { onStale: (path: string) => watching.stale(path) } } : {}
  const engine = await options.openEngine({
    ...toEngineOptions(layout.root, settings, log),
    ...localFiles,
    ...resources,
    programs: {
      secrets: () => listSecretPaths(layout.root, settings, sources),
      allowUnconfined: settings.unconfinedPrograms,
    },
  })
  closers.push(() => engine.close())
  if ((await engine.health()).durability === 'single')
    log.warn({}, 'the database has no synchronous standby: acknowledged data is on one machine only')

  const { uploadBytes, bulkFiles, bulkBytes } = settings
  const work = createOpenWork()
  const status = createStatusReader({
    identity,
    limits: { uploadBytes, bulkFiles, bulkBytes },
    activity: () => engine.activity(),
    jobsOf: engine.jobsOf,
    openRequests: work.count,
    watcherPid: () => watching.pid,
    models: () => engine.models.inUse(),
    storage: () => diskReserve.getState(),
    damage: () => engine.damage(),
  })
  closers.push(() => status.close())
  closers.push(() => watching.close())
  const { root: dataDir } = layout
  const app = assembleApp({ settings, identity, engine, work, status, log, signingKey, watching, dataDir, diskReserve })
  const { servers, ...addresses } = await listenAll(app, { layout, mode: options.mode, settings, log })
  closers.push(() => closeServers(servers))

  const file: DaemonFile = { ...identity, ...addresses, dataDir: layout.root }
  closers.push(publishAddress(layout.daemonFile, file, log))
  await diskReserve.restoreStartReserve()
  watching.start(() => engine.localFiles.watches())
  log.info({ ...addresses, instance: file.instance }, 'ready')
  return createRunningDaemon({ file, settings, engine, work, watching, closers, servers, log, renewToken })
}

/**
 * Writes the address of the daemon; on a full disk, retries until it succeeds.
 * @returns a function that stops the retries
 */
function publishAddress(path: string, file: DaemonFile, log: Logger): () => void {
  let timer: NodeJS.Timeout | undefined
  const publish = () => {
    try {
      writeDaemonFile(path, file)
    } catch (error) {
      if (!isStorageFull(error)) throw error
      if (timer === undefined) log.error({ err: error }, 'daemon.json could not be written and is retried')
      timer = setTimeout(publish, DAEMON_FILE_RETRY_MS).unref()
    }
  }
  publish()
  return () => clearTimeout(timer)
}

interface DaemonParts {
  file: DaemonFile
  settings: Settings
  engine: Engine
  work: OpenWork
  watching: WatchSupervisor
  closers: Closers
  servers: readonly Server[]
  log: Logger
  renewToken(): Promise<void>
}

function createRunningDaemon({
  file,
  settings,
  engine,
  work,
  watching,
  closers,
  servers,
  log,
  renewToken,
}: DaemonParts): RunningDaemon {
  let stop: RunningDaemon['stop'] = () => {}
  const stopRequested = new Promise<string>((resolve) => {
    stop = resolve
  })
  const renewal = keepTokenFresh(renewToken, (error) =>
    log.error({ err: error }, 'the token of the CLI was not renewed'),
  )
  const idle = watchIdle({
    afterMs: file.mode === 'auto' ? settings.idleExitMinutes * 60_000 : undefined,
    idleMs: work.idleMs,
    isBusy: async () => {
      const { activeJobs, waitingJobs, runningQueries } = await engine.activity()
      if (activeJobs + waitingJobs + runningQueries > 0 || (await watching.isActive())) return true
      return await engine.sources.hasSchedule()
    },
    stop: () => stop('idle'),
  })
  const stopInOrder = async () => {
    renewal.close()
    idle.close()
    work.stop()
    for (const server of servers) server.close()
    const graceMs = Math.min(STREAM_GRACE_MS, (settings.stopSeconds * 1000) / 2)
    await Promise.race([work.waitUntilDrained(), sleep(graceMs, undefined, { ref: false })])
    work.cutStreams('the daemon is stopping')
    await Promise.race([work.waitUntilDrained(), sleep(CUT_GRACE_MS, undefined, { ref: false })])
    await closeAll(closers)
  }
  const stopped = stopRequested.then(async (reason) => {
    log.info({ reason }, 'stopping')
    const ended = new AbortController()
    const timeout = rejectAfterTimeout(settings.stopSeconds, log, ended.signal)
    await Promise.race([stopInOrder().finally(() => ended.abort()), timeout])
  })
  return { file, log, stop, stopped }
}

/** Rejects after a timeout, unless the stop has ended. */
async function rejectAfterTimeout(seconds: number, log: Logger, ended: AbortSignal): Promise<void> {
  const hasEnded = await sleep(seconds * 1000, false, { signal: ended }).catch(() => true)
  if (hasEnded) return
  const error = new StopTimeoutError(seconds)
  log.error({}, error.message)
  throw error
}

async function listenAll(
  app: DaemonApp,
  { layout, mode, settings, log }: { layout: DataLayout; mode: DaemonMode; settings: Settings; log: Logger },
): Promise<{ servers: Server[]; url: string; socket?: string }> {
  const { tlsCert, tlsKey } = settings
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new KsError('invalid-request', 'tlsCert and tlsKey must be set together')
  const { server, url } = await listenTcp(app, {
    listen: settings.listen,
    ...(tlsCert === undefined || tlsKey === undefined ? {} : { tls: { cert: tlsCert, key: tlsKey } }),
    insecure: settings.insecureListen,
    anyPort: mode === 'auto',
  })
  if (!settings.socket) return { servers: [server], url }
  const socket = await listenSocket(app, layout.socket)
  if (socket === undefined) {
    log.warn({ path: layout.socket }, 'no unix socket: its path is too long, or the platform has none')
    return { servers: [server], url }
  }
  return { servers: [server, socket], url, socket: layout.socket }
}

async function closeServers(servers: readonly Server[]): Promise<void> {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
}

/** Closes the last opened first. If one fails, the others are closed as well; then the first error is thrown. */
async function closeAll(closers: Closers): Promise<void> {
  let failure: unknown
  for (const close of closers.splice(0).reverse()) {
    try {
      await close()
    } catch (error) {
      failure ??= error
    }
  }
  if (failure !== undefined) throw failure
}
