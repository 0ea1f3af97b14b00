import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { defined } from '../../lib/defined.js'
import { isCode } from '../../local/private-file.js'

/**
 * Content of a write-ahead log, read from the file itself (https://sqlite.org/fileformat2.html#the_write_ahead_log).
 * SQLite keeps its locks on the database and the `-shm` file, so reading this file releases none.
 */
export interface WalContent {
  pageSize: number
  /** pages of the database after the last complete transaction; 0 when there is none */
  databasePages: number
  /** pages that the complete transactions contain */
  pages: ReadonlySet<number>
  /** the first bytes of page 1, when the complete transactions contain it */
  head?: Buffer
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682
const HEAD_BYTES = 100

/** @returns nothing when there is no log, or one with an invalid header */
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
 * Rewrites the log, byte for byte as it reads, and syncs it. After a failed sync the kernel considers pages written
 * that may never have reached the disk, and a second sync reports nothing; rewritten pages it must write again. The
 * caller holds the write lock, so no other writer appends to the log or resets it.
 *
 * @param frames number of frames that SQLite knows in it
 * @throws an `Error` where it does not read back as written, and the error of the disk
 */
export function rewriteWal(path: string, frames: number): void {
  const file = openSync(path, 'r+')
  try {
    const header = readHeader(file, fstatSync(file).size)
    if (header === undefined) {
      if (frames === 0) return
      throw new Error(`the log ${path} has no valid header`)
    }
    let count = 0
    for (const { bytes, at } of framesOf(file, fstatSync(file).size, header)) {
      if (count === frames) break
      writeWhole(file, bytes, at)
      count++
    }
    if (count < frames) throw new Error(`of ${frames} frames of the log ${path} only ${count} are valid`)
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

/** The valid frames of the current round of the log. The buffer is reused for each. */
function* framesOf(file: number, size: number, { bytes: header, little, sum: first, pageSize }: Header) {
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES + pageSize)
  let sum = first
  for (let at = HEADER_BYTES; at + bytes.length <= size; at += bytes.length) {
    if (readSync(file, bytes, 0, bytes.length, at) < bytes.length) return
    if (bytes.compare(header, 16, 24, 8, 16) !== 0) return // from an earlier round of the log
    sum = checksum(bytes, 0, 8, little, sum)
    sum = checksum(bytes, FRAME_HEADER_BYTES, bytes.length, little, sum)
    if (sum[0] !== bytes.readUInt32BE(16) || sum[1] !== bytes.readUInt32BE(20)) return
    yield { bytes, at }
  }
}

/** The checksum of SQLite's log: two sums over pairs of 32-bit words, continued from frame to frame. */
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
