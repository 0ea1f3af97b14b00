import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Client } from '../../client/client.js'
import { ApiError } from '../../client/errors.js'
import { EXIT } from '../../contract/errors.js'
import type { WatchState } from '../../contract/gateway/local-files.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { pluralize } from '../../lib/text/pluralize.js'
import type { LocalDirs } from '../../local/dirs.js'
import { acquireLock } from '../../local/lock.js'
import { CliError } from '../cli-error.js'
import { formatMachineCell } from '../columns.js'
import { type ConfiguredService, toServiceKey } from '../contexts.js'
import { nameFolder } from '../ingest/name-files.js'
import { printSkipped, removeNamePrefix } from '../ingest/records.js'
import { RootNames } from '../ingest/root-names.js'
import { InterruptedError, listenForInterrupt } from '../interrupt.js'
import type { WatchedChange } from '../json-output/documents.js'
import type { Output } from '../output.js'
import { ttyLine, ttyName } from '../terminal.js'
import { createFileLedger, getWatchFile } from './file-ledger.js'
import { UploadFollower } from './follower.js'
import { createServiceLedger, type WatchLedger } from './ledger.js'
import { toWalkOptions, type WatchRules } from './rules.js'
import { FolderWatcher } from './watcher.js'

export interface WatchSessionOptions {
  folders: string[]
  rules: WatchRules
  /** Name of the only folder in the space, from `--as`. */
  as: string | undefined
  onDelete: 'remove' | 'keep'
  /** Interval of full scans in milliseconds. */
  scanIntervalMs: number
  /** Polling interval in milliseconds; undefined if the file system decides whether to poll. */
  pollMs: number | undefined
  /** Whether to scan once, without watching. */
  once: boolean
  /** Whether to treat missing files as deleted, even on another disk. */
  acceptMissing: boolean
  spaceId: string
  /** Name of the space for messages. */
  spaceName: string
  service: ConfiguredService
  dirs: LocalDirs
  out: Output
  connect: () => Promise<Client>
  deadline: AbortSignal
}

const STATUS_MARKS = { added: '+', changed: '~', removed: '-', published: '=', skipped: '·', failed: '!' } as const

/**
 * Watches folders in the foreground until Ctrl-C and prints a line for each change; with `once`, updates the space and
 * exits.
 *
 * @throws CliError exit 6 if another `ks watch` watches one of them, 3 if files failed (`once`), 130 after Ctrl-C
 */
export async function watchFolders(options: WatchSessionOptions): Promise<void> {
  const { out, once } = options
  const interrupt = listenForInterrupt(options.deadline)
  const tally = { changes: 0, failed: 0 }
  const session: WatchSession = { options, signal: interrupt.signal, closers: [], tally }
  try {
    const watchers = []
    for (const folder of options.folders) watchers.push(await openWatcher(folder, session))
    if (!once && !out.isQuiet) out.note('Ctrl-C stops watching; the documents are kept')
    await Promise.all(watchers.map((watcher) => (once ? watcher.syncOnce() : watcher.run())))
    options.deadline.throwIfAborted()
    if (interrupt.wasInterrupted()) throw toStoppedError(tally.changes)
    if (once) reportOnce(watchers, tally, out)
  } finally {
    interrupt.stopListening()
    for (const close of session.closers) close()
  }
}

interface WatchSession {
  options: WatchSessionOptions
  signal: AbortSignal
  /** Functions called when the session ends. */
  closers: (() => void)[]
  tally: { changes: number; failed: number }
}

async function openWatcher(folder: string, { options, signal, closers, tally }: WatchSession): Promise<FolderWatcher> {
  const { spaceId, service, dirs, out, rules, as } = options
  const serviceKey = toServiceKey(service)
  const file = getWatchFile(dirs.state, serviceKey, spaceId, folder)
  closers.push(lockWatch(file, folder))
  const ledger =
    service.kind === 'local' ? await openLocalLedger(options, folder, file) : createFileLedger(`${file}.jsonl`, spaceId)
  const client = await options.connect()
  closers.push(() => client.close())
  const names = new RootNames(dirs.state, serviceKey, spaceId)
  const onNew = (sentence: string) => out.note(`ks: ${sentence}`)
  const walk = toWalkOptions(folder, rules, dirs)
  await nameFolder(folder, walk, { client, spaceId, as, names, isRemembered: true, onNew })
  const follower = new UploadFollower(client, signal, ({ filename, documentId }, outcome) =>
    printChange({ filename, ...omitUndefined({ documentId }), ...outcome }, out, tally),
  )
  const watcher = new FolderWatcher({
    folder,
    spaceId,
    ledger,
    signal,
    onDelete: options.onDelete,
    scanIntervalMs: options.scanIntervalMs,
    ...omitUndefined({ pollMs: options.pollMs }),
    connect: options.connect,
    walk: { ...walk, nameOf: (path) => names.find(path) },
    onChange: (change) => {
      printChange(change, out, tally)
      if (change.jobId !== undefined && !options.once) follower.add(change)
    },
    onState: createStateReporter(folder, options),
    onSkipped: (skipped) => printSkipped(out, skipped, { isLocal: options.service.kind === 'local' }),
  })
  if (options.acceptMissing) watcher.acceptMissing()
  return watcher
}

