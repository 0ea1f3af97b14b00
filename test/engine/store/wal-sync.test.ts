import fs, { copyFileSync, mkdtempSync, openSync, readFileSync, writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { Database } from '../../../src/engine/store/database.js'
import { countLogFrames } from '../../../src/engine/store/pragmas.js'
import { sql } from '../../../src/engine/store/program.js'
import { rewriteWal } from '../../../src/engine/store/wal-file.js'
import { WalSync } from '../../../src/engine/store/wal-sync.js'

/** Running syncs, each with the callback that ends it. */
const running: ((error: Error | null) => void)[] = []

const IO_ERROR = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ks-log-sync-'))
})
afterEach(() => {
  letSync()
  running.length = 0
  removeFolder(folder)
})

/** From now on syncs in the thread pool end when the test ends them. */
function holdSyncs(): void {
  vi.spyOn(fs, 'fdatasync').mockImplementation((_file, ended) => void running.push(ended))
  syncBuiltinESMExports()
}

function letSync(): void {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
}

const path = () => join(folder, 'main.sqlite')
const log = () => `${path()}-wal`
const turn = () => new Promise((resolve) => setImmediate(resolve))
const insert = (jti: string) => sql.run('INSERT INTO revoked_tokens (jti, expires_at) VALUES (?, 1)', [jti])
const inserted = (db: Database) =>
  db.now(sql.all<{ jti: string }>('SELECT jti FROM revoked_tokens ORDER BY jti')).map(({ jti }) => jti)

async function runningSyncs(count: number): Promise<void> {
  for (let turns = 0; running.length < count && turns < 1000; turns++) await turn()
  expect(running).toHaveLength(count)
}

describe('a recorded write', () => {
  it('resolves as durable after a sync that began after its commit, and not before', async () => {
    const db = new Database(path(), Date.now)
    holdSyncs()
    const told: string[] = []
    const first = db.record(() => insert('first')).then(() => told.push('first'))
    await runningSyncs(1)
    // Visible, but not durable yet.
    expect(inserted(db)).toEqual(['first'])
    const durable = db.durable().then(() => told.push('durable'))
    const others = ['second', 'third'].map((jti) => db.record(() => insert(jti)).then(() => told.push(jti)))
    for (let turns = 0; inserted(db).length < 3 && turns < 1000; turns++) await turn()
    expect(running).toHaveLength(1)
    expect(told).toEqual([])
    running[0]?.(null)
    await Promise.all([first, durable])
    // The finished sync may have begun before the other two commits: they share the next one.
    await runningSyncs(2)
    expect(told.sort()).toEqual(['durable', 'first'])
    running[1]?.(null)
    await Promise.all(others)
    expect(running).toHaveLength(2)
    letSync()
    await db.close()
  })

  it('becomes durable by the commit of a write in the same transaction', async () => {
    const db = new Database(path(), Date.now)
    holdSyncs()
    await Promise.all([db.record(() => insert('record')), db.write(() => insert('write'))])
    expect(running).toEqual([])
    expect(inserted(db)).toEqual(['record', 'write'])
    await db.close()
  })

  it('rejects when its sync fails, and nothing is written until the log is rewritten', async () => {
    const db = new Database(path(), Date.now)
    await db.write(() => insert('before'))
    holdSyncs()
    const record = db.record(() => insert('record'))
    await runningSyncs(1)
    const waiting = db.record(() => insert('waiting'))
    waiting.catch(() => undefined)
    for (let turns = 0; inserted(db).length < 3 && turns < 1000; turns++) await turn()
    running[0]?.(IO_ERROR)
    await expect(record).rejects.toMatchObject({ code: 'unavailable' })
    // A successful sync now would not prove the previous one.
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
    expect(running).toHaveLength(1)
    expect(db.broken).toBe(true)
    await expect(db.write(() => insert('after'))).rejects.toMatchObject({ code: 'unavailable' })
    letSync()
    await expect.poll(() => db.broken).toBe(false)
    await db.record(() => insert('again'))
    await db.close()
    const sqlite = new Sqlite(path(), { readonly: true })
    expect(sqlite.pragma('integrity_check', { simple: true })).toBe('ok')
    sqlite.close()
  })

  it('leaves every other commit to the sync of SQLite', async () => {
    const db = new Database(path(), Date.now)
    await db.record(() => insert('record'))
    expect(db.now(sql.get<{ synchronous: number }>('PRAGMA synchronous'))?.synchronous).toBe(2)
    const failed = db.record(() => {
      throw new Error('no')
    })
    await expect(failed).rejects.toThrow('no')
    expect(db.now(sql.get<{ synchronous: number }>('PRAGMA synchronous'))?.synchronous).toBe(2)
    await db.close()
  })

  it('reaches the disk when the database closes right after the write', async () => {
    const db = new Database(path(), Date.now)
    const record = db.record(() => insert('record'))
    await Promise.all([db.close(), record])
    const again = new Database(path(), Date.now)
    expect(inserted(again)).toEqual(['record'])
    await again.close()
  })
})

describe('the rewrite of the write-ahead log', () => {
  it('keeps the log byte for byte, and fails when a frame is invalid', async () => {
    const db = new Database(path(), Date.now)
    for (const jti of ['a', 'b', 'c']) await db.write(() => insert(jti))
    const other = new Sqlite(path(), { readonly: true })
    const frames = countLogFrames(other)
    expect(frames).toBeGreaterThan(2)
    const before = readFileSync(log())
    rewriteWal(log(), frames)
    expect(readFileSync(log()).equals(before)).toBe(true)
    expect(() => rewriteWal(log(), frames + 1)).toThrow(`of ${frames + 1} frames`)
    copyFileSync(log(), join(folder, 'damaged'))
    writeSync(openSync(join(folder, 'damaged'), 'r+'), Buffer.from('?'), 0, 1, 32 + 24 + 100)
    expect(() => rewriteWal(join(folder, 'damaged'), frames)).toThrow('only 0 are valid')
    other.close()
    await db.close()
  })

  it('leaves a failed sync recorded while the log cannot be opened', async () => {
    const sync = new WalSync(join(folder, 'none', 'main.sqlite-wal'))
    await expect(sync.sync()).rejects.toMatchObject({ code: 'ENOENT' })
    expect(sync.hasFailed).toBe(true)
    await sync.waitUntilIdle()
    expect(() => sync.repair(1)).toThrow('ENOENT')
    expect(sync.hasFailed).toBe(true)
    sync.close()
  })
})
