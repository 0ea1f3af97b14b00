import '../../lib/no-debugger.js'
import { Client } from '../../client/client.js'
import { ApiError, ConnectionError } from '../../client/errors.js'
import { findDaemon } from '../../client/local-daemon.js'
import type { KeptWatch, WatchState } from '../../contract/gateway/local-files.js'
import { defined } from '../../lib/defined.js'
import { localDirs } from '../../local/dirs.js'
import { CliError } from '../cli-error.js'
import { watchFile } from './file-ledger.js'
import { serviceLedger } from './ledger.js'
import { walkOptionsOf } from './rules.js'
import { lockOf } from './session.js'
import { FolderWatcher } from './watcher.js'

/** The process that watches the folders of the daemon. It is a normal client of the daemon. */

type FromDaemon =
  | { type: 'watches'; dataDir: string; watches: KeptWatch[]; accept?: string }
  | { type: 'stale'; path: string }

interface Running {
  rules: string
  folder: string
  watcher: FolderWatcher | undefined
  stop: AbortController
}

const EVERY_MS = 5 * 60_000
/** Retry interval, for example while another process watches the folder. */
const LOCKED_RETRY_MS = 5000
/** The daemon's token was renewed: the next process reads the new one. */
const EXIT_TOKEN = 4

const running = new Map<string, Running>()

process.on('disconnect', () => process.exit(0))
process.on('message', (message: FromDaemon) => {
  if (message.type === 'stale') {
    for (const { folder, watcher } of running.values())
      if (message.path.startsWith(`${folder}/`)) watcher?.touch(message.path.slice(folder.length + 1))
    return
  }
  take(message.dataDir, message.watches)
  if (message.accept !== undefined) running.get(message.accept)?.watcher?.accept()
})

/** Stops watches that were removed or changed, and starts new ones. */
function take(dataDir: string, watches: readonly KeptWatch[]): void {
  const wanted = new Map(watches.map((watch) => [watch.id, watch]))
  for (const [id, { rules, stop }] of running) {
    const watch = wanted.get(id)
    if (watch !== undefined && JSON.stringify(watch) === rules) continue
    stop.abort()
    running.delete(id)
  }
  for (const watch of watches) if (!running.has(watch.id)) begin(dataDir, watch)
}

function begin(dataDir: string, watch: KeptWatch): void {
  const entry: Running = {
    rules: JSON.stringify(watch),
    folder: watch.folder,
    watcher: undefined,
    stop: new AbortController(),
  }
  running.set(watch.id, entry)
  const tell = (state: WatchState) => {
    if (!entry.stop.signal.aborted) process.send?.({ type: 'state', id: watch.id, state })
  }
  run(dataDir, watch, entry, tell).catch((error: unknown) => {
    if (entry.stop.signal.aborted) return
    if (error instanceof ApiError && error.status === 401) process.exit(EXIT_TOKEN)
    const isLocked = error instanceof CliError && error.code === 'already-watched'
    const message = error instanceof Error ? error.message : String(error)
    tell({ state: isLocked ? 'waiting' : 'failed', detail: message })
    if (!isLocked) process.send?.({ type: 'log', message: `watching ${watch.folder} failed: ${message}` })
    setTimeout(() => {
      if (entry.stop.signal.aborted) return
      running.delete(watch.id)
      begin(dataDir, watch)
    }, LOCKED_RETRY_MS)
  })
}

async function run(
  dataDir: string,
  watch: KeptWatch,
  entry: Running,
  tell: (state: WatchState) => void,
): Promise<void> {
  const { knowledgeSpaceId: spaceId, folder, onDelete } = watch
  const dirs = { ...localDirs(), data: dataDir }
  const unlock = lockOf(watchFile(dirs.state, dataDir, spaceId, folder), folder)
  try {
    entry.watcher = new FolderWatcher({
      folder,
      spaceId,
      onDelete,
      everyMs: EVERY_MS,
      signal: entry.stop.signal,
      walk: walkOptionsOf(folder, watch, dirs),
      ...defined({ pollMs: watch.pollMs }),
      ledger: serviceLedger(spaceId, folder),
      connect: () => connect(dataDir),
      onChange: () => undefined,
      onSkipped: () => undefined,
      onState: tell,
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
