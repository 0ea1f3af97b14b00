import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import type { Database } from '../../../src/engine/storage/database.js'
import { explainDamage, type OpenStore, openStore } from '../../../src/engine/storage/open-store.js'
import { sql } from '../../../src/engine/storage/program.js'
import { DatabaseDamaged } from '../../../src/engine/storage/sql-errors.js'
import { checkStore } from '../../../src/engine/storage/store-identity.js'
import { type DataLayout, dataLayout } from '../../../src/local/layout.js'
import { StoreRefused } from '../../../src/local/store-refused.js'
import { openSmallStore } from '../../helpers/store.js'

const TENANT = 'ab'.repeat(12)

let layout: DataLayout
let warned: string[]
let opened: OpenStore<Database>[]
let root: string

beforeEach(async () => {
  warned = []
  opened = []
  const store = await openSmallStore()
  root = store.dataDir
  layout = dataLayout(root)
  // closed as it was found, by hand: what a test leaves of it is opened anew
  await store.db.close(() => store.context.identity.closed())
})
afterEach(async () => {
  for (const { db } of opened) await db.close()
  removeFolder(root)
})

const log = { debug() {}, info() {}, warn: (_: object, text: string) => void warned.push(text), error() {} }
async function open(): Promise<OpenStore<Database>> {
  const store = await openStore(layout, log, () => undefined)
  opened.push(store)
  return store
}
async function close({ db, identity }: OpenStore<Database>, inOrder = true): Promise<void> {
  opened = opened.filter((one) => one.db !== db)
  await db.close(() => (inOrder ? identity.closed() : undefined))
}
const beside = (): { store: string; opened: number; closed: boolean } =>
  JSON.parse(readFileSync(layout.storeFile, 'utf8'))
const write = (changes: object) => writeFileSync(layout.storeFile, JSON.stringify({ ...beside(), ...changes }))
const known = ({ db }: OpenStore<Database>) =>
  db.now(sql.get<{ id: string; opened: number }>('SELECT id, opened FROM store'))
function objects(): void {
  const folder = join(layout.objects, TENANT, 'sha256', 'ab')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'ab'.repeat(32)), 'bytes')
}

describe('a store', () => {
  it('has one id, in the database and beside the objects, and counts its starts in both', async () => {
    const first = beside()
    expect(first).toMatchObject({ closed: true })
    const store = await open()
    expect(beside()).toEqual({ store: first.store, opened: first.opened + 1, closed: false })
    expect(known(store)).toEqual({ id: first.store, opened: first.opened + 1 })
    expect([store.identity.doubt(), warned]).toEqual([undefined, []])
    expect(Math.abs(store.identity.openedAt - Date.now())).toBeLessThan(60_000)
    await close(store)
    expect(beside()).toEqual({ store: first.store, opened: first.opened + 1, closed: true })
    await close(await open(), false)
    expect(beside().closed).toBe(false)
  })

  it('is refused while a backup is being restored into it, and where it is of another id', async () => {
    writeFileSync(layout.restoring, '')
    expect(() => checkStore(layout)).toThrow(StoreRefused)
    rmSync(layout.restoring)
    expect(checkStore(layout)).toEqual({ log: 'usable' })
    write({ store: 'another' })
    await expect(open()).rejects.toThrow(/is of store .* holds the objects of store another/)
  })

  it.each(['', '{', '{"store":7,"opened":1,"closed":true}', '{"store":"x","closed":true}', '{"store":"x","opened":1}'])(
    'is refused where what stands beside its objects cannot be understood: %j',
    async (text) => {
      writeFileSync(layout.storeFile, text)
      await expect(open()).rejects.toThrow(/must say which store the objects are of/)
    },
  )

  it('is refused where the log of a run that did not end in order is missing, until its file is removed', async () => {
    write({ closed: false })
    objects()
    rmSync(`${layout.database}-wal`, { force: true })
    expect(checkStore(layout)).toEqual({ log: 'missing' })
    await expect(open()).rejects.toThrow(/-wal is missing although the last run did not end in order/)
    await expect(open()).rejects.toThrow(/-wal is missing/)
    rmSync(layout.storeFile)
    expect((await open()).identity.doubt()).toBeDefined()
  })

  it('is refused where the log is missing beside its shared memory, or with the last start', async () => {
    const starts = beside().opened
    rmSync(`${layout.database}-wal`, { force: true })
    write({ closed: false })
    writeFileSync(`${layout.database}-shm`, '')
    expect(() => checkStore(layout)).toThrow(/-wal is missing/)
    rmSync(`${layout.database}-shm`)
    write({ closed: false, opened: starts + 1 })
    for (const _ of ['first', 'second']) await expect(open()).rejects.toThrow(/-wal is missing/)
  })

  it('opens where another program moved the log of a killed run into the database', async () => {
    write({ closed: false })
    rmSync(`${layout.database}-wal`, { force: true })
    expect((await open()).identity.doubt()).toBeUndefined()
  })

  it('notes an orderly end before its log is removed, and takes the note back where the log remains', async () => {
    const store = await open()
    store.identity.closed()
    expect([beside().closed, existsSync(`${layout.database}-wal`)]).toEqual([true, true])
    store.identity.released()
    expect(beside().closed).toBe(false)
    await close(store)
    store.identity.released()
    expect([beside().closed, existsSync(`${layout.database}-wal`)]).toEqual([true, false])
  })

  it('is new where nothing of an earlier one lies there', () => {
    rmSync(layout.databaseDir, { recursive: true })
    rmSync(layout.storeFile)
    rmSync(layout.objects, { recursive: true })
    removeFolder(layout.indexes)
    expect(checkStore(layout)).toEqual({ log: 'usable' })
    mkdirSync(join(layout.objects, 'tmp'), { recursive: true })
    mkdirSync(join(layout.objects, TENANT), { recursive: true })
    expect(checkStore(layout)).toEqual({ log: 'usable' })
  })

  it.each<[string, () => void]>([
    ['its file', () => undefined],
    [
      'objects',
      () => {
        rmSync(layout.storeFile)
        objects()
      },
    ],
    [
      'an index',
      () => {
        rmSync(layout.storeFile)
        mkdirSync(join(layout.indexes, 'one'), { recursive: true })
      },
    ],
  ])('whose database is missing is refused where %s shows that there was one', (_, prepare) => {
    rmSync(layout.database)
    rmSync(`${layout.database}-wal`, { force: true })
    prepare()
    expect(() => checkStore(layout)).toThrow(/is missing, and .* shows that there was one/)
    expect(existsSync(layout.database)).toBe(false)
  })

  it('whose database is empty, blank or damaged is refused by what it is', () => {
    writeFileSync(layout.database, '')
    expect(() => checkStore(layout)).toThrow(/is empty/)
    rmSync(layout.storeFile)
    writeFileSync(`${layout.database}-wal`, 'a log')
    expect(() => checkStore(layout)).toThrow(/-wal shows that there was one/)
    rmSync(`${layout.database}-wal`)
    rmSync(layout.database)
    const blank = new Sqlite(layout.database)
    blank.exec('CREATE TABLE t (x)')
    blank.close()
    objects()
    expect(() => checkStore(layout)).toThrow(/holds no tables/)
    writeFileSync(
      layout.database,
      'nothing that a database begins with, and long enough to have a head of hundred bytes, at least',
    )
    expect(() => checkStore(layout)).toThrow(/is damaged/)
  })
})

