import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../bench/lib/removed-folder.js'
import type { Database } from '../../../src/engine/store/database.js'
import { type OpenStore, openStore, toDamagedStoreError } from '../../../src/engine/store/open-store.js'
import { sql } from '../../../src/engine/store/program.js'
import { DatabaseDamaged } from '../../../src/engine/store/sql-errors.js'
import { checkStore } from '../../../src/engine/store/store-identity.js'
import { type DataLayout, resolveDataLayout } from '../../../src/local/layout.js'
import { StoreDamagedError } from '../../../src/local/store-damaged-error.js'
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
  layout = resolveDataLayout(root)
  // Closed by hand: the test reopens what remains.
  await store.db.close(() => store.context.identity.markClosed())
})
afterEach(async () => {
  for (const { db } of opened) await db.close()
  removeFolder(root)
})

const log = { debug() {}, info() {}, warn: (_: object, text: string) => void warned.push(text), error() {} }
async function open(): Promise<OpenStore<Database>> {
  const store = await openStore(layout, log, { clock: Date.now, onDiskFailure: () => undefined })
  opened.push(store)
  return store
}
async function close({ db, identity }: OpenStore<Database>, inOrder = true): Promise<void> {
  opened = opened.filter((one) => one.db !== db)
  await db.close(() => (inOrder ? identity.markClosed() : undefined))
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
  it('keeps one id in the database and next to the objects, and counts its starts in both', async () => {
    const first = beside()
    expect(first).toMatchObject({ closed: true })
    const store = await open()
    expect(beside()).toEqual({ store: first.store, opened: first.opened + 1, closed: false })
    expect(known(store)).toEqual({ id: first.store, opened: first.opened + 1 })
    expect([store.identity.keepUnknownReason(), warned]).toEqual([undefined, []])
    expect(Math.abs(store.identity.openedAt - Date.now())).toBeLessThan(60_000)
    await close(store)
    expect(beside()).toEqual({ store: first.store, opened: first.opened + 1, closed: true })
    await close(await open(), false)
    expect(beside().closed).toBe(false)
  })

  it('does not open during a restore or with the objects of another store', async () => {
    writeFileSync(layout.restoring, '')
    expect(() => checkStore(layout)).toThrow(StoreDamagedError)
    rmSync(layout.restoring)
    expect(checkStore(layout)).toEqual({ log: 'usable' })
    write({ store: 'another' })
    await expect(open()).rejects.toThrow(/belongs to store .* contains the objects of store another/)
  })

  it.each(['', '{', '{"store":7,"opened":1,"closed":true}', '{"store":"x","closed":true}', '{"store":"x","opened":1}'])(
    'does not open when its store file is malformed: %j',
    async (text) => {
      writeFileSync(layout.storeFile, text)
      await expect(open()).rejects.toThrow(/must name the store of the objects/)
    },
  )

  it('does not open if the log of an unclean run is missing, until the store file is removed', async () => {
    write({ closed: false })
    objects()
    rmSync(`${layout.database}-wal`, { force: true })
    expect(checkStore(layout)).toEqual({ log: 'missing' })
    await expect(open()).rejects.toThrow(/-wal is missing although the last run did not end in order/)
    await expect(open()).rejects.toThrow(/-wal is missing/)
    rmSync(layout.storeFile)
    expect((await open()).identity.keepUnknownReason()).toBeDefined()
  })

  it('does not open if its shared memory file or its count of starts shows that the log is missing', async () => {
    const starts = beside().opened
    rmSync(`${layout.database}-wal`, { force: true })
    write({ closed: false })
    writeFileSync(`${layout.database}-shm`, '')
    expect(() => checkStore(layout)).toThrow(/-wal is missing/)
    rmSync(`${layout.database}-shm`)
    write({ closed: false, opened: starts + 1 })
    for (const _ of ['first', 'second']) await expect(open()).rejects.toThrow(/-wal is missing/)
  })

  it('opens when another program moved the log of a killed run into the database', async () => {
    write({ closed: false })
    rmSync(`${layout.database}-wal`, { force: true })
    expect((await open()).identity.keepUnknownReason()).toBeUndefined()
  })

  it('records a clean end before its log is removed, and reverts the record if the log remains', async () => {
    const store = await open()
    store.identity.markClosed()
    expect([beside().closed, existsSync(`${layout.database}-wal`)]).toEqual([true, true])
    store.identity.unmarkClosed()
    expect(beside().closed).toBe(false)
    await close(store)
    store.identity.unmarkClosed()
    expect([beside().closed, existsSync(`${layout.database}-wal`)]).toEqual([true, false])
  })

  it('counts as new when nothing of an earlier store exists', () => {
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
    ['its store file', () => undefined],
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
  ])('does not open without its database when %s shows that a database existed', (_, prepare) => {
    rmSync(layout.database)
    rmSync(`${layout.database}-wal`, { force: true })
    prepare()
    expect(() => checkStore(layout)).toThrow(/is missing, but .* shows that there was one/)
    expect(existsSync(layout.database)).toBe(false)
  })

  it('does not open when its database is empty, blank or damaged, and the error names the state', () => {
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
    expect(() => checkStore(layout)).toThrow(/contains no tables/)
    writeFileSync(
      layout.database,
      'nothing that a database begins with, and long enough to have a head of hundred bytes, at least',
    )
    expect(() => checkStore(layout)).toThrow(/is damaged/)
  })
})

