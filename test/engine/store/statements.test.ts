import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { KsError } from '../../../src/contract/errors.js'
import { Database } from '../../../src/engine/store/database.js'
import type { Damage } from '../../../src/engine/store/formats.js'
import { SCHEMA } from '../../../src/engine/store/migrations.js'
import { isProgram, type Read, sql, type Write } from '../../../src/engine/store/program.js'
import { DatabaseDamaged, isIoError, toDamageError } from '../../../src/engine/store/sql-errors.js'
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
  vi.useRealTimers()
  await db.close()
  removeFolder(folder)
})

const held = () => insertedIn(db)
const ioError = () => new Sqlite.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC')
const corrupt = () => new Sqlite.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT_INDEX')
const failing = (error: unknown) => () => {
  throw error
}

describe('a program of statements', () => {
  it('receives rows, counts and generated keys, and resolves to its return value', async () => {
    function* program(): Write<unknown> {
      const key = yield* sql.inserted(
        `INSERT INTO vector_spaces (id, space_key, revision, dimension, state, created_at)
         VALUES ('v', 1, 1, 2, 'building', 1) RETURNING key`,
      )
      const { changes } = yield* sql.run("UPDATE vector_spaces SET dimension = 3 WHERE id = 'v'")
      const [returned] = yield* sql.returning<{ jti: string }>(
        "INSERT INTO revoked_tokens VALUES ('b', 2) RETURNING jti",
      )
      yield* insert('a')
      const one = yield* sql.get<{ jti: string }>('SELECT jti FROM revoked_tokens ORDER BY jti')
      const none = yield* sql.get('SELECT jti FROM revoked_tokens WHERE jti = ?', ['z'])
      const all = yield* sql.all<{ jti: string }>('SELECT jti FROM revoked_tokens ORDER BY jti DESC')
      return { changes, isKey: typeof key === 'number', returned, one, none, all }
    }
    const expected = {
      ...{ changes: 1, isKey: true, returned: { jti: 'b' }, one: { jti: 'a' }, none: undefined },
      all: [{ jti: 'b' }, { jti: 'a' }],
    }
    expect(await db.write(program)).toEqual(expected)
    expect(await db.read(sql.get('SELECT count(*) n FROM revoked_tokens'))).toEqual({ n: 2 })
  })

  it('can catch the error of a statement and continue', () => {
    function* program(): Read<string> {
      try {
        yield* sql.get('SELECT x FROM nowhere')
        return 'it worked'
      } catch (error) {
        const row = yield* sql.get<{ one: number }>('SELECT 1 one')
        return `${error instanceof Sqlite.SqliteError} ${row?.one}`
      }
    }
    expect(db.now(program())).toBe('true 1')
    expect(() => db.now(sql.get('SELECT x FROM nowhere'))).toThrow('no such table')
  })

  it('gets distinguished from other values and from plain functions', async () => {
    expect([isProgram(sql.get('x')), isProgram(undefined), isProgram(null), isProgram([]), isProgram('x')]).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
    expect(isProgram({ next() {}, throw() {} })).toBe(false)
    expect(await db.write(() => 7)).toBe(7)
    expect(db.writeNow(() => 'plain')).toBe('plain')
  })
})

