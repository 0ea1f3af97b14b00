import {
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { inspectDatabaseFile } from '../../../src/engine/store/database-file.js'
import { readWal } from '../../../src/engine/store/wal-file.js'

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ks-database-file-'))
  path = join(folder, 'main.sqlite')
})
afterEach(() => removeFolder(folder))

const PAGE = 1024

/** A database of a few pages, with its log as a killed run leaves it. */
function written({ rows = 0, logged = 0, version = 1, page = PAGE } = {}) {
  const live = join(folder, 'live.sqlite')
  for (const old of [live, `${live}-wal`, `${live}-shm`, path]) rmSync(old, { force: true })
  const db = new Sqlite(live)
  db.pragma(`page_size = ${page}`)
  db.pragma('journal_mode = WAL')
  db.exec('CREATE TABLE t (a TEXT)')
  if (version > 0) db.pragma(`user_version = ${version}`)
  const insert = db.prepare('INSERT INTO t VALUES (?)')
  for (let n = 0; n < rows; n++) insert.run('x'.repeat(900))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.pragma('wal_autocheckpoint = 0')
  for (let n = 0; n < logged; n++) insert.run('y'.repeat(900))
  copyFileSync(live, path)
  if (logged > 0) copyFileSync(`${live}-wal`, `${path}-wal`)
  db.close()
}

function overwrite(at: number, bytes: number[]): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.from(bytes), 0, bytes.length, at)
  closeSync(file)
}

describe('the state of a database file', () => {
  it('can be missing, empty, blank or complete', () => {
    expect(inspectDatabaseFile(path)).toEqual({ is: 'missing' })
    writeFileSync(path, '')
    expect(inspectDatabaseFile(path)).toEqual({ is: 'empty' })
    written({ version: 0 })
    expect(inspectDatabaseFile(path)).toEqual({ is: 'blank' })
    written({ rows: 5 })
    expect(inspectDatabaseFile(path)).toEqual({ is: 'whole' })
  })

  it.each<[string, () => void, RegExp]>([
    ['shorter than its header', () => truncateSync(path, 99), /^it has 99 bytes, less than its header$/],
    ['no database', () => overwrite(0, [0x50]), /^it does not begin like a database$/],
    [
      'written with a page size that is no power of two',
      () => overwrite(16, [4, 2]),
      /^its header has an invalid page size of 1026$/,
    ],
    ['written with too small pages', () => overwrite(16, [1, 0]), /^its header has an invalid page size of 256$/],
    ['without a page size', () => overwrite(16, [0, 0]), /^its header has an invalid page size of 0$/],
    [
      'truncated by a byte',
      () => truncateSync(path, readFileSync(path).length - 1),
      /^it is truncated: it has \d+ bytes of \d+$/,
    ],
  ])('counts as damaged when it is %s', (_, damage, what) => {
    written({ rows: 5 })
    damage()
    expect(inspectDatabaseFile(path)).toEqual({ is: 'damaged', what: expect.stringMatching(what) })
  })

  it('does not depend on a page count in its header that was not maintained', () => {
    written({ rows: 5 })
    overwrite(92, [0, 0, 0, 9])
    truncateSync(path, 3 * PAGE)
    expect(inspectDatabaseFile(path)).toEqual({ is: 'whole' })
  })

  it('counts pages that are missing from the file as present if the write-ahead log contains them', () => {
    written({ rows: 3, logged: 6 })
    const pages = readWal(`${path}-wal`)?.pages ?? new Set()
    expect(inspectDatabaseFile(path)).toEqual({ is: 'whole' })
    const size = readFileSync(path).length
    // Page 2 is the root of the table: in the file alone, or in the log, too.
    truncateSync(path, size - PAGE)
    expect(inspectDatabaseFile(path).is).toBe(pages.has(size / PAGE) ? 'whole' : 'damaged')
    rmSync(`${path}-wal`)
    expect(inspectDatabaseFile(path).is).toBe('damaged')
  })

  it('ignores a write-ahead log with another page size', () => {
    written({ rows: 3, logged: 20, page: 2 * PAGE })
    written({ rows: 3 })
    expect(readWal(`${path}-wal`)?.pageSize).toBe(2 * PAGE)
    truncateSync(path, readFileSync(path).length - PAGE)
    expect(inspectDatabaseFile(path).is).toBe('damaged')
  })
})

describe('a write-ahead log', () => {
  const HEADER = 32
  const FRAME = 24 + PAGE
  const log = () => readFileSync(`${path}-wal`)
  const cutAt = (bytes: number) => {
    writeFileSync(join(folder, 'cut-wal'), log().subarray(0, bytes))
    return readWal(join(folder, 'cut-wal'))
  }

  it('yields nothing when it is missing or its header is invalid', () => {
    expect(readWal(`${path}-wal`)).toBeUndefined()
    written({ logged: 3 })
    expect(cutAt(HEADER - 1)).toBeUndefined()
    expect(cutAt(HEADER)).toEqual({ pageSize: PAGE, databasePages: 0, pages: new Set() })
    for (const at of [0, 9, 25, 29]) {
      const bytes = log()
      bytes[at] = (bytes[at] ?? 0) ^ 0x40
      writeFileSync(join(folder, 'odd-wal'), bytes)
      expect(readWal(join(folder, 'odd-wal'))).toBeUndefined()
    }
  })

  it('yields the pages of complete transactions, and nothing of a truncated transaction', () => {
    written({ rows: 1, logged: 8 })
    const frames = (log().length - HEADER) / FRAME
    let known = 0
    const ofFrames = Array.from({ length: frames + 1 }, (_, count) => cutAt(HEADER + count * FRAME))
    for (const [count, content] of ofFrames.entries()) {
      const bytes = log()
      const upTo = Array.from({ length: count }, (_, n) => HEADER + n * FRAME)
      const commits = upTo.filter((at) => bytes.readUInt32BE(at + 4) > 0)
      const last = commits.at(-1)
      const held = last === undefined ? [] : upTo.filter((at) => at <= last).map((at) => bytes.readUInt32BE(at))
      expect(content?.pages).toEqual(new Set(held))
      expect(content?.databasePages).toBe(last === undefined ? 0 : bytes.readUInt32BE(last + 4))
      known += held.length
    }
    expect(known).toBeGreaterThan(frames)
    // Half a frame counts as none.
    expect(cutAt(HEADER + FRAME * frames - 1)?.databasePages).toBe(ofFrames[frames - 1]?.databasePages)
  })

  it('ends at a damaged frame or a frame of an earlier round', () => {
    written({ rows: 1, logged: 6 })
    for (const at of [0, 9, 17, 30]) {
      const bytes = log()
      const frames = Math.floor((bytes.length - HEADER) / FRAME)
      const damaged = HEADER + (frames - 1) * FRAME + at
      bytes[damaged] = (bytes[damaged] ?? 0) ^ 1
      writeFileSync(join(folder, 'odd-wal'), bytes)
      expect(readWal(join(folder, 'odd-wal'))).toEqual(cutAt(HEADER + (frames - 1) * FRAME))
    }
  })

  it('contains the database header when a transaction wrote the first page', () => {
    written({ rows: 1, logged: 2 })
    const db = new Sqlite(path)
    db.pragma('wal_autocheckpoint = 0')
    db.pragma('user_version = 77')
    const head = readWal(`${path}-wal`)?.head
    db.close()
    expect(head).toHaveLength(100)
    expect(head?.readUInt32BE(60)).toBe(77)
  })
})
