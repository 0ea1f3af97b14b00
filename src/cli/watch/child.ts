import '../../lib/no-debugger.js'
import { Client } from '../../client/client.js'
import { ApiError, ConnectionError } from '../../client/errors.js'
import { findDaemon } from '../../client/local-daemon.js'
import type { StoredWatch, WatchState } from '../../contract/gateway/local-files.js'
import { toErrorMessage } from '../../lib/error-message.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { resolveLocalDirs } from '../../local/dirs.js'
import { CliError } from '../cli-error.js'
import { RootNames } from '../ingest/root-names.js'
import { getWatchFile } from './file-ledger.js'
import { createServiceLedger } from './ledger.js'
import { toWalkOptions } from './rules.js'
import { lockWatch } from './session.js'
import { FolderWatcher } from './watcher.js'

/** The process that watches the folders of the daemon. It is a normal client of the daemon. */

/** `accept` is the id of a watch whose missing files are deleted; a `stale` path is one of a changed file. */
type WatchProcessMessage =
  | { type: 'watches'; dataDir: string; watches: StoredWatch[]; accept?: string }
  | { type: 'stale'; path: string }

interface RunningWatch {
  /** The stored watch as JSON, to detect changes. */
  json: string
  folder: string
  watcher: FolderWatcher | undefined
  stop: AbortController
}

const FULL_SCAN_INTERVAL_MS = 5 * 60_000
/** Retry interval, for example while another process watches the folder. */
const RETRY_INTERVAL_MS = 5000
/** The daemon's token was renewed: the next process reads the new one. */
const TOKEN_RENEWED_EXIT_CODE = 4

const running = new Map<string, RunningWatch>()

process.on('disconnect', () => process.exit(0))
process.on('message', (message: WatchProcessMessage) => {
  if (message.type === 'stale') {
    for (const { folder, watcher } of running.values())
      if (message.path.startsWith(`${folder}/`)) watcher?.touch(message.path.slice(folder.length + 1))
    return
  }
  updateWatches(message.dataDir, message.watches)
  if (message.accept !== undefined) running.get(message.accept)?.watcher?.acceptMissing()
})

/** Stops watches that were removed or changed, and starts new ones. */
function updateWatches(dataDir: string, watches: readonly StoredWatch[]): void {
  const watchesById = new Map(watches.map((watch) => [watch.id, watch]))
  for (const [id, { json, stop }] of running) {
    const watch = watchesById.get(id)
    if (watch !== undefined && JSON.stringify(watch) === json) continue
    stop.abort()
    running.delete(id)
  }
  for (const watch of watches) if (!running.has(watch.id)) startWatch(dataDir, watch)
}

function startWatch(dataDir: string, watch: StoredWatch): void {
  const entry: RunningWatch = {
    json: JSON.stringify(watch),
    folder: watch.folder,
    watcher: undefined,
    stop: new AbortController(),
  }
  running.set(watch.id, entry)
  const sendState = (state: WatchState) => {
    if (!entry.stop.signal.aborted) process.send?.({ type: 'state', id: watch.id, state })
  }
  runWatch(dataDir, watch, entry, sendState).catch((error: unknown) => {
    if (entry.stop.signal.aborted) return
    if (error instanceof ApiError && error.status === 401) process.exit(TOKEN_RENEWED_EXIT_CODE)
    const isLocked = error instanceof CliError && error.code === 'already-watched'
    const message = toErrorMessage(error)
    sendState({ state: isLocked ? 'waiting' : 'failed', detail: message })
    if (!isLocked) process.send?.({ type: 'log', message: `watching ${watch.folder} failed: ${message}` })
    setTimeout(() => {
      if (entry.stop.signal.aborted) return
      running.delete(watch.id)
      startWatch(dataDir, watch)
    }, RETRY_INTERVAL_MS)
  })
}

async function runWatch(
  dataDir: string,
  watch: StoredWatch,
  entry: RunningWatch,
  sendState: (state: WatchState) => void,
): Promise<void> {
  const { knowledgeSpaceId: spaceId, folder, onDelete } = watch
  const dirs = { ...resolveLocalDirs(), data: dataDir }
  // The command that added the watch has named its folder.
  const names = new RootNames(dirs.state, dataDir, spaceId)
  const unlock = lockWatch(getWatchFile(dirs.state, dataDir, spaceId, folder), folder)
  try {
    entry.watcher = new FolderWatcher({
      folder,
      spaceId,
      onDelete,
      scanIntervalMs: FULL_SCAN_INTERVAL_MS,
      signal: entry.stop.signal,
      walk: { ...toWalkOptions(folder, watch, dirs), nameOf: (path) => names.find(path) },
      ...omitUndefined({ pollMs: watch.pollMs }),
      ledger: createServiceLedger(spaceId, folder),
      connect: () => connect(dataDir),
      onChange: () => undefined,
      onSkipped: () => undefined,
      onState: sendState,
    })
    await entry.watcher.run()
  } finally {
    unlock()
  }
}

async function connect(dataDir: string): Promise<Client> {
  const daemon = await findDaemon(dataDir)
  if (daemon === undefined) throw new ConnectionError('unreachable', `no daemon answers for ${dataDir}`)
  return new Client(daemon.target)
}