describe('a transaction', () => {
  it('rolls back when it throws, alone or in a group', async () => {
    const error = new KsError('invalid-request', 'no')
    function* half(jti: string): Write<never> {
      yield* insert(jti)
      throw error
    }
    expect(() => db.writeNow(() => half('a'))).toThrow(error)
    const outcomes = await Promise.allSettled([
      db.write(() => insert('b')),
      db.write(() => half('c')),
      db.write(() => insert('d')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(held()).toEqual(['b', 'd'])
    expect([db.broken, refused]).toEqual([false, []])
  })

  it('commits before the database closes when it is pending', async () => {
    const written = db.write(() => insert('a'))
    let last: string[] = []
    await db.close(() => {
      last = held()
    })
    await written
    expect(last).toEqual(['a'])
    db = open()
    expect(held()).toEqual(['a'])
  })

  it('yields to other work after some milliseconds, and continues with the rest', async () => {
    const busy = (jti: string) => () => {
      const until = performance.now() + 10
      while (performance.now() < until);
      return insert(jti)
    }
    let turns = 0
    const count = setInterval(() => turns++, 0)
    await Promise.all(['a', 'b', 'c', 'd'].map((jti) => db.write(busy(jti))))
    clearInterval(count)
    expect(held()).toEqual(['a', 'b', 'c', 'd'])
    expect(turns).toBeGreaterThanOrEqual(3)
  })
})

describe('recovery of rows at the start', () => {
  it('runs at once, or with the next write when the disk is full', async () => {
    db.recover(() => insert('first'))
    expect(held()).toEqual(['first'])
    let isFull = true
    db.recover(() => {
      if (isFull) throw new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL')
      return insert('owed')
    })
    expect(held()).toEqual(['first'])
    await expect(db.write(() => insert('x'))).rejects.toMatchObject({ code: 'storage-full' })
    expect(() => db.writeNow(() => insert('y'))).toThrow(expect.objectContaining({ code: 'storage-full' }))
    expect(held()).toEqual(['first'])
    isFull = false
    await db.write(() => insert('next'))
    expect(held()).toEqual(['first', 'next', 'owed'])
    // It runs once.
    await db.write(() => insert('other'))
    db.writeNow(() => insert('third'))
    expect(held()).toEqual(['first', 'next', 'other', 'owed', 'third'])
  })

  it('runs with the next synchronous write if the disk was full', () => {
    let isFull = true
    db.recover(() => {
      if (isFull) throw new Sqlite.SqliteError('database or disk is full', 'SQLITE_FULL')
      return insert('owed')
    })
    isFull = false
    db.writeNow(() => insert('next'))
    db.writeNow(() => insert('other'))
    expect(held()).toEqual(['next', 'other', 'owed'])
  })

  it('fails the start for any error other than a full disk', () => {
    expect(() => db.recover(failing(new Error('a mistake')))).toThrow('a mistake')
    expect(() => db.recover(failing(new KsError('invalid-request', 'no')))).toThrow('no')
  })
})

describe('a failing disk', () => {
  it('stops all writes until a probe write is durable', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await db.write(() => insert('before'))
    expect(() => db.writeNow(failing(ioError()))).toThrow('reported an error')
    expect([db.broken, db.damage]).toEqual([true, undefined])
    expect(held()).toEqual(['before'])
    await expect(db.write(() => insert('a'))).rejects.toThrow('reported an error')
    expect(() => db.writeNow(() => insert('b'))).toThrow('reported an error')
    vi.advanceTimersByTime(900)
    expect(db.broken).toBe(true)
    vi.advanceTimersByTime(200)
    expect(db.broken).toBe(false)
    await db.write(() => insert('after'))
    expect(held()).toEqual(['after', 'before'])
    expect(db.now(sql.get('PRAGMA user_version'))).toEqual({ user_version: SCHEMA })
  })

  it('gets probed again as long as it fails', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    expect(() => db.writeNow(failing(ioError()))).toThrow()
    const other = new Sqlite(join(folder, 'main.sqlite'))
    other.pragma('busy_timeout = 0')
    db.now(sql.get('PRAGMA busy_timeout = 0'))
    other.exec('BEGIN IMMEDIATE')
    vi.advanceTimersByTime(1100)
    expect(db.broken).toBe(true)
    other.exec('COMMIT')
    other.close()
    vi.advanceTimersByTime(1100)
    expect(db.broken).toBe(false)
  })

  it('reaches the listener as storage-full if the disk is full', async () => {
    await expect(db.write(failing(new Sqlite.SqliteError('full', 'SQLITE_FULL')))).rejects.toMatchObject({
      code: 'storage-full',
    })
    expect(refused).toMatchObject([{ code: 'storage-full' }])
    expect(existsSync(join(folder, 'probe'))).toBe(false)
  })
})

describe('damage of the database', () => {
  it('stops all writes but no reads if it concerns the file, and is reported once', async () => {
    await db.write(() => insert('a'))
    const told: unknown[] = []
    db.onDamagedFile = (damage) => void told.push(damage)
    const outcomes = await Promise.allSettled([
      db.write(() => insert('b')),
      db.write(() => {
        throw corrupt()
      }),
      db.write(() => insert('c')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(db.damage).toBeInstanceOf(DatabaseDamaged)
    expect(db.broken).toBe(true)
    await expect(db.write(() => insert('d'))).rejects.toBe(db.damage)
    expect(() => db.writeNow(() => insert('e'))).toThrow(db.damage)
    expect(held()).toEqual(['a'])
    expect(told).toEqual([db.damage])
  })

  it('found by a synchronous write is recorded', () => {
    expect(() => db.writeNow(failing(corrupt()))).toThrow(DatabaseDamaged)
    expect(db.damage).toBeDefined()
  })

  it('gets distinguished as damage of the file, damage of a row, or another error', () => {
    const json = new Sqlite.SqliteError('malformed JSON', 'SQLITE_ERROR')
    expect(toDamageError(json)).toMatchObject({ code: 'data-damaged', cause: json })
    expect(toDamageError(json)).not.toBeInstanceOf(DatabaseDamaged)
    const file = new Sqlite.SqliteError('file is not a database', 'SQLITE_NOTADB')
    expect(toDamageError(file)).toMatchObject({ name: 'DatabaseDamaged', code: 'data-damaged', cause: file })
    expect(toDamageError(new Sqlite.SqliteError('busy', 'SQLITE_BUSY'))).toBeUndefined()
    expect(toDamageError(new Error('malformed JSON'))).toBeUndefined()
    expect(new DatabaseDamaged('x').cause).toBeUndefined()
    expect([isIoError(ioError()), isIoError(file), isIoError(new Error('SQLITE_IOERR'))]).toEqual([true, false, false])
  })

  it('appears in reports once per cell, for at most a thousand cells', async () => {
    const told: Damage[] = []
    db.onDamage = (damage) => void told.push(damage)
    db.writeNow(() =>
      sql.run(
        `INSERT INTO staged_commits (id, tenant, space_key, idempotency_key, operation_type, status, created_at, updated_at)
         SELECT value, 't', 1, 'i', 'document-upload', 'none', 1, 1 FROM json_each(?)`,
        [
          JSON.stringify(
            Array.from({ length: 1005 }, (_, place) => `018f0000-0000-7000-8000-${String(place).padStart(12, '0')}`),
          ),
        ],
      ),
    )
    const rows = db.now(sql.all<{ status: string }>('SELECT id, status FROM staged_commits ORDER BY id'))
    expect(told).toHaveLength(1000)
    db.now(sql.all('SELECT id, status FROM staged_commits ORDER BY id'))
    expect(told).toHaveLength(1000)
    expect(told[0]).toMatchObject({ table: 'staged_commits', column: 'status', what: 'has no known value' })
    expect(() => rows[0]?.status).toThrow(expect.objectContaining({ code: 'data-damaged' }))
    expect(db.now(sql.allAsStored('SELECT status FROM staged_commits LIMIT 1'))).toEqual([{ status: 'none' }])
    expect(db.now(sql.getAsStored('SELECT status FROM staged_commits'))).toEqual({ status: 'none' })
  })
})
