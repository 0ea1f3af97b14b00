import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import { Checkpointer } from '../../../src/engine/store/checkpointer.js'
import { Database } from '../../../src/engine/store/database.js'
import { sql } from '../../../src/engine/store/program.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'ks-database-'))
})
afterEach(() => removeFolder(directory))

const path = () => join(directory, 'main.sqlite')
const insert = (db: Database, jti: string) =>
  db.now(sql.run('INSERT INTO revoked_tokens (jti, expires_at) VALUES (?, ?)', [jti, 1]))
const held = (db: Database) =>
  db.now(sql.all<{ jti: string }>('SELECT jti FROM revoked_tokens ORDER BY jti')).map((row) => row.jti)

describe('the database', () => {
  it('keeps full durability, also when an existing file is opened again', async () => {
    await new Database(path(), Date.now).close()
    const db = new Database(path(), Date.now)
    // The constructor itself asserts this: otherwise it would not open.
    expect(db.now(sql.get<{ synchronous: number }>('PRAGMA synchronous'))?.synchronous).toBe(2)
    expect(db.now(sql.get<{ journal_mode: string }>('PRAGMA journal_mode'))?.journal_mode).toBe('wal')
    await db.close()
  })

  it('commits pending writes together and resolves each after the commit', async () => {
    const db = new Database(path(), Date.now)
    const results = await Promise.all(['a', 'b', 'c'].map((jti) => db.write(() => insert(db, jti).changes)))
    expect(results).toEqual([1, 1, 1])
    const other = new Sqlite(path(), { readonly: true })
    expect(other.prepare('SELECT count(*) n FROM revoked_tokens').get()).toEqual({ n: 3 })
    other.close()
    await db.close()
  })

  it('commits writes of consecutive turns together, but does not wait forever while more writes arrive', async () => {
    const commits = vi.spyOn(Checkpointer.prototype, 'scheduleAfterWrite')
    const db = new Database(path(), Date.now)
    commits.mockClear()
    // on a busy machine a turn may take longer than others are waited for
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1)
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const first = db.write(() => insert(db, 'a'))
    await turn()
    const second = db.write(() => insert(db, 'b'))
    await Promise.all([first, second])
    expect(commits).toHaveBeenCalledOnce()
    clock.mockRestore()
    let isWritten = false
    const third = db
      .write(() => insert(db, 'c'))
      .then(() => {
        isWritten = true
      })
    const others: Promise<unknown>[] = []
    while (!isWritten) {
      const jti = `more ${others.length}`
      others.push(db.write(() => insert(db, jti)))
      await turn()
    }
    await Promise.all([third, ...others])
    expect(held(db)).toHaveLength(3 + others.length)
    commits.mockRestore()
    await db.close()
  })

  it('rolls back a write that throws, and no other in the same commit', async () => {
    const db = new Database(path(), Date.now)
    const outcomes = await Promise.allSettled([
      db.write(() => insert(db, 'a')),
      db.write(() => {
        insert(db, 'b')
        throw new Error('no')
      }),
      db.write(() => insert(db, 'c')),
    ])
    expect(outcomes.map((outcome) => outcome.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(held(db)).toEqual(['a', 'c'])
    await db.close()
  })

  it('resolves writes in the order of their calls', async () => {
    const db = new Database(path(), Date.now)
    const order: number[] = []
    await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        db.write(() => insert(db, String(index))).then(() => order.push(index)),
      ),
    )
    expect(order).toEqual([...order].sort((a, b) => a - b))
    await db.close()
  })

  it('F66: rejects a data directory with a newer schema, and names the schema number', async () => {
    await new Database(path(), Date.now).close()
    const raw = new Sqlite(path())
    raw.pragma('user_version = 99')
    raw.close()
    expect(() => new Database(path(), Date.now)).toThrow(/schema 99/)
  })
})
