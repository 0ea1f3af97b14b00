import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { KsError } from '../../../src/contract/errors.js'
import { Database } from '../../../src/engine/store/database.js'
import { releaseFreePages } from '../../../src/engine/store/free-pages.js'
import { checkpoint, setPragmas } from '../../../src/engine/store/pragmas.js'
import { sql, type Write } from '../../../src/engine/store/program.js'
import { NOTHING_REMOVED, removeInOneWrite, removeWithinTime } from '../../../src/engine/store/slices.js'
import { DatabaseDamaged } from '../../../src/engine/store/sql-errors.js'
import { writeReply } from '../../../src/engine/store/write-reply.js'
import { isWriteStopped, readUnlessDamaged } from '../../../src/engine/store/write-stop.js'
import { ADA } from '../../helpers/engine.js'
import { emptyDatabase, insert, insertedIn } from './empty-database.js'

let folder: string
let refused: unknown[]
let db: Database
const open = () => new Database(join(folder, 'main.sqlite'), Date.now, (error) => void refused.push(error))
const copyOfEmpty = emptyDatabase()
beforeEach(() => {
  folder = copyOfEmpty()
  refused = []
  db = open()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await db.close()
  removeFolder(folder)
})

const held = () => insertedIn(db)
const failing = (error: unknown) => () => {
  throw error
}

describe('the check whether writing is possible', () => {
  it('reports a full disk and a damaged database file', () => {
    const damage = new DatabaseDamaged('pages')
    const reserve = (isFull: boolean) => ({ diskReserve: { isFull } }) as never
    expect(isWriteStopped({ db: { damage: undefined }, options: {} })).toBe(false)
    expect(isWriteStopped({ db: { damage: undefined }, options: reserve(false) })).toBe(false)
    expect(isWriteStopped({ db: { damage: undefined }, options: reserve(true) })).toBe(true)
    expect(isWriteStopped({ db: { damage }, options: {} })).toBe(true)
  })

  it('lets a read return a fallback for a damaged database file, and rethrows other errors', async () => {
    const damage = new DatabaseDamaged('pages')
    const row = new KsError('data-damaged', 'a row')
    expect(await readUnlessDamaged(Promise.resolve(1), 2)).toBe(1)
    expect(await readUnlessDamaged(Promise.reject(damage), 2)).toBe(2)
    await expect(readUnlessDamaged(Promise.reject(row), 2)).rejects.toBe(row)
  })
})

describe('the reply of a write', () => {
  it('gets stored in the transaction of the write if the request has an idempotency key', async () => {
    let kept: unknown
    function* answered(answer: unknown): Write<void> {
      // A program may run more than once.
      kept = answer
      yield* insert(`answer ${JSON.stringify(answer)}`)
    }
    const result = await writeReply(db, { ...ADA, recordAnswer: answered }, () => insert('a'))
    expect(kept).toEqual(result)
    expect(held()).toEqual(['a', 'answer {"changes":1}'])
    const half = await writeReply(db, { ...ADA, recordAnswer: answered }, () => 3, { toReply: (n) => n * 2 })
    expect([half, kept]).toEqual([3, 6])
    expect(await writeReply(db, ADA, () => 4)).toBe(4)
    const full = { ...ADA, recordAnswer: failing(new Error('no room for the answer')) }
    await expect(writeReply(db, full, () => insert('b'))).rejects.toThrow('no room')
    expect(held()).toEqual(['a', 'answer 6', 'answer {"changes":1}'])
  })
})

describe('removal of rows in slices', () => {
  const remove = (row: string) => sql.run('DELETE FROM revoked_tokens WHERE jti = ?', [row])
  /** Milliseconds that have passed. */
  let passed = 0
  beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => passed))
  const slow = function* (row: string): Write<void> {
    passed += 9
    yield* remove(row)
  }

  it('removes as many rows as its time allows, but at least one row', async () => {
    for (const jti of ['a', 'b', 'c']) await db.write(() => insert(jti))
    expect(db.writeNow(() => removeWithinTime(['a', 'b'], slow))).toBe(1)
    expect(held()).toEqual(['b', 'c'])
    expect(db.writeNow(() => removeWithinTime(['b', 'c'], remove))).toBe(2)
    expect(held()).toEqual([])
  })

  it('reports more rows if the slice was full or its time was over', async () => {
    expect(NOTHING_REMOVED).toEqual({ removed: 0, more: false })
    expect(await removeInOneWrite(db, [], 5, remove)).toEqual(NOTHING_REMOVED)
    expect(await removeInOneWrite(db, ['a', 'b'], 3, remove)).toEqual({ removed: 2, more: false })
    expect(await removeInOneWrite(db, ['a', 'b', 'c'], 3, remove)).toEqual({ removed: 3, more: true })
    expect(await removeInOneWrite(db, ['a', 'b'], 9, slow)).toEqual({ removed: 1, more: true })
  })
})

describe('free pages of the database file', () => {
  it('return to the file system in slices while more than one page in sixteen is free', async () => {
    const pages = () => db.now(sql.get<{ page_count: number }>('PRAGMA page_count'))?.page_count ?? 0
    const free = () => db.now(sql.get<{ freelist_count: number }>('PRAGMA freelist_count'))?.freelist_count ?? 0
    expect(await releaseFreePages(db)).toBe(false)
    await db.write(() => insert('x'.repeat(8192 * 200)))
    const full = pages()
    await db.write(() => sql.run('DELETE FROM revoked_tokens'))
    expect(free()).toBeGreaterThanOrEqual(200)
    expect(await releaseFreePages(db)).toBe(true)
    expect(full - pages()).toBe(64)
    while (await releaseFreePages(db));
    expect(free() - Math.ceil(pages() / 16)).toBeLessThan(8)
    expect(free()).toBeGreaterThan(0)
  })
})

describe('the write-ahead log', () => {
  it('moves into the database file by a checkpoint, as far as no reader needs the log', async () => {
    await db.write(() => insert('a'))
    expect(db.checkpoint()).toBe(true)
    const other = new Sqlite(join(folder, 'main.sqlite'))
    setPragmas(other)
    expect(other.pragma('foreign_keys', { simple: true })).toBe(1)
    expect(other.pragma('trusted_schema', { simple: true })).toBe(0)
    expect(other.pragma('cell_size_check', { simple: true })).toBe(1)
    other.exec('BEGIN')
    other.prepare('SELECT * FROM revoked_tokens').all()
    await db.write(() => insert('b'))
    expect(db.checkpoint()).toBe(false)
    other.exec('COMMIT')
    expect(checkpoint(other, 'TRUNCATE')).toBe(true)
    other.close()
  })

  it('causes an error at the start if the database cannot have a log', () => {
    const memory = new Sqlite(':memory:')
    expect(() => setPragmas(memory)).toThrow(expect.objectContaining({ code: 'unavailable' }))
    memory.close()
  })
})
