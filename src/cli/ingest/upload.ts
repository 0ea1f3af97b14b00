import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.js'
import { ApiError, ConnectionError } from '../../client/errors.js'
import { type UploadPart, UploadReadError } from '../../client/multipart.js'
import { defined } from '../../lib/defined.js'
import type { FileToSend } from './known-files.js'
import { readFailure } from './walk.js'

/** What the service made of one file. */
export type Sent =
  | { file: FileToSend; documentId: string; jobId: string; stage: string; bulkJobId?: string }
  | { file: FileToSend; documentId: string; stage: 'published' }
  | { file: FileToSend; failed: string; code?: string }

export interface SendOptions {
  client: Client
  spaceId: string
  sourceId: string | undefined
  signal: AbortSignal
  onBytes: (bytes: number) => void
  mimeType?: string | undefined
}

/** Enough to amortise a request and its commit; little enough that one refusal costs little. */
const BATCH_FILES = 64
const BATCH_BYTES = 16 * 1024 * 1024
/** A service that is full or restarting is asked again, ever more slowly, for about five minutes. */
const RETRIES = 20
const RETRY_FIRST_MS = 250
const RETRY_MAX_MS = 20_000
/** A connection that breaks is not always the service's; uploads are safe to repeat, bytes have a hash. */
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
 * Sends one batch. A file that cannot be read fails alone and the others are sent again. A refusal that one file may
 * have caused is narrowed down by halves, so that it fails with the service's sentence and the others go on.
 */
export async function sendBatch(files: FileToSend[], options: SendOptions): Promise<Sent[]> {
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

/** A missing space, a refused token or a full disk concerns all files, not those of one request. */
function endsAll(error: ApiError): boolean {
  if (error.code === 'storage-full') return true
  return error.status === 401 || error.status === 403 || error.status === 404 || error.status === 501
}

function readReason(error: UploadReadError): string {
  return error.changed ? 'changed while it was read' : readFailure(error.cause)
}

async function withRetries(files: FileToSend[], options: SendOptions): Promise<Sent[]> {
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
  // room comes when somebody makes it, so somebody has to know
  if (error.code === 'storage-full') return false
  return error.status === 503 || (error.status === 429 && error.code !== 'quota-exceeded')
}

async function sendOne(file: FileToSend, options: SendOptions): Promise<Sent[]> {
  const answer = await options.client.upload(
    'POST /knowledge-spaces/{id}/documents',
    { path: { id: options.spaceId }, field: 'file', files: [part(file, options)], ...partsOf(options) },
    options.onBytes,
  )
  if (!('asset' in answer)) return [{ file, documentId: answer.id, stage: 'published' }]
  const { asset, compilationJob } = answer
  return [{ file, documentId: asset.id, jobId: compilationJob.id, stage: compilationJob.stage }]
}

async function sendMany(files: FileToSend[], options: SendOptions): Promise<Sent[]> {
  const parts = files.map((file) => part(file, options))
  const answer = await options.client.upload(
    'POST /knowledge-spaces/{id}/documents/bulk',
    { path: { id: options.spaceId }, field: 'files', files: parts, ...partsOf(options) },
    options.onBytes,
  )
  const take = itemsByName(answer.items)
  return files.map((file) => {
    const item = take(file.filename)
    if (item === undefined) return { file, failed: 'the service did not say what became of it' }
    const { asset, compilationJob } = item
    const { bulkJobId } = answer
    return { file, documentId: asset.id, jobId: compilationJob.id, stage: compilationJob.stage, bulkJobId }
  })
}

/** Items come in the order in which files were stored. One whose name the service changed goes to a file without one. */
function itemsByName<T extends { asset: { filename: string } }>(items: readonly T[]): (name: string) => T | undefined {
  const left = new Map(items.map((item) => [item.asset.filename, item]))
  return (name) => {
    const key = left.has(name) ? name : renamed(name, left.keys())
    const item = left.get(key)
    left.delete(key)
    return item
  }
}

/** The name that is most like the one that was sent: services of older versions trimmed names and took marks out. */
function renamed(name: string, candidates: Iterable<string>): string {
  const letters = (text: string) => text.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '')
  const wanted = letters(name)
  return [...candidates].find((candidate) => wanted.endsWith(letters(candidate))) ?? name
}

function part(file: FileToSend, options: SendOptions): UploadPart {
  const { path, size, root } = file
  const content = { path, size, ...defined({ root }) }
  return options.mimeType === undefined
    ? { filename: file.filename, content }
    : { filename: file.filename, content, mimeType: options.mimeType }
}

function partsOf({ sourceId, signal }: SendOptions): { fields?: Record<string, string>; signal: AbortSignal } {
  return sourceId === undefined ? { signal } : { fields: { sourceId }, signal }
}
