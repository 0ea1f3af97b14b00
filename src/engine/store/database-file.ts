import { closeSync, lstatSync, openSync, readSync } from 'node:fs'
import { readWal, type WalContent } from './wal-file.js'

const MAGIC = 'SQLite format 3\0'
const HEADER_BYTES = 100
/** offset of the schema number in the header */
const USER_VERSION_OFFSET = 60
/** SQLite never writes the page with this byte: it holds the locks. */
const LOCK_BYTE_OFFSET = 0x40000000

export type DatabaseState =
  | { is: 'whole' }
  /** no file, an empty one, or one without tables: SQLite would fill it as a new database */
  | { is: 'missing' | 'empty' | 'blank' }
  | { is: 'damaged'; what: string }

/**
 * Inspects a database file before SQLite opens it: SQLite would remove the log of an empty file and move the log of a
 * damaged one into it. Reads the headers of the file and of its log and changes nothing. Only the owner of the data
 * directory may call it, with no connection open: closing a file releases the locks that this process holds on it.
 */
export function inspectDatabaseFile(path: string): DatabaseState {
  const size = lstatSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) return { is: 'missing' }
  if (size === 0) return { is: 'empty' }
  const wal = readWal(`${path}-wal`)
  const head = wal?.head ?? readHeader(path)
  const damage = findDamage(head, size, wal)
  if (damage !== undefined) return { is: 'damaged', what: damage }
  return { is: head.readUInt32BE(USER_VERSION_OFFSET) === 0 ? 'blank' : 'whole' }
}

function findDamage(head: Buffer, size: number, wal: WalContent | undefined): string | undefined {
  if (head.length < HEADER_BYTES) return `it has ${size} bytes, less than its header`
  if (head.toString('latin1', 0, MAGIC.length) !== MAGIC) return 'it does not begin like a database'
  const pageSize = head.readUInt16BE(16) === 1 ? 65536 : head.readUInt16BE(16)
  if (pageSize < 512 || (pageSize & (pageSize - 1)) !== 0) return `its header has an invalid page size of ${pageSize}`
  const matchingWal = wal !== undefined && wal.pageSize === pageSize && wal.databasePages > 0 ? wal : undefined
  const pages = matchingWal?.databasePages ?? readPageCount(head)
  const completePages = Math.floor(size / pageSize)
  const lockPage = Math.floor(LOCK_BYTE_OFFSET / pageSize) + 1
  for (let page = completePages + 1; page <= pages; page++)
    if (page !== lockPage && matchingWal?.pages.has(page) !== true)
      return `it is truncated: it has ${size} bytes of ${pages * pageSize}`
  return undefined
}

/** Page count in the header; 0 where the last writer was a version of SQLite that did not update it. */
function readPageCount(head: Buffer): number {
  return head.readUInt32BE(24) === head.readUInt32BE(92) ? head.readUInt32BE(28) : 0
}

function readHeader(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(HEADER_BYTES)
    return head.subarray(0, readSync(file, head, 0, HEADER_BYTES, 0))
  } finally {
    closeSync(file)
  }
}
