import { createHash } from 'node:crypto'
import { type BigIntStats, createReadStream } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { computeFingerprint, toFileFacts } from '../../../local/file-facts.js'
import { openInside } from '../../../local/open-inside.js'
import type { EngineContext } from '../context.js'
import { type LocalFileDocument, listLocalFileDocuments, updateFingerprint } from '../rows/local-files.js'

/** The state of a file compared with the document that was made from it. */
export type FileState = 'verified' | 'changed' | 'gone'

/** a file with changed times and the same size is read up to this size */
const MAX_READ_BYTES = 16 * 1024 * 1024
/** a query does not wait longer for the disk; files without a result by then are left out */
const MAX_WAIT_MS = 300
/** a disk that hangs blocks at most this many threads */
const MAX_PARALLEL_CHECKS = 4

let runningChecks = 0

/**
 * Checks the recorded files of documents; files without a record are left out, and all files if this daemon may not
 * read local files.
 *
 * @param documents row keys
 */
export async function checkLocalFiles(context: EngineContext, documents: number[]): Promise<Map<number, FileState>> {
  const { db, options } = context
  const states = new Map<number, FileState>()
  if (options.localFiles === undefined) return states
  const rows = await db.read(listLocalFileDocuments(documents))
  if (rows.length === 0) return states
  const checks = Promise.all(
    rows.map(async (row) => {
      const state = await checkFile(context, row)
      if (state !== undefined) states.set(row.key, state)
      if (state === 'changed' || state === 'gone') options.localFiles?.onStale(row.path)
    }),
  )
  await Promise.race([checks, sleep(MAX_WAIT_MS, undefined, { ref: false })])
  return new Map(states)
}

async function checkFile(context: EngineContext, row: LocalFileDocument): Promise<FileState | undefined> {
  if (runningChecks >= MAX_PARALLEL_CHECKS) return undefined
  runningChecks += 1
  try {
    const stats = await stat(row.path, { bigint: true })
    if (!stats.isFile()) return 'gone'
    const isSame = row.fingerprint === computeFingerprint(stats) || (await hasSameBytes(context, row, stats))
    // the bytes that were recorded last may belong to a document that is not published yet
    return isSame && row.sha256 === row.document_sha ? 'verified' : 'changed'
  } catch (error) {
    return isMissing(error) ? 'gone' : undefined
  } finally {
    runningChecks -= 1
  }
}

/** Reads a file whose times have changed; if its bytes have not, the new fingerprint is stored. */
async function hasSameBytes({ db, log }: EngineContext, row: LocalFileDocument, stats: BigIntStats): Promise<boolean> {
  const { fingerprint, size } = toFileFacts(stats, Date.now())
  const knownSize = Number(row.fingerprint.split('-')[0])
  if ((row.fingerprint !== '' && size !== knownSize) || size > MAX_READ_BYTES) return false
  const hash = createHash('sha256')
  // a symbolic link in place of the file or a parent folder is not followed out of the folder
  const fd = openInside(row.path, row.root === null ? undefined : await realpath(row.root))
  for await (const chunk of createReadStream('', { fd, ...(size === 0 ? {} : { end: size - 1 }) })) hash.update(chunk)
  if (hash.digest('hex') !== row.sha256) return false
  db.write(() => updateFingerprint(row, fingerprint)).catch((error: unknown) =>
    log.warn({ error: String(error) }, 'the fingerprint of a file could not be stored'),
  )
  return true
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
