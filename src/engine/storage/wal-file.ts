import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
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

function readFrames(file: number, size: number): WalContent | undefined {
  const header = Buffer.alloc(HEADER_BYTES)
  if (size < HEADER_BYTES || readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return undefined
  const magic = header.readUInt32BE(0)
  if ((magic & ~1) >>> 0 !== MAGIC) return undefined
  const little = (magic & 1) === 0
  let sum = checksum(header, 0, 24, little, [0, 0])
  if (sum[0] !== header.readUInt32BE(24) || sum[1] !== header.readUInt32BE(28)) return undefined
  const pageSize = header.readUInt32BE(8)
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + pageSize)
  const pages = new Set<number>()
  let databasePages = 0
  let head: Buffer | undefined
  let open: { page: number; head?: Buffer }[] = []
  for (let at = HEADER_BYTES; at + frame.length <= size; at += frame.length) {
    if (readSync(file, frame, 0, frame.length, at) < frame.length) break
    if (frame.compare(header, 16, 24, 8, 16) !== 0) break // of an earlier round of the log
    sum = checksum(frame, 0, 8, little, sum)
    sum = checksum(frame, FRAME_HEADER_BYTES, frame.length, little, sum)
    if (sum[0] !== frame.readUInt32BE(16) || sum[1] !== frame.readUInt32BE(20)) break
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
  return { pageSize, databasePages, pages, ...defined({ head }) }
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
