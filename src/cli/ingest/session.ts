import type { Client } from '../../client/client.js'
import { ERRORS, EXIT } from '../../contract/errors.js'
import { CliError } from '../cli-error.js'
import type { Place } from '../contexts.js'
import { Interrupted, onInterrupt } from '../interrupt.js'
import type { Output } from '../output.js'
import { Progress } from '../progress.js'
import { ttyName } from '../terminal.js'
import { plural } from '../units.js'
import { ingestView, newCounts } from './counts.js'
import { HashCache } from './hash-cache.js'
import { FileRecorder } from './recorder.js'
import { groupByReason, type IngestRecord, RecordPrinter, summary } from './records.js'
import { ingest } from './run.js'
import type { Found } from './walk.js'

export interface SessionOptions {
  client: Client
  out: Output
  spaceId: string
  stateDir: string
  place: Place
  sourceId?: string | undefined
  mimeType?: string | undefined
  maxSize?: number | undefined
  concurrency: number
  wait: boolean
  failFast: boolean
  dryRun: boolean
  /** The files stay in place: the local daemon can detect later changes. */
  filesStay: boolean
  deadline: AbortSignal
  /** Print the results and fail if files failed; otherwise the caller does. */
  report: boolean
}

const SHOWN_SKIPPED = 5

/**
 * Ingests files with progress, prints the result of each, and reports failures.
 *
 * @throws CliError exit 3 if some files failed, 1 if all failed, 130 after Ctrl-C
 */
export async function ingestFiles(found: Found, options: SessionOptions): Promise<IngestRecord[]> {
  const { out } = options
  const counts = newCounts(found.files.length)
  const printer = new RecordPrinter(options.report ? out : undefined)
  const progress = new Progress({
    stream: process.stderr,
    live: out.isErrTerminal && !process.env.CI && process.env.TERM !== 'dumb',
    width: process.stderr.columns || 80,
    view: () => ingestView(counts, out.symbols),
  })
  const interrupt = onInterrupt(options.deadline)
  const place = options.place.kind === 'local' ? options.place.dataDir : options.place.url
  const cache = new HashCache(options.stateDir, `${place}\n${options.spaceId}`)
  const isRecorded =
    options.filesStay && options.place.kind === 'local' && options.sourceId === undefined && !options.dryRun
  const recorder = isRecorded ? new FileRecorder(options.client, options.spaceId) : undefined
  if (!out.isQuiet) progress.start()
  let open = 0
  try {
    open = (await ingest(found.files, { ...options, cache, recorder, printer, counts, signal: interrupt.signal })).open
  } catch (error) {
    if (!interrupt.wasInterrupted()) throw error
    progress.stop()
    throw detached(counts.sent, counts.toSend)
  } finally {
    progress.stop()
    interrupt.done()
  }
  const all = [...printer.all, ...passedOver(found)]
  if (options.report) conclude(all, passedOver(found), { ...options, open })
  return all
}

/** Records of files that were found and not ingested. */
function passedOver(found: Found): IngestRecord[] {
  return [
    ...found.skipped.map((file): IngestRecord => ({ ...file, status: 'skipped' })),
    ...found.failed.map((file): IngestRecord => ({ ...file, status: 'failed' })),
  ]
}

function detached(sent: number, toSend: number): Interrupted {
  const unsent = toSend > sent ? `, ${toSend - sent} not sent` : ''
  return new Interrupted(
    `interrupted: ${plural(sent, 'file')} sent${unsent}; sent files are still compiled`,
    'the same `ks ingest` continues; with `--wait` it follows the compilations',
  )
}

/** Prints the summary and the skipped files, and throws if files failed. */
function conclude(
  all: IngestRecord[],
  passed: IngestRecord[],
  options: { out: Output; open: number; dryRun: boolean },
): void {
  const { out } = options
  if (out.format === 'jsonl') for (const record of passed) out.event('ingest.file', record)
  if (out.format === 'json') out.json(all)
  const said = `${options.dryRun ? 'would ingest ' : ''}${summary(all)}`
  if (out.format === 'table') out.line(said)
  else out.note(`ks: ${said}`)
  nameSkipped(all, out)
  if (options.open > 0 && out.format === 'table') out.note('hint: compilation continues; `--wait` follows it')
  const failure = failureOf(all)
  if (failure !== undefined) throw failure
}

function nameSkipped(all: IngestRecord[], out: Output): void {
  const skipped = all.filter((record) => record.status === 'skipped')
  for (const { filename, reason } of skipped.slice(0, SHOWN_SKIPPED))
    out.note(`skipped ${ttyName(filename)}: ${reason ?? ''}`)
  if (skipped.length > SHOWN_SKIPPED) out.note(`skipped ${skipped.length - SHOWN_SKIPPED} more`)
}

function isOverLimit({ code }: IngestRecord): boolean {
  return Object.entries(ERRORS).some(([known, { exit }]) => known === code && exit === EXIT.overLimit)
}

/** The error for failed files: exit 3 if some failed; if all failed, 7 if all are over a limit, else 1. */
export function failureOf(all: readonly IngestRecord[]): CliError | undefined {
  const failed = all.filter((record) => record.status === 'failed')
  if (failed.length === 0) return undefined
  return new CliError(
    `${failed.length} of ${plural(all.length, 'file')} ${failed.length === 1 ? 'was' : 'were'} not ingested`,
    {
      code: 'partly-failed',
      exit: failed.length < all.length ? EXIT.partial : failed.every(isOverLimit) ? EXIT.overLimit : EXIT.failed,
      details: groupByReason(failed),
      hint: '`ks ingest … --format jsonl` lists every file',
    },
  )
}
