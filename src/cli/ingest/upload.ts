import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.js'
import { ApiError, ConnectionError } from '../../client/errors.js'
import { type UploadPart, UploadReadError } from '../../client/multipart.js'
import { defined } from '../../lib/defined.js'
import type { FileToSend } from './known-files.js'
import { readFailure } from './walk.js'

/** The service's result for one file. */
export type Sent =
  | { file: FileToSend; documentId: string; jobId: string; stage: string; bulkJobId?: string }
  | { file: FileToSend; documentId: string; stage: 'published' }
  | { file: FileToSend; failed: string; code?: string }

export interface UploadOptions {
  client: Client
  spaceId: string
  sourceId: string | undefined
  signal: AbortSignal
  onBytes: (bytes: number) => void
  mimeType?: string | undefined
}

/** Large enough to amortize a request and its commit, small enough that one refusal is cheap. */
const BATCH_FILES = 64
const BATCH_BYTES = 16 * 1024 * 1024
/** Retries of a full or restarting service, with backoff, for about five minutes. */
const RETRIES = 20
const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 20_000
/** Retries after a broken connection; repeated uploads are safe, since content is identified by hash. */
const CONNECTION_RETRIES = 3

/** Groups files into requests: small ones together, large ones alone. */
export function batches(files: readonly FileToSend[]): FileToSend[][] {
  const all: FileToSend[][] = []
  let current: FileToSend[] = []
  let size = 0
  for (const file of files) {
    if (file.size > BATCH_BYTES) {
      all.push([file])
      continue
    }
    if (current.length === BATCH_FILES || size + file.size > BATCH_BYTES) {
      all.push(current)
      current = []
      size = 0
    }
    current.push(file)
    size += file.size
  }
  if (current.length > 0) all.push(current)
  return all
}

/**
 * Sends one batch. An unreadable file fails alone and the others are sent again. A refusal that one file may have
 * caused is narrowed down by halving the batch, so that only this file fails, with the service's message.
 */
export async function sendBatch(files: FileToSend[], options: UploadOptions): Promise<Sent[]> {
  const failed: Sent[] = []
  let left = files
  while (left.length > 0) {
    try {
      return [...failed, ...(await withRetries(left, options))]
    } catch (error) {
      if (error instanceof UploadReadError) {
        const file = left.find((one) => one.filename === error.filename)
        if (file === undefined) throw error
        failed.push({ file, failed: readReason(error) })
        left = left.filter((one) => one !== file)
      } else if (error instanceof ApiError && !endsAll(error)) {
        const { code, message, status } = error
        if (left.length > 1 && (status === 413 || status === 400)) {
          const half = Math.ceil(left.length / 2)
          const first = await sendBatch(left.slice(0, half), options)
          return [...failed, ...first, ...(await sendBatch(left.slice(half), options))]
        }
        return [...failed, ...left.map((file) => ({ file, failed: message, code }))]
      } else {
        throw error
      }
    }
  }
  return failed
}

/** Whether the error concerns all files: a missing space, a refused token or a full disk. */
function endsAll(error: ApiError): boolean {
  if (error.code === 'storage-full') return true
  return error.status === 401 || error.status === 403 || error.status === 404 || error.status === 501
}

function readReason(error: UploadReadError): string {
  return error.changed ? 'changed while it was read' : readFailure(error.cause)
}

async function withRetries(files: FileToSend[], options: UploadOptions): Promise<Sent[]> {
  let pause = RETRY_FIRST_MS
  for (let attempt = 0; ; attempt++) {
    try {
      return files.length === 1 && files[0] !== undefined
        ? await sendOne(files[0], options)
        : await sendMany(files, options)
    } catch (error) {
      if (!mayRetry(error, attempt)) throw error
      const asked = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0
      await sleep(Math.max(asked, pause), undefined, { signal: options.signal })
      pause = Math.min(RETRY_MAX_MS, pause * 2)
    }
  }
}

function mayRetry(error: unknown, attempt: number): boolean {
  if (error instanceof ConnectionError) return attempt < CONNECTION_RETRIES
  if (!(error instanceof ApiError) || attempt >= RETRIES) return false
  // A full storage needs an operator, so it is reported at once.
  if (error.code === 'storage-full') return false
  return error.status === 503 || (error.status === 429 && error.code !== 'quota-exceeded')
}

async function sendOne(file: FileToSend, options: UploadOptions): Promise<Sent[]> {
  const answer = await options.client.upload(
    'POST /knowledge-spaces/{id}/documents',
    { path: { id: options.spaceId }, field: 'file', files: [part(file, options)], ...partsOf(options) },
    options.onBytes,
  )
  if (!('asset' in answer)) return [{ file, documentId: answer.id, stage: 'published' }]
  const { asset, compilationJob } = answer
  return [{ file, documentId: asset.id, jobId: compilationJob.id, stage: compilationJob.stage }]
}

async function sendMany(files: FileToSend[], options: UploadOptions): Promise<Sent[]> {
  const parts = files.map((file) => part(file, options))
  const answer = await options.client.upload(
    'POST /knowledge-spaces/{id}/documents/bulk',
    { path: { id: options.spaceId }, field: 'files', files: parts, ...partsOf(options) },
    options.onBytes,
  )
  const take = itemsByName(answer.items)
  return files.map((file) => {
    const item = take(file.filename)
    if (item === undefined) return { file, failed: 'missing in the reply of the service' }
    const { asset, compilationJob } = item
    const { bulkJobId } = answer
    return { file, documentId: asset.id, jobId: compilationJob.id, stage: compilationJob.stage, bulkJobId }
  })
}

/**
 * Items are in the order in which files were stored. An item that the service renamed is matched by similar letters.
 */
function itemsByName<T extends { asset: { filename: string } }>(items: readonly T[]): (name: string) => T | undefined {
  const left = new Map(items.map((item) => [item.asset.filename, item]))
  return (name) => {
    const key = left.has(name) ? name : renamed(name, left.keys())
    const item = left.get(key)
    left.delete(key)
    return item
  }
}

/** The most similar name: older versions of the service trimmed names and removed punctuation. */
function renamed(name: string, candidates: Iterable<string>): string {
  const letters = (text: string) => text.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '')
  const wanted = letters(name)
  return [...candidates].find((candidate) => wanted.endsWith(letters(candidate))) ?? name
}

function part(file: FileToSend, options: UploadOptions): UploadPart {
  const { path, size, root } = file
  const content = { path, size, ...defined({ root }) }
  return options.mimeType === undefined
    ? { filename: file.filename, content }
    : { filename: file.filename, content, mimeType: options.mimeType }
}

function partsOf({ sourceId, signal }: UploadOptions): { fields?: Record<string, string>; signal: AbortSignal } {
  return sourceId === undefined ? { signal } : { fields: { sourceId }, signal }
}