describe('doubt that the database knows all objects', () => {
  const doubted = async () => (await open()).identity.keepUnknownReason()

  it('arises when the log of an unclean run is empty', async () => {
    write({ closed: false })
    writeFileSync(`${layout.database}-wal`, '')
    expect(checkStore(layout)).toEqual({ log: 'empty' })
    expect(await doubted()).toBe(`${layout.keepUnknown} explains why it may not know all`)
    expect(readFileSync(layout.keepUnknown, 'utf8')).toMatch(/-wal is empty although the last run did not end in order/)
    expect(warned).toHaveLength(1)
  })

  it('arises when the database was opened less often than the objects, until a person clears it', async () => {
    write({ opened: beside().opened + 5 })
    const store = await open()
    expect(store.identity.keepUnknownReason()).toBeDefined()
    expect(readFileSync(layout.keepUnknown, 'utf8')).toMatch(/is older than the objects/)
    expect(known(store)?.opened).toBe(beside().opened)
    await close(store)
    expect(await doubted()).toBeDefined()
    expect(warned).toHaveLength(2)
    rmSync(layout.keepUnknown)
    expect(opened.at(-1)?.identity.keepUnknownReason()).toBeUndefined()
  })

  it('arises when nothing identifies the store of the objects', async () => {
    rmSync(layout.storeFile)
    objects()
    expect(await doubted()).toBeDefined()
    expect(readFileSync(layout.keepUnknown, 'utf8')).toMatch(/is missing: the objects may belong to another store/)
  })

  it('does not arise if the store file is missing and no objects exist', async () => {
    rmSync(layout.storeFile)
    expect(await doubted()).toBeUndefined()
    expect(existsSync(layout.keepUnknown)).toBe(false)
  })

  it('arises while the store file is missing or replaced at runtime', async () => {
    const store = await open()
    const text = readFileSync(layout.storeFile, 'utf8')
    for (const [other, says] of [
      [undefined, 'does not exist'],
      ['{', 'does not exist'],
      [text.replace(beside().store, 'another'), 'belongs to another store'],
    ] as const) {
      rmSync(layout.storeFile, { force: true })
      if (other !== undefined) writeFileSync(layout.storeFile, other)
      expect(store.identity.keepUnknownReason()).toBe(`${layout.storeFile} ${says}`)
    }
    writeFileSync(layout.storeFile, text)
    expect(store.identity.keepUnknownReason()).toBeUndefined()
  })
})

describe('an error of the database at the start', () => {
  it('becomes an error that names the damaged file, but stays unchanged if the file is not damaged', () => {
    const met = new Sqlite.SqliteError('file is not a database', 'SQLITE_NOTADB')
    for (const error of [met, new DatabaseDamaged('file is not a database', met)]) {
      const told = toDamagedStoreError(error, layout)
      expect(told).toBeInstanceOf(StoreDamagedError)
      expect(String(told)).toContain(`${layout.database} is damaged: file is not a database. Nothing was changed`)
      expect(told).toMatchObject({ cause: error })
    }
    for (const error of [new Error('x'), new Sqlite.SqliteError('malformed JSON', 'SQLITE_ERROR')])
      expect(toDamagedStoreError(error, layout)).toBe(error)
  })
})
