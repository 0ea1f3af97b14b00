import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Client } from '../../client/client.js'
import { ApiError } from '../../client/errors.js'
import { EXIT } from '../../contract/errors.js'
import type { WatchState } from '../../contract/gateway/local-files.js'
import { defined } from '../../lib/defined.js'
import type { LocalDirs } from '../../local/dirs.js'
import { acquireLock } from '../../local/lock.js'
import { CliError } from '../cli-error.js'
import { cell } from '../columns.js'
import type { Place } from '../contexts.js'
import { withoutName } from '../ingest/records.js'
import { Interrupted, onInterrupt } from '../interrupt.js'
import type { Output } from '../output.js'
import { ttyLine, ttyName } from '../terminal.js'
import { plural } from '../units.js'
import { fileLedger, watchFile } from './file-ledger.js'
import { Follower } from './follower.js'
import { type Ledger, serviceLedger } from './ledger.js'
import { type WatchRules, walkOptionsOf } from './rules.js'
import { FolderWatcher } from './watcher.js'

export interface WatchSessionOptions {
  folders: string[]
  rules: WatchRules
  onDelete: 'remove' | 'keep'
  everyMs: number
  /** Polling interval; undefined if the file system decides whether to poll. */
  pollMs: number | undefined
  /** One scan without watching. */
  once: boolean
  acceptMissing: boolean
  spaceId: string
  /** Name of the space for messages. */
  spaceName: string
  place: Place
  dirs: LocalDirs
  out: Output
  connect: () => Promise<Client>
  deadline: AbortSignal
}

const MARKS = { added: '+', changed: '~', removed: '-', published: '=', failed: '!' } as const
const SHOWN_SKIPPED = 5

/**
 * Watches folders in the foreground until Ctrl-C and prints a line for each change; with `once`, updates the space and
 * exits.
 *
 * @throws CliError exit 6 if another `ks watch` watches one of them, 3 if files failed (`once`), 130 after Ctrl-C
 */
export async function watchFolders(options: WatchSessionOptions): Promise<void> {
  const { out, once } = options
  const interrupt = onInterrupt(options.deadline)
  const closers: (() => void)[] = []
  const tally = { changes: 0, failed: 0 }
  try {
    const watchers = []
    for (const folder of options.folders)
      watchers.push(await openWatcher(folder, options, interrupt.signal, closers, tally))
    if (!once && !out.isQuiet) out.note('Ctrl-C stops watching; the documents are kept')
    await Promise.all(watchers.map((watcher) => (once ? watcher.once() : watcher.run())))
    options.deadline.throwIfAborted()
    if (interrupt.wasInterrupted()) throw stopped(tally.changes)
    if (once) concludeOnce(watchers, tally, out)
  } finally {
    interrupt.done()
    for (const close of closers) close()
  }
}

async function openWatcher(
  folder: string,
  options: WatchSessionOptions,
  signal: AbortSignal,
  closers: (() => void)[],
  tally: { changes: number; failed: number },
): Promise<FolderWatcher> {
  const { spaceId, place, dirs, out, rules } = options
  const file = watchFile(dirs.state, place.kind === 'local' ? place.dataDir : place.url, spaceId, folder)
  closers.push(lockOf(file, folder))
  const ledger =
    place.kind === 'local' ? await localLedger(options, folder, file) : fileLedger(`${file}.jsonl`, spaceId)
  const client = await options.connect()
  closers.push(() => client.close())
  const follower = new Follower(client, signal, ({ filename, documentId }, outcome) =>
    print({ filename, ...defined({ documentId }), ...outcome }, out, tally),
  )
  const watcher = new FolderWatcher({
    folder,
    spaceId,
    ledger,
    signal,
    onDelete: options.onDelete,
    everyMs: options.everyMs,
    ...defined({ pollMs: options.pollMs }),
    connect: options.connect,
    walk: walkOptionsOf(folder, rules, dirs),
    onChange: (change) => {
      print(change, out, tally)
      if (change.jobId !== undefined && !options.once) follower.add(change)
    },
    onState: stateTeller(folder, options),
    onSkipped: (skipped) => {
      for (const { filename, reason } of skipped.slice(0, SHOWN_SKIPPED))
        out.note(`skipped ${ttyName(filename)}: ${reason}`)
      if (skipped.length > SHOWN_SKIPPED) out.note(`skipped ${skipped.length - SHOWN_SKIPPED} more`)
    },
  })
  if (options.acceptMissing) watcher.accept()
  return watcher
}