/** A ledger in the daemon; in a local file if the daemon has no access to local files. */
async function openLocalLedger(options: WatchSessionOptions, folder: string, file: string): Promise<WatchLedger> {
  const ledger = createServiceLedger(options.spaceId, folder)
  const client = await options.connect()
  try {
    await client.request('GET /knowledge-spaces/{id}/local-files', {
      path: { id: options.spaceId },
      query: { root: folder, limit: '1' },
    })
    return ledger
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 501)) {
      return createFileLedger(`${file}.jsonl`, options.spaceId)
    }
    throw error
  } finally {
    client.close()
  }
}

/** Locks a folder for a space, since two processes would repeat all work. @throws CliError exit 6 */
export function lockWatch(file: string, folder: string): () => void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const lock = acquireLock(`${file}.lock`)
  if (lock !== undefined) return () => lock.release()
  throw new CliError(`another process watches ${folder} for this space`, {
    code: 'already-watched',
    exit: EXIT.conflict,
    hint: '`ks watch` shows what the daemon watches',
  })
}

function printChange(change: WatchedChange, out: Output, tally: { changes: number; failed: number }): void {
  const { status, filename, reason } = change
  if (status === 'failed') tally.failed += 1
  else if (status !== 'published' && status !== 'skipped') tally.changes += 1
  if (out.isJson) {
    out.event('watch.file', change)
  } else if (out.format === 'tsv') {
    out.raw(`${[status, filename, reason ?? ''].map((value) => formatMachineCell(value)).join('\t')}\n`)
  } else if (status !== 'published') {
    const reasonText = reason === undefined ? '' : `: ${removeNamePrefix(reason, filename)}`
    out.line(ttyLine(`${STATUS_MARKS[status]} ${ttyName(filename)}${reasonText}`))
  }
}

/** Reports a state once, not again when only its numbers change. */
function createStateReporter(
  folder: string,
  { out, spaceName, once }: WatchSessionOptions,
): (state: WatchState) => void {
  let lastReported = ''
  return (state) => {
    const detail = state.detail === undefined ? '' : `: ${state.detail}`
    if (lastReported === state.state + detail || state.state === 'starting' || state.state === 'syncing') return
    lastReported = state.state + detail
    if (out.isJson) out.event('watch.state', { folder, ...state })
    else if (state.state !== 'watching') out.warn(`ks: ${folder} ${state.state}${detail}`)
    else if (!once) out.note(`ks: watching ${folder} for ${spaceName}, ${pluralize(state.files ?? 0, 'file')}${detail}`)
  }
}

/** Reports the result of a scan with `once`. @throws CliError exit 3 if files failed or are missing */
function reportOnce(watchers: FolderWatcher[], tally: { changes: number; failed: number }, out: Output): void {
  const withheldCount = watchers.reduce((sum, watcher) => sum + watcher.withheldCount, 0)
  if (tally.changes + tally.failed + withheldCount === 0) out.note('ks: nothing changed')
  if (withheldCount + tally.failed === 0) return
  const missing = withheldCount === 0 ? [] : [`${pluralize(withheldCount, 'missing file')} not treated as deleted`]
  const failed = tally.failed === 0 ? [] : [`${pluralize(tally.failed, 'file')} not ingested`]
  throw new CliError([...failed, ...missing].join(', '), {
    code: 'partly-failed',
    exit: EXIT.partial,
    ...(withheldCount === 0 ? {} : { hint: '`--accept-missing` removes their documents' }),
  })
}

function toStoppedError(changes: number): InterruptedError {
  return new InterruptedError(
    `stopped watching after ${pluralize(changes, 'change')}`,
    '`ks watch add` keeps a watch in the daemon',
  )
}
