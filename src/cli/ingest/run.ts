import pLimit from 'p-limit'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { IngestRecord } from '../json-output/documents.js'
import { formatReadingProgress, listReadings } from '../reading.js'
import { ttyName } from '../terminal.js'
import { poll } from '../wait.js'
import type { IngestCounts } from './counts.js'
import { followJobs, getFailedStatus, type PendingDocument } from './follow.js'
import type { HashCache } from './hash-cache.js'
import type { HashedFile } from './known-files.js'
import { CHUNK_FILES, type PendingFile, planChunk, type SettledFile, selectUnknown } from './plan.js'
import type { FileRecorder } from './recorder.js'
import type { RecordPrinter } from './records.js'
import { type IngestService, MAX_OUTAGES_PER_CALL, ServiceRecoveredError } from './recovering-service.js'
import { type FileUploadResult, sendBatch, splitIntoBatches } from './upload.js'
import type { FoundFile } from './walk.js'

export interface IngestOptions {
  client: IngestService
  spaceId: string
  sourceId?: string | undefined
  cache: HashCache
  recorder?: FileRecorder | undefined
  printer: RecordPrinter
  counts: IngestCounts
  maxSize?: number | undefined
  mimeType?: string | undefined
  concurrency: number
  /** Whether to follow every document until it is published or failed. */
  wait: boolean
  failFast: boolean
  dryRun: boolean
  signal: AbortSignal
}

/** The next chunk is read while the service compares one. */
const CONCURRENT_CHUNKS = 2

/** Work that continues in the service after the command. */
export interface IngestResult {
  openJobCount: number
}

/**
 * Ingests files into a space: inspects them in chunks, uploads new files while later chunks are inspected, and
 * optionally follows the compilations. Every sent file has a record at the end, also at that of an error.
 *
 * @throws the signal's reason if it aborts; ApiError if the space or the token is refused
 */
export async function ingest(files: readonly FoundFile[], options: IngestOptions): Promise<IngestResult> {
  const run = new IngestRun(files, options)
  try {
    await run.send().finally(() => options.cache.save())
    if (options.wait) await run.follow()
  } catch (error) {
    run.recordUnfinished()
    throw error
  }
  return { openJobCount: run.openJobCount }
}

class IngestRun {
  private readonly files: readonly FoundFile[]
  private readonly options: IngestOptions
  /** Sent documents whose compilation has not ended, by index of the file. */
  private readonly compiling = new Map<number, PendingDocument>()
  /** Files whose compilation the service reports as pending without naming its job, by index. */
  private readonly pending = new Map<number, PendingFile>()
  /** Indexes of files whose last compilation failed or was canceled. */
  private readonly retried = new Set<number>()
  private isStopped = false
  private failure: unknown

  constructor(files: readonly FoundFile[], options: IngestOptions) {
    this.files = files
    this.options = options
  }

  get openJobCount(): number {
    return this.compiling.size + this.pending.size
  }

  async send(): Promise<void> {
    const planning = pLimit(CONCURRENT_CHUNKS)
    const uploading = pLimit(this.options.concurrency)
    const chunks: Promise<void>[] = []
    for (let start = 0; start < this.files.length; start += CHUNK_FILES) {
      const chunk = planning(async () => {
        if (this.isStopped) return []
        this.options.signal.throwIfAborted()
        return splitIntoBatches(await this.plan(start))
      })
      const uploads = chunk.then(async (batches) => {
        await Promise.all(batches.map((batch) => uploading(() => this.sendBatch(batch))))
      })
      chunks.push(uploads.catch((error: unknown) => this.stop(error)))
    }
    await Promise.all(chunks)
    if (this.failure !== undefined) throw this.failure
  }

  async follow(): Promise<void> {
    const { client, signal, counts } = this.options
    counts.followed = this.openJobCount
    const documents = [...this.compiling.values()]
    await followJobs(documents, {
      client,
      signal,
      onProgress: (endedCount) => {
        counts.endedInBulk = endedCount
      },
      onRound: async () => {
        const readings = await listReadings(client, this.options.spaceId)
        counts.reading = readings.map(
          ({ filename, progress }) => `${ttyName(filename)}, ${formatReadingProgress(progress)}`,
        )
      },
      onEnded: (index, outcome) => {
        const document = this.compiling.get(index)
        const ids = document === undefined ? {} : { documentId: document.documentId, jobId: document.jobId }
        this.compiling.delete(index)
        this.record(index, { filename: this.files[index]?.filename ?? '', ...outcome, ...ids })
      },
    })
    counts.reading = []
    const pending = [...this.pending.values()]
    for (let start = 0; start < pending.length; start += CHUNK_FILES) {
      await this.followPending(pending.slice(start, start + CHUNK_FILES))
    }
  }

  /** Records the files whose compilation has not ended, and those that wait for the records of others. */
  recordUnfinished(): void {
    if (this.options.wait) {
      for (const [index, { documentId, jobId }] of this.compiling)
        this.record(index, { filename: this.files[index]?.filename ?? '', status: 'queued', documentId, jobId })
      for (const [index, { filename, wasSent }] of this.pending)
        this.record(index, { filename, status: wasSent ? 'queued' : 'unchanged' })
    }
    this.options.printer.flush()
  }