/** A ledger in the daemon; in a local file if the daemon has no access to local files. */
async function localLedger(options: WatchSessionOptions, folder: string, file: string): Promise<Ledger> {
  const ledger = serviceLedger(options.spaceId, folder)
  const client = await options.connect()
  try {
    await client.request('GET /knowledge-spaces/{id}/local-files', {
      path: { id: options.spaceId },
      query: { root: folder, limit: '1' },
    })
    return ledger
  } catch (error) {
    if (error instanceof ApiError && (error.status === 403 || error.status === 501)) {
      return fileLedger(`${file}.jsonl`, options.spaceId)
    }
    throw error
  } finally {
    client.close()
  }
}

/** Locks a folder for a space, since two processes would repeat all work. @throws CliError exit 6 */
export function lockOf(file: string, folder: string): () => void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const lock = acquireLock(`${file}.lock`)
  if (lock !== undefined) return () => lock.release()
  throw new CliError(`another process watches ${folder} for this space`, {
    code: 'already-watched',
    exit: EXIT.conflict,
    hint: '`ks watch list` shows what the daemon watches',
  })
}

interface Seen {
  filename: string
  status: keyof typeof MARKS
  reason?: string
  documentId?: string
}

function print(seen: Seen, out: Output, tally: { changes: number; failed: number }): void {
  const { status, filename, reason } = seen
  if (status === 'failed') tally.failed += 1
  else if (status !== 'published') tally.changes += 1
  if (out.isJson) {
    out.event('watch.file', seen)
  } else if (out.format === 'tsv') {
    out.raw(`${[status, filename, reason ?? ''].map((value) => cell(value)).join('\t')}\n`)
  } else if (status !== 'published') {
    const why = reason === undefined ? '' : `: ${withoutName(reason, filename)}`
    out.line(ttyLine(`${MARKS[status]} ${ttyName(filename)}${why}`))
  }
}

/** Reports a state once, not again when only its numbers change. */
function stateTeller(folder: string, { out, spaceName, once }: WatchSessionOptions): (state: WatchState) => void {
  let told = ''
  return (state) => {
    const detail = state.detail === undefined ? '' : `: ${state.detail}`
    if (told === state.state + detail || state.state === 'starting' || state.state === 'syncing') return
    told = state.state + detail
    if (out.isJson) out.event('watch.state', { folder, ...state })
    else if (state.state !== 'watching') out.warn(`ks: ${folder} ${state.state}${detail}`)
    else if (!once) out.note(`ks: watching ${folder} for ${spaceName}, ${plural(state.files ?? 0, 'file')}${detail}`)
  }
}

function concludeOnce(watchers: FolderWatcher[], tally: { changes: number; failed: number }, out: Output): void {
  const withheld = watchers.reduce((sum, watcher) => sum + watcher.withheld, 0)
  if (tally.changes + tally.failed + withheld === 0) out.note('ks: nothing changed')
  if (withheld + tally.failed === 0) return
  const missing = withheld === 0 ? [] : [`${plural(withheld, 'missing file')} not treated as deleted`]
  const failed = tally.failed === 0 ? [] : [`${plural(tally.failed, 'file')} not ingested`]
  throw new CliError([...failed, ...missing].join(', '), {
    code: 'partly-failed',
    exit: EXIT.partial,
    ...(withheld === 0 ? {} : { hint: '`--accept-missing` removes their documents' }),
  })
}

function stopped(changes: number): Interrupted {
  return new Interrupted(
    `stopped watching after ${plural(changes, 'change')}`,
    '`ks watch add` keeps a watch in the daemon',
  )
}
