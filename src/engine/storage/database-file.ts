import { closeSync, lstatSync, openSync, readSync } from 'node:fs'
import { readWal, type WalContent } from './wal-file.js'

const MAGIC = 'SQLite format 3\0'
const HEAD_BYTES = 100
/** where the number of the schema stands in the head */
const USER_VERSION_AT = 60
/** SQLite never writes the page with this byte: its locks are there. */
const LOCK_BYTE = 0x40000000

export type DatabaseState =
  | { is: 'whole' }
  /** no file, one without a byte, or one without tables: what would be filled as a new database */
  | { is: 'missing' | 'empty' | 'blank' }
  | { is: 'damaged'; what: string }

/**
 * Looks at a database file before SQLite opens it, which would remove the log of an empty file and move the log of a
 * damaged one into it. Reads the heads of the file and of its log and changes nothing. To be called by the owner of the
 * data directory, with no connection open: closing a file takes away the locks that this process holds on it.
 */
export function databaseState(path: string): DatabaseState {
  const size = lstatSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) return { is: 'missing' }
  if (size === 0) return { is: 'empty' }
  const wal = readWal(`${path}-wal`)
  const head = wal?.head ?? firstBytes(path)
  const damage = damageOf(head, size, wal)
  if (damage !== undefined) return { is: 'damaged', what: damage }
  return { is: head.readUInt32BE(USER_VERSION_AT) === 0 ? 'blank' : 'whole' }
}

function damageOf(head: Buffer, size: number, wal: WalContent | undefined): string | undefined {
  if (head.length < HEAD_BYTES) return `it has ${size} bytes, which is less than its head`
  if (head.toString('latin1', 0, MAGIC.length) !== MAGIC) return 'it does not begin as a database does'
  const pageSize = head.readUInt16BE(16) === 1 ? 65536 : head.readUInt16BE(16)
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0) return `its head names a page size of ${pageSize}`
  const inLog = wal !== undefined && wal.pageSize === pageSize && wal.databasePages > 0 ? wal : undefined
  const pages = inLog?.databasePages ?? pagesOf(head)
  const whole = Math.floor(size / pageSize)
  const lockPage = Math.floor(LOCK_BYTE / pageSize) + 1
  for (let page = whole + 1; page <= pages; page++)
    if (page !== lockPage && inLog?.pages.has(page) !== true)
      return `it is cut short: it has ${size} bytes of ${pages * pageSize}`
  return undefined
}

/** Pages of the database by its head; 0 where a version that did not keep the number wrote last. */
function pagesOf(head: Buffer): number {
  return head.readUInt32BE(24) === head.readUInt32BE(92) ? head.readUInt32BE(28) : 0
}

function firstBytes(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    return head.subarray(0, readSync(file, head, 0, HEAD_BYTES, 0))
  } finally {
    closeSync(file)
  }
}