  /** Inspects a chunk of files. @returns those to send */
  private async plan(start: number): Promise<HashedFile[]> {
    const { options } = this
    const plan = await planChunk(this.files.slice(start, start + CHUNK_FILES), start, {
      client: options.client,
      spaceId: options.spaceId,
      cache: options.cache,
      sourceId: options.sourceId,
      maxSize: options.maxSize,
      recorder: options.recorder,
      onInspected: () => {
        options.counts.checked += 1
      },
    })
    for (const settled of plan.settled) this.settle(settled)
    for (const { index, isRetry } of plan.send) if (isRetry) this.retried.add(index)
    if (options.dryRun) {
      for (const { index, filename } of plan.send) this.record(index, { filename, status: 'queued' })
      return []
    }
    options.counts.filesToSend += plan.send.length
    options.counts.bytesToSend += plan.send.reduce((sum, file) => sum + file.size, 0)
    return plan.send
  }

  private stop(error: unknown): void {
    this.failure ??= error
    this.isStopped = true
  }

  private async sendBatch(batch: HashedFile[]): Promise<void> {
    if (this.isStopped) return
    const { counts } = this.options
    let sentBytes = 0
    const onBytes = (bytes: number) => {
      sentBytes += bytes
      counts.bytesSent += bytes
    }
    const results = await this.sendOnce(batch, onBytes)
    // Corrects the count for bytes that were sent twice or only in part.
    counts.bytesSent += batch.reduce((sum, file) => sum + file.size, 0) - sentBytes
    counts.filesSent += batch.length
    for (const result of results) this.recordSent(result)
  }

  /** Sends files. After an outage, only those that the service has not taken are sent again. */
  private async sendOnce(batch: HashedFile[], onBytes: (bytes: number) => void): Promise<FileUploadResult[]> {
    const { client, spaceId, sourceId, signal, mimeType } = this.options
    let files = batch
    for (let outages = 0; files.length > 0; outages++) {
      try {
        return await sendBatch(files, { client, spaceId, sourceId, signal, mimeType, onBytes })
      } catch (error) {
        if (!(error instanceof ServiceRecoveredError)) throw error
        if (outages === MAX_OUTAGES_PER_CALL) throw error.cause
      }
      const { send, settled } = await selectUnknown(files, { client, spaceId, sourceId })
      for (const taken of settled) this.settleTaken(taken)
      files = send
    }
    return []
  }

  /** Records a file that the service had taken before an outage. */
  private settleTaken({ index, record, pending }: SettledFile): void {
    if (pending !== undefined) this.pending.set(index, { ...pending, wasSent: true })
    if (pending === undefined) this.record(index, { ...record, status: 'published' })
    else if (!this.options.wait) this.record(index, { ...record, status: 'queued' })
  }

  private recordSent(result: FileUploadResult): void {
    const { index, filename } = result.file
    if ('failed' in result) {
      const { failed: reason, code } = result
      this.record(index, { filename, status: 'failed', reason, ...omitUndefined({ code }) })
      return
    }
    const { documentId } = result
    if (!('jobId' in result) || result.stage === 'published') {
      this.record(index, { filename, status: 'published', documentId })
      return
    }
    const { jobId, bulkJobId } = result
    this.compiling.set(index, { index, documentId, jobId, ...omitUndefined({ bulkJobId }) })
    if (!this.options.wait) this.record(index, { filename, status: 'queued', documentId, jobId })
  }

  private settle({ index, record, pending }: SettledFile): void {
    if (record.status === 'unchanged') this.options.counts.unchanged += 1
    if (pending !== undefined && this.options.wait && !this.options.dryRun) this.pending.set(index, pending)
    else this.record(index, record)
  }

  /** Polls documents until none is pending. */
  private async followPending(documents: PendingFile[]): Promise<void> {
    const { client, spaceId, sourceId, signal } = this.options
    let remaining = documents
    await poll(async () => {
      const { items } = await client.request('POST /knowledge-spaces/{id}/documents/check', {
        path: { id: spaceId },
        body: {
          items: remaining.map(({ filename, sha256 }) => ({ filename, sha256 })),
          ...omitUndefined({ sourceId }),
        },
      })
      const stillPending: PendingFile[] = []
      for (const [position, file] of remaining.entries()) {
        const state = items[position]
        if (state?.status === 'unchanged' && state.parserStatus === 'pending') {
          stillPending.push(file)
          continue
        }
        const { index, filename, wasSent } = file
        const documentId = state?.documentId
        const reason = state?.error ?? 'it could not be read'
        if (state?.status === 'unchanged') this.record(index, { filename, status: wasSent ? 'published' : 'unchanged' })
        else {
          const status =
            documentId === undefined ? 'failed' : await getFailedStatus(client, { id: spaceId, documentId })
          this.record(index, { filename, status, reason, ...omitUndefined({ documentId }) })
        }
        this.pending.delete(index)
      }
      remaining = stillPending
      return remaining.length === 0 ? true : undefined
    }, signal)
  }

  private record(index: number, record: IngestRecord): void {
    if (record.status === 'published') this.options.counts.published += 1
    if (record.status === 'failed') {
      this.options.counts.failed += 1
      if (this.options.failFast) this.isStopped = true
    }
    this.options.printer.set(index, this.retried.has(index) ? { ...record, retried: true } : record)
  }
}
