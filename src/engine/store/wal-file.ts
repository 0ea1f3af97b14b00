import { closeSync, fdatasyncSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { hasErrorCode } from '../../local/private-file.js'

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
const DATABASE_HEADER_BYTES = 100

/** @returns nothing when there is no log, or one with an invalid header */
export function readWal(path: string): WalContent | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
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
    for (const { bytes, at } of readValidFrames(file, fstatSync(file).size, header)) {
      if (count === frames) break
      writeAll(file, bytes, at)
      count++
    }
    if (count < frames) throw new Error(`of ${frames} frames of the log ${path} only ${count} are valid`)
    writeAll(file, header.bytes, 0)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
}

function writeAll(file: number, bytes: Buffer, offset: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, offset + done)
}

function readFrames(file: number, size: number): WalContent | undefined {
  const header = readHeader(file, size)
  if (header === undefined) return undefined
  const pages = new Set<number>()
  let databasePages = 0
  let head: Buffer | undefined
  let open: { page: number; head?: Buffer }[] = []
  for (const { bytes: frame } of readValidFrames(file, size, header)) {
    const page = frame.readUInt32BE(0)
    open.push({
      page,
      ...(page === 1
        ? { head: Buffer.from(frame.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + DATABASE_HEADER_BYTES)) }
        : {}),
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
  return { pageSize: header.pageSize, databasePages, pages, ...omitUndefined({ head }) }
}

interface WalHeader {
  bytes: Buffer
  isLittleEndian: boolean
  sum: [number, number]
  pageSize: number
}

function readHeader(file: number, size: number): WalHeader | undefined {
  const bytes = Buffer.alloc(HEADER_BYTES)
  if (size < HEADER_BYTES || readSync(file, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined
  const magic = bytes.readUInt32BE(0)
  if ((magic & ~1) >>> 0 !== MAGIC) return undefined
  const isLittleEndian = (magic & 1) === 0
  const sum = checksum(bytes.subarray(0, 24), isLittleEndian, [0, 0])
  if (sum[0] !== bytes.readUInt32BE(24) || sum[1] !== bytes.readUInt32BE(28)) return undefined
  return { bytes, isLittleEndian, sum, pageSize: bytes.readUInt32BE(8) }
}

/** The valid frames of the current round of the log. The buffer is reused for each. */
function* readValidFrames(
  file: number,
  size: number,
  { bytes: header, isLittleEndian, sum: first, pageSize }: WalHeader,
) {
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES + pageSize)
  let sum = first
  for (let offset = HEADER_BYTES; offset + bytes.length <= size; offset += bytes.length) {
    if (readSync(file, bytes, 0, bytes.length, offset) < bytes.length) return
    if (bytes.compare(header, 16, 24, 8, 16) !== 0) return // from an earlier round of the log
    sum = checksum(bytes.subarray(0, 8), isLittleEndian, sum)
    sum = checksum(bytes.subarray(FRAME_HEADER_BYTES), isLittleEndian, sum)
    if (sum[0] !== bytes.readUInt32BE(16) || sum[1] !== bytes.readUInt32BE(20)) return
    yield { bytes, at: offset }
  }
}

/** The checksum of SQLite's log: two sums over pairs of 32-bit words, continued from frame to frame. */
function checksum(bytes: Buffer, isLittleEndian: boolean, [first, second]: [number, number]): [number, number] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let s0 = first
  let s1 = second
  for (let offset = 0; offset < bytes.length; offset += 8) {
    s0 = (s0 + view.getUint32(offset, isLittleEndian) + s1) >>> 0
    s1 = (s1 + view.getUint32(offset + 4, isLittleEndian) + s0) >>> 0
  }
  return [s0, s1]
}