describe('objects that the database may not know', () => {
  const doubted = async () => (await open()).identity.doubt()

  it('are assumed where the log of a run that did not end in order is empty', async () => {
    write({ closed: false })
    writeFileSync(`${layout.database}-wal`, '')
    expect(checkStore(layout)).toEqual({ log: 'empty' })
    expect(await doubted()).toBe(`${layout.keepUnknown} tells why it may not know all`)
    expect(readFileSync(layout.keepUnknown, 'utf8')).toMatch(/-wal is empty although the last run did not end in order/)
    expect(warned).toHaveLength(1)
  })

  it('are there where the database was opened less often than they were, from then on', async () => {
    write({ opened: beside().opened + 5 })
    const store = await open()
    expect(store.identity.doubt()).toBeDefined()
    expect(readFileSync(layout.keepUnknown, 'utf8')).toMatch(/is older than the objects/)
    expect(known(store)?.opened).toBe(beside().opened)
    await close(store)
    expect(await doubted()).toBeDefined()
    expect(warned).toHaveLength(2)
    rmSync(layout.keepUnknown)
    expect(opened.at(-1)?.identity.doubt()).toBeUndefined()
  })

  it('are there where nothing says whose they are', async () => {
    rmSync(layout.storeFile)
    objects()
    expect(await doubted()).toBeDefined()
    expect(readFileSync(layout.keepUnknown, 'utf8')).toMatch(/is missing: the objects may be of another store/)
  })

  it('are none where there are no objects, or the database knows its store and was opened as often', async () => {
    rmSync(layout.storeFile)
    expect(await doubted()).toBeUndefined()
    expect(existsSync(layout.keepUnknown)).toBe(false)
  })

  it('may be there where the file beside them is taken away or exchanged while it is open', async () => {
    const store = await open()
    const text = readFileSync(layout.storeFile, 'utf8')
    for (const [other, says] of [
      [undefined, 'is not there'],
      ['{', 'is not there'],
      [text.replace(beside().store, 'another'), 'is of another store'],
    ] as const) {
      rmSync(layout.storeFile, { force: true })
      if (other !== undefined) writeFileSync(layout.storeFile, other)
      expect(store.identity.doubt()).toBe(`${layout.storeFile} ${says}`)
    }
    writeFileSync(layout.storeFile, text)
    expect(store.identity.doubt()).toBeUndefined()
  })
})

describe('damage that is met at the start', () => {
  it('is told in words for a person, and any other error as it is', () => {
    const met = new Sqlite.SqliteError('file is not a database', 'SQLITE_NOTADB')
    for (const error of [met, new DatabaseDamaged('file is not a database', met)]) {
      const told = explainDamage(error, layout)
      expect(told).toBeInstanceOf(StoreRefused)
      expect(String(told)).toContain(`${layout.database} is damaged: file is not a database. Nothing was changed`)
      expect(told).toMatchObject({ cause: error })
    }
    for (const error of [new Error('x'), new Sqlite.SqliteError('malformed JSON', 'SQLITE_ERROR')])
      expect(explainDamage(error, layout)).toBe(error)
  })
})
