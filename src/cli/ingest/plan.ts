import { type BigIntStats, statSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import type { Client } from '../../client/client.js'
import type { ErrorCode } from '../../contract/errors.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import { fileFacts } from '../../local/file-facts.js'
import { bytes } from '../units.js'
import { overLimit, uploadLimit } from '../upload-limit.js'
import { type HashCache, hashFile } from './hash-cache.js'
import type { FileToSend, HashedFile } from './known-files.js'
import type { FileRecorder } from './recorder.js'
import type { IngestRecord } from './records.js'
import { type FoundFile, readFailure } from './walk.js'

/** A file that needs no upload or cannot be uploaded. */
export interface Settled {
  index: number
  record: IngestRecord
  /** Set if the space has the file but its compilation is still running. */
  pending?: Pending
}

export interface Pending {
  index: number
  filename: string
  sha256: string
}

export interface PlanOptions {
  client: Client
  spaceId: string
  cache: HashCache
  sourceId: string | undefined
  maxSize: number | undefined
  onHashed: () => void
  /** Records which files documents are made from, before they are sent. */
  recorder: FileRecorder | undefined
}

/** Maximum number of files in one check request. */
export const CHUNK = LIMITS.checkItems
/** Maximum time that reading small files blocks the event loop. */
const TURN_MS = 50

/** Decides which files of a chunk to send: reads metadata, computes missing hashes, asks the service. */
export async function planChunk(
  files: readonly FoundFile[],
  firstIndex: number,
  options: PlanOptions,
): Promise<{ send: FileToSend[]; settled: Settled[] }> {
  const settled: Settled[] = []
  const known: HashedFile[] = []
  const limit = await uploadLimit(options.client)
  let lastTurn = performance.now()
  for (const [offset, file] of files.entries()) {
    const inspected = await inspect(file, firstIndex + offset, options, limit)
    if ('record' in inspected) settled.push(inspected)
    else known.push(inspected)
    options.onHashed()
    if (performance.now() - lastTurn > TURN_MS) {
      await turn()
      lastTurn = performance.now()
    }
  }
  await options.recorder?.record(known)
  const send = await ask(known, options, settled)
  return { send, settled }
}

async function inspect(
  file: FoundFile,
  index: number,
  options: PlanOptions,
  limit: number,
): Promise<HashedFile | Settled> {
  const { filename } = file
  const settle = (status: 'failed' | 'skipped', reason: string, code?: ErrorCode): Settled => ({
    index,
    record: { filename, status, reason, ...defined({ code }) },
  })
  let stats: BigIntStats
  try {
    stats = statSync(file.path, { bigint: true })
  } catch (error) {
    return settle('failed', readFailure(error))
  }
  const size = Number(stats.size)
  if (filename.length > LIMITS.filename) return settle('failed', `its name is longer than ${LIMITS.filename} characters`)
  if (size === 0) return settle('skipped', 'is empty')
  if (options.maxSize !== undefined && size > options.maxSize) {
    return settle('skipped', `${bytes(size)} is over --max-size ${bytes(options.maxSize)}`)
  }
  const tooLarge = overLimit(size, limit)
  if (tooLarge !== undefined) return settle('failed', tooLarge, 'upload-too-large')
  try {
    let sha256 = options.cache.recall(file.path, stats)
    if (sha256 === undefined) {
      const hashedAt = Date.now()
      sha256 = await hashFile(file.path, size, file.root)
      options.cache.remember(file.path, stats, sha256, hashedAt)
    }
    return { ...file, index, size, sha256, facts: fileFacts(stats, Date.now()) }
  } catch (error) {
    return settle('failed', readFailure(error))
  }
}

/** Returns the files that the space does not have; appends the others to `settled`. */
async function ask(known: HashedFile[], options: PlanOptions, settled: Settled[]): Promise<FileToSend[]> {
  if (known.length === 0) return []
  const answer = await options.client.request('POST /knowledge-spaces/{id}/documents/check', {
    path: { id: options.spaceId },
    body: {
      items: known.map(({ filename, sha256 }) => ({ filename, sha256 })),
      ...defined({ sourceId: options.sourceId }),
    },
  })
  const send: FileToSend[] = []
  for (const [position, file] of known.entries()) {
    const state = answer.items[position]
    const documentId = state?.documentId === undefined ? {} : { documentId: state.documentId }
    if (state?.status === 'unchanged') {
      const record: IngestRecord = { filename: file.filename, status: 'unchanged', ...documentId }
      const { index, filename, sha256 } = file
      const pending = state.parserStatus === 'pending' ? { pending: { index, filename, sha256 } } : {}
      settled.push({ index, record, ...pending })
    } else {
      send.push(state?.status === 'failed' ? { ...file, isRetry: true } : file)
    }
  }
  return send
}
