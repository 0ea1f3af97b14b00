import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, ConnectionError } from '../../client/errors.js'
import { type UploadPart, UploadReadError } from '../../client/multipart.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { FileToSend } from './known-files.js'
import type { IngestService } from './recovering-service.js'
import { describeFileFailure } from './walk.js'

/** The service's result for one file; `failed` is the reason of a failure. */
export type FileUploadResult =
  | { file: FileToSend; documentId: string; jobId: string; stage: string; bulkJobId?: string }
  | { file: FileToSend; documentId: string; stage: 'published' }
  | { file: FileToSend; failed: string; code?: string }

export interface UploadBatchOptions {
  client: Pick<IngestService, 'upload'>
  spaceId: string
  sourceId: string | undefined
  signal: AbortSignal
  onBytes: (bytes: number) => void
  mimeType?: string | undefined
}

/** Large enough to amortize a request and its commit, small enough that one refusal is cheap. */
const MAX_BATCH_FILES = 64
const MAX_BATCH_BYTES = 16 * 1024 * 1024
/** Retries of a busy or restarting service, with backoff, for about five minutes. */
const MAX_RETRIES = 20
const INITIAL_RETRY_DELAY_MS = 250
const MAX_RETRY_DELAY_MS = 20_000
/** Retries after a broken connection; repeated uploads are safe, since content is identified by hash. */
const MAX_CONNECTION_RETRIES = 3

/** Groups files into requests: small ones together, large ones alone. */
export function splitIntoBatches<T extends FileToSend>(files: readonly T[]): T[][] {
  const groups: T[][] = []
  let current: T[] = []
  let size = 0
  for (const file of files) {
    if (file.size > MAX_BATCH_BYTES) {
      groups.push([file])
      continue
    }
    if (current.length === MAX_BATCH_FILES || size + file.size > MAX_BATCH_BYTES) {
      groups.push(current)
      current = []
      size = 0
    }
    current.push(file)
    size += file.size
  }
  if (current.length > 0) groups.push(current)
  return groups
}

/**
 * Sends one batch. An unreadable file fails alone and the others are sent again. A refusal that one file may have
 * caused is narrowed down by halving the batch, so that only this file fails, with the service's message.
 */
export async function sendBatch(files: FileToSend[], options: UploadBatchOptions): Promise<FileUploadResult[]> {
  const failed: FileUploadResult[] = []
  let remaining = files
  while (remaining.length > 0) {
    try {
      return [...failed, ...(await sendWithRetries(remaining, options))]
    } catch (error) {
      if (error instanceof UploadReadError) {
        const file = remaining.find((candidate) => candidate.filename === error.filename)
        if (file === undefined) throw error
        const reason = error.hasShrunk ? 'changed while it was read' : describeFileFailure(error.cause)
        failed.push({ file, failed: reason })
        remaining = remaining.filter((candidate) => candidate !== file)
      } else if (error instanceof ApiError && !isGlobalFailure(error)) {
        const { code, message, status } = error
        if (remaining.length > 1 && (status === 413 || status === 400)) {
          const half = Math.ceil(remaining.length / 2)
          const first = await sendBatch(remaining.slice(0, half), options)
          return [...failed, ...first, ...(await sendBatch(remaining.slice(half), options))]
        }
        return [...failed, ...remaining.map((file) => ({ file, failed: message, code }))]
      } else {
        throw error
      }
    }
  }
  return failed
}

/** Whether the error concerns all files: a missing space, a refused token or a full disk. */
function isGlobalFailure(error: ApiError): boolean {
  if (error.code === 'storage-full') return true
  return error.status === 401 || error.status === 403 || error.status === 404 || error.status === 501
}

async function sendWithRetries(files: FileToSend[], options: UploadBatchOptions): Promise<FileUploadResult[]> {
  let delayMs = INITIAL_RETRY_DELAY_MS
  for (let attempt = 0; ; attempt++) {
    try {
      return files.length === 1 && files[0] !== undefined
        ? await uploadOne(files[0], options)
        : await uploadMany(files, options)
    } catch (error) {
      if (!isRetryable(error, attempt)) throw error
      const serverDelayMs = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0
      await sleep(Math.max(serverDelayMs, delayMs), undefined, { signal: options.signal })
      delayMs = Math.min(MAX_RETRY_DELAY_MS, delayMs * 2)
    }
  }
}

function isRetryable(error: unknown, attempt: number): boolean {
  if (error instanceof ConnectionError) return attempt < MAX_CONNECTION_RETRIES
  if (!(error instanceof ApiError) || attempt >= MAX_RETRIES) return false
  // A full storage needs an operator, so it is reported at once.
  if (error.code === 'storage-full') return false
  return error.status === 503 || (error.status === 429 && error.code !== 'quota-exceeded')
}

async function uploadOne(file: FileToSend, options: UploadBatchOptions): Promise<FileUploadResult[]> {
  const reply = await options.client.upload(
    'POST /knowledge-spaces/{id}/documents',
    { path: { id: options.spaceId }, field: 'file', files: [toUploadPart(file, options)], ...toRequestParts(options) },
    options.onBytes,
  )
  if (!('asset' in reply)) return [{ file, documentId: reply.id, stage: 'published' }]
  const { asset, compilationJob } = reply
  return [{ file, documentId: asset.id, jobId: compilationJob.id, stage: compilationJob.stage }]
}

async function uploadMany(files: FileToSend[], options: UploadBatchOptions): Promise<FileUploadResult[]> {
  const parts = files.map((file) => toUploadPart(file, options))
  const reply = await options.client.upload(
    'POST /knowledge-spaces/{id}/documents/bulk',
    { path: { id: options.spaceId }, field: 'files', files: parts, ...toRequestParts(options) },
    options.onBytes,
  )
  const takeItem = indexItemsByName(reply.items)
  return files.map((file) => {
    const item = takeItem(file.filename)
    if (item === undefined) return { file, failed: 'missing in the reply of the service' }
    const { asset, compilationJob } = item
    const { bulkJobId } = reply
    return { file, documentId: asset.id, jobId: compilationJob.id, stage: compilationJob.stage, bulkJobId }
  })
}

/**
 * Creates a function that takes the item of a file out of the reply, whose items are in the order of storage. An item
 * that the service renamed is matched by similar letters.
 */
function indexItemsByName<T extends { asset: { filename: string } }>(
  items: readonly T[],
): (name: string) => T | undefined {
  const remaining = new Map(items.map((item) => [item.asset.filename, item]))
  return (name) => {
    const key = remaining.has(name) ? name : findSimilarName(name, remaining.keys())
    const item = remaining.get(key)
    remaining.delete(key)
    return item
  }
}

/** The most similar name: older versions of the service trimmed names and removed punctuation. */
function findSimilarName(name: string, candidates: Iterable<string>): string {
  const toLetters = (text: string) => text.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '')
  const letters = toLetters(name)
  return [...candidates].find((candidate) => letters.endsWith(toLetters(candidate))) ?? name
}

function toUploadPart(file: FileToSend, { mimeType }: UploadBatchOptions): UploadPart {
  const { filename, path, size, root } = file
  return { filename, content: { path, size, ...omitUndefined({ root }) }, ...omitUndefined({ mimeType }) }
}

function toRequestParts({ sourceId, signal }: UploadBatchOptions): {
  fields?: Record<string, string>
  signal: AbortSignal
} {
  return sourceId === undefined ? { signal } : { fields: { sourceId }, signal }
}
