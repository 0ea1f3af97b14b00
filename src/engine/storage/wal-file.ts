import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { defined } from '../../lib/defined.js'
import { isCode } from '../../local/private-file.js'

/**
 * What a write-ahead log holds, read from the file itself (https://sqlite.org/fileformat2.html#the_write_ahead_log).
 * SQLite keeps its locks on the database and the `-shm` file, so reading this one from outside takes none away.
 */
export interface WalContent {
  pageSize: number
  /** pages of the database after the last whole transaction; 0 when there is none */
  databasePages: number
  /** pages that the whole transactions hold */
  pages: ReadonlySet<number>
  /** the first bytes of page 1, when the whole transactions hold it */
  head?: Buffer
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682
const HEAD_BYTES = 100

/** @returns nothing when there is no log, or one without a header that can be trusted */
export function readWal(path: string): WalContent | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    return readFrames(file, fstatSync(file).size)
  } finally {
    closeSync(file)
  }
}

/**
 * Writes the log again, byte for byte as it reads, and syncs it. After a sync that failed the kernel takes for written
 * what may never have reached the disk, and a second sync would tell nothing; what is written again, it has to write again.
 * To be called with the lock of writers in hand: nobody else writes to the log then, nor empties it.
 *
 * @param frames that SQLite knows in it
 * @throws an `Error` where it does not read as it was written, and what the disk says
 */
export function rewriteWal(path: string, frames: number): void {
  const file = openSync(path, 'r+')
  try {
    const header = readHeader(file, fstatSync(file).size)
    if (header === undefined) {
      if (frames === 0) return
      throw new Error(`the log ${path} has lost its header`)
    }
    let count = 0
    for (const { bytes, at } of framesOf(file, fstatSync(file).size, header)) {
      if (count === frames) break
      writeWhole(file, bytes, at)
      count++
    }
    if (count < frames) throw new Error(`of ${frames} frames of the log ${path} ${count} read as they were written`)
    writeWhole(file, header.bytes, 0)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}

function writeWhole(file: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, at + done)
}

function readFrames(file: number, size: number): WalContent | undefined {
  const header = readHeader(file, size)
  if (header === undefined) return undefined
  const pages = new Set<number>()
  let databasePages = 0
  let head: Buffer | undefined
  let open: { page: number; head?: Buffer }[] = []
  for (const { bytes: frame } of framesOf(file, size, header)) {
    const page = frame.readUInt32BE(0)
    open.push({
      page,
      ...(page === 1 ? { head: Buffer.from(frame.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + HEAD_BYTES)) } : {}),
    })
    const committed = frame.readUInt32BE(4)
    if (committed === 0) continue
    databasePages = committed
    for (const { page, head: bytes } of open) {
      pages.add(page)
      head = bytes ?? head
    }
    open = []
  }
  return { pageSize: header.pageSize, databasePages, pages, ...defined({ head }) }
}

interface Header {
  bytes: Buffer
  little: boolean
  sum: [number, number]
  pageSize: number
}

function readHeader(file: number, size: number): Header | undefined {
  const bytes = Buffer.alloc(HEADER_BYTES)
  if (size < HEADER_BYTES || readSync(file, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined
  const magic = bytes.readUInt32BE(0)
  if ((magic & ~1) >>> 0 !== MAGIC) return undefined
  const little = (magic & 1) === 0
  const sum = checksum(bytes, 0, 24, little, [0, 0])
  if (sum[0] !== bytes.readUInt32BE(24) || sum[1] !== bytes.readUInt32BE(28)) return undefined
  return { bytes, little, sum, pageSize: bytes.readUInt32BE(8) }
}

/** The frames of this round of the log, as far as they read as they were written. The buffer is used again for each. */
function* framesOf(file: number, size: number, { bytes: header, little, sum: first, pageSize }: Header) {
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES + pageSize)
  let sum = first
  for (let at = HEADER_BYTES; at + bytes.length <= size; at += bytes.length) {
    if (readSync(file, bytes, 0, bytes.length, at) < bytes.length) return
    if (bytes.compare(header, 16, 24, 8, 16) !== 0) return // of an earlier round of the log
    sum = checksum(bytes, 0, 8, little, sum)
    sum = checksum(bytes, FRAME_HEADER_BYTES, bytes.length, little, sum)
    if (sum[0] !== bytes.readUInt32BE(16) || sum[1] !== bytes.readUInt32BE(20)) return
    yield { bytes, at }
  }
}

/** The checksum of SQLite's log: two sums over pairs of 32-bit words, carried on from frame to frame. */
function checksum(
  bytes: Buffer,
  from: number,
  to: number,
  little: boolean,
  [first, second]: [number, number],
): [number, number] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let s0 = first
  let s1 = second
  for (let at = from; at < to; at += 8) {
    s0 = (s0 + view.getUint32(at, little) + s1) >>> 0
    s1 = (s1 + view.getUint32(at + 4, little) + s0) >>> 0
  }
  return [s0, s1]
}
