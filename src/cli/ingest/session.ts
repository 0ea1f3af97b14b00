import type { Client } from '../../client/client.js'
import { ERRORS, EXIT } from '../../contract/errors.js'
import { formatCount, pluralize } from '../../lib/text/pluralize.js'
import { CliError } from '../cli-error.js'
import { type ConfiguredService, toServiceKey } from '../contexts.js'
import { InterruptedError, listenForInterrupt } from '../interrupt.js'
import type { IngestRecord } from '../json-output/documents.js'
import type { Output } from '../output.js'
import { Progress } from '../progress.js'
import { createIngestCounts, renderIngest } from './counts.js'
import { HashCache } from './hash-cache.js'
import { nameFiles } from './name-files.js'
import { FileRecorder } from './recorder.js'
import { formatSummary, groupByReason, printSkipped, RecordPrinter } from './records.js'
import { RecoveringService } from './recovering-service.js'
import { RootNames } from './root-names.js'
import { ingest } from './run.js'
import { recordSkipped, toSkipReport } from './skipped-files.js'
import type { WalkResult } from './walk.js'

export interface IngestSessionOptions {
  client: Client
  /** Opens a client of a service that has restarted. */
  reconnect: (options: { autostart: boolean }) => Promise<Client>
  out: Output
  spaceId: string
  stateDir: string
  service: ConfiguredService
  sourceId?: string | undefined
  mimeType?: string | undefined
  maxSize?: number | undefined
  concurrency: number
  wait: boolean
  failFast: boolean
  dryRun: boolean
  /** Whether the files stay in place, so that the local daemon can detect later changes. */
  filesStay: boolean
  deadline: AbortSignal
  /** Whether to print the results and fail if files failed; otherwise the caller does. */
  report: boolean
  /** Name of the only file or folder, from `--as`. */
  as?: string | undefined
}

/**
 * Ingests files with progress, prints the result of each, and reports failures. Waits for a service that restarts. The
 * summary is also printed before an error that ends the ingest.
 *
 * @throws CliError exit 3 if some files failed, 1 if all failed, 130 after Ctrl-C
 */
export async function ingestFiles(found: WalkResult, options: IngestSessionOptions): Promise<IngestRecord[]> {
  const { out, spaceId, as } = options
  const serviceKey = toServiceKey(options.service)
  const walked = await nameFiles(found, {
    client: options.client,
    spaceId,
    as,
    names: new RootNames(options.stateDir, serviceKey, spaceId),
    isRemembered: !options.dryRun,
    onNew: (sentence) => (options.report ? out.note(`ks: ${sentence}`) : undefined),
  })
  const counts = createIngestCounts(walked.files.length)
  const printer = new RecordPrinter(options.report ? out : undefined)
  const progress = new Progress({
    stream: process.stderr,
    live: out.isErrTerminal && !process.env.CI && process.env.TERM !== 'dumb',
    width: process.stderr.columns || 80,
    view: () => renderIngest(counts, out.symbols),
  })
  const interrupt = listenForInterrupt(options.deadline)
  const cache = new HashCache(options.stateDir, `${serviceKey}\n${options.spaceId}`)
  const isRecorded =
    options.filesStay && options.service.kind === 'local' && options.sourceId === undefined && !options.dryRun
  const { signal } = interrupt
  const client = new RecoveringService({
    client: options.client,
    reconnect: options.reconnect,
    name: options.service.kind === 'local' ? 'the local daemon' : options.service.url,
    isTokenRenewed: options.service.kind === 'local' && options.service.token === undefined,
    signal,
    note: (text) => progress.interrupt(() => out.note(text)),
  })
  const recorder = isRecorded ? new FileRecorder(client, options.spaceId) : undefined
  if (!out.isQuiet) progress.start()
  const notIngested = toRecords(walked)
  let openJobCount = 0
  try {
    openJobCount = (await ingest(walked.files, { ...options, client, cache, recorder, printer, counts, signal }))
      .openJobCount
  } catch (error) {
    progress.stop()
    const unsentCount = walked.files.length - printer.all.length
    const records = [...printer.all, ...notIngested]
    if (options.report && printer.all.length > 0) printRecords(records, notIngested, { ...options, unsentCount })
    throw interrupt.wasInterrupted() ? toInterruptedError(counts.filesSent, counts.filesToSend) : error
  } finally {
    progress.stop()
    interrupt.stopListening()
  }
  const records = [...printer.all, ...notIngested]
  if (!options.dryRun) await recordSkipped(client, spaceId, toSkipReport(records, walked))
  if (options.report) reportRecords(records, notIngested, { ...options, openJobCount })
  return records
}

/** Records of files that were found and not ingested. */
function toRecords(walked: WalkResult): IngestRecord[] {
  return [
    ...walked.skipped.map(({ filename, reason }): IngestRecord => ({ filename, reason, status: 'skipped' })),
    ...walked.failed.map(({ filename, reason }): IngestRecord => ({ filename, reason, status: 'failed' })),
  ]
}

function toInterruptedError(sentCount: number, totalCount: number): InterruptedError {
  const unsent = totalCount > sentCount ? `, ${formatCount(totalCount - sentCount)} not sent` : ''
  return new InterruptedError(
    `interrupted: ${pluralize(sentCount, 'file')} sent${unsent}; the service goes on reading them`,
    'the same `ks ingest` continues; with `--wait` it waits until all are read',
  )
}

type RecordsOptions = Pick<IngestSessionOptions, 'out' | 'dryRun' | 'service'>

/** Prints the summary and the skipped files, and throws if files failed. */
function reportRecords(
  records: IngestRecord[],
  notIngested: IngestRecord[],
  { openJobCount, ...options }: RecordsOptions & { openJobCount: number },
): void {
  const { out } = options
  printRecords(records, notIngested, { ...options, unsentCount: 0 })
  if (openJobCount > 0 && out.format === 'table') out.note('hint: compilation continues; `--wait` follows it')
  const failure = toIngestFailure(records)
  if (failure !== undefined) throw failure
}

/** Prints the summary and the skipped files. @param unsentCount number of files that an error left without a record */
function printRecords(
  records: IngestRecord[],
  notIngested: IngestRecord[],
  { out, dryRun, service, unsentCount }: RecordsOptions & { unsentCount: number },
): void {
  if (out.format === 'jsonl') for (const record of notIngested) out.event('ingest.file', record)
  if (out.format === 'json') out.json(records)
  const text = `${dryRun ? 'would ingest ' : ''}${formatSummary(records, unsentCount)}`
  if (out.format === 'table') out.line(text)
  else out.note(`ks: ${text}`)
  const skipped = records.filter((record) => record.status === 'skipped')
  printSkipped(out, skipped, { isLocal: service.kind === 'local' })
}

function isOverLimit({ code }: IngestRecord): boolean {
  return Object.entries(ERRORS).some(([known, { exit }]) => known === code && exit === EXIT.overLimit)
}

/** The error for failed files: exit 3 if some failed; if all failed, 7 if all are over a limit, else 1. */
export function toIngestFailure(records: readonly IngestRecord[]): CliError | undefined {
  const failed = records.filter((record) => record.status === 'failed')
  if (failed.length === 0) return undefined
  return new CliError(
    `${formatCount(failed.length)} of ${pluralize(records.length, 'file')} ${failed.length === 1 ? 'was' : 'were'} not ingested`,
    {
      code: 'partly-failed',
      exit: failed.length < records.length ? EXIT.partial : failed.every(isOverLimit) ? EXIT.overLimit : EXIT.failed,
      details: groupByReason(failed),
      hint: '`ks ingest … --format jsonl` lists every file',
    },
  )
}
