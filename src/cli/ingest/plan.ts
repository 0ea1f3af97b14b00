import { type BigIntStats, statSync } from 'node:fs'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { ErrorCode } from '../../contract/errors.js'
import { LIMITS } from '../../contract/limits.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { toFileFacts } from '../../local/file-facts.js'
import type { IngestRecord } from '../json-output/documents.js'
import { formatBytes } from '../units.js'
import { describeOverLimit, getUploadLimit } from '../upload-limit.js'
import { type HashCache, hashFile } from './hash-cache.js'
import { EMPTY_FILE_REASON, type HashedFile } from './known-files.js'
import type { FileRecorder } from './recorder.js'
import type { IngestService } from './recovering-service.js'
import { describeFileFailure, type FoundFile } from './walk.js'

/** A file that needs no upload or cannot be uploaded. */
export interface SettledFile {
  index: number
  record: IngestRecord
  /** Present if the space has the file but its compilation is still running. */
  pending?: PendingFile
}

/** A file whose document is still being compiled. */
export interface PendingFile {
  index: number
  filename: string
  sha256: string
  /** Whether this run sent it, before an outage. */
  wasSent?: boolean
}

export interface PlanChunkOptions {
  client: IngestService
  spaceId: string
  cache: HashCache
  sourceId: string | undefined
  /** Maximum size in bytes from `--max-size`. */
  maxSize: number | undefined
  /** Called for each file that was inspected. */
  onInspected: () => void
  /** Records the source files of documents before they are sent. */
  recorder: FileRecorder | undefined
}

/** Maximum number of files in one check request. */
export const CHUNK_FILES = LIMITS.checkItems
/** Maximum time that reading small files blocks the event loop. */
const MAX_BLOCKING_MS = 50

/**
 * Decides which files of a chunk to send: reads metadata, computes missing hashes, sends the hashes to the service.
 *
 * @param firstIndex index of the first file among the files of the run
 */
export async function planChunk(
  files: readonly FoundFile[],
  firstIndex: number,
  options: PlanChunkOptions,
): Promise<{ send: HashedFile[]; settled: SettledFile[] }> {
  const settled: SettledFile[] = []
  const hashed: HashedFile[] = []
  const maxSize = await getUploadLimit(options.client)
  let lastYield = performance.now()
  for (const [offset, file] of files.entries()) {
    const inspected = await inspectFile(file, firstIndex + offset, options, maxSize)
    if ('record' in inspected) settled.push(inspected)
    else hashed.push(inspected)
    options.onInspected()
    if (performance.now() - lastYield > MAX_BLOCKING_MS) {
      await yieldToEventLoop()
      lastYield = performance.now()
    }
  }
  const selected = await selectUnknown(hashed, options)
  const skipped = new Set(selected.settled.flatMap(({ index, record }) => (record.status === 'skipped' ? [index] : [])))
  await options.recorder?.record(hashed.filter(({ index }) => !skipped.has(index)))
  return { send: selected.send, settled: [...settled, ...selected.settled] }
}

async function inspectFile(
  file: FoundFile,
  index: number,
  options: PlanChunkOptions,
  maxSize: number,
): Promise<HashedFile | SettledFile> {
  const { filename } = file
  const settle = (status: 'failed' | 'skipped', reason: string, code?: ErrorCode): SettledFile => ({
    index,
    record: { filename, status, reason, ...omitUndefined({ code }) },
  })
  let stats: BigIntStats
  try {
    stats = statSync(file.path, { bigint: true })
  } catch (error) {
    return settle('failed', describeFileFailure(error))
  }
  const size = Number(stats.size)
  if (filename.length > LIMITS.filename)
    return settle('failed', `its name is longer than ${LIMITS.filename} characters`)
  if (options.maxSize !== undefined && size > options.maxSize) {
    return settle('skipped', `${formatBytes(size)} is over --max-size ${formatBytes(options.maxSize)}`)
  }
  const tooLarge = describeOverLimit(size, maxSize)
  if (tooLarge !== undefined) return settle('failed', tooLarge, 'upload-too-large')
  try {
    let sha256 = options.cache.find(file.path, stats)
    if (sha256 === undefined) {
      const hashedAt = Date.now()
      sha256 = await hashFile(file.path, size, file.root)
      options.cache.add(file.path, stats, sha256, hashedAt)
    }
    return { ...file, index, size, sha256, facts: toFileFacts(stats, Date.now()) }
  } catch (error) {
    return settle('failed', describeFileFailure(error))
  }
}

/**
 * Asks the service which files the space does not have, and returns these as `send`, the others as `settled`. An empty
 * file is sent only if it replaces one with text.
 */
export async function selectUnknown(
  hashed: readonly HashedFile[],
  options: Pick<PlanChunkOptions, 'client' | 'spaceId' | 'sourceId'>,
): Promise<{ send: HashedFile[]; settled: SettledFile[] }> {
  if (hashed.length === 0) return { send: [], settled: [] }
  const reply = await options.client.request('POST /knowledge-spaces/{id}/documents/check', {
    path: { id: options.spaceId },
    body: {
      items: hashed.map(({ filename, sha256 }) => ({ filename, sha256 })),
      ...omitUndefined({ sourceId: options.sourceId }),
    },
  })
  const send: HashedFile[] = []
  const settled: SettledFile[] = []
  for (const [position, file] of hashed.entries()) {
    const state = reply.items[position]
    if (state?.status === 'unchanged') {
      const { index, filename, sha256 } = file
      const documentId = omitUndefined({ documentId: state.documentId })
      const record: IngestRecord = { filename, status: 'unchanged', ...documentId }
      const pending = state.parserStatus === 'pending' ? { pending: { index, filename, sha256 } } : {}
      settled.push({ index, record, ...pending })
    } else if (file.size === 0 && state?.status !== 'changed') {
      const { index, filename } = file
      settled.push({ index, record: { filename, status: 'skipped', reason: EMPTY_FILE_REASON } })
    } else {
      send.push(state?.status === 'failed' ? { ...file, isRetry: true } : file)
    }
  }
  return { send, settled }
}
