import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { newId } from '../../lib/ids.js'
import { isStorageFull } from '../../local/disk-error.js'
import { sizeOf } from '../../local/file-system.js'
import type { DataLayout } from '../../local/layout.js'
import { createPrivateFile, isCode, readIfExists, writePrivateFile } from '../../local/private-file.js'
import { StoreRefused } from '../../local/store-refused.js'
import type { EngineLog } from '../base/log.js'
import type { Database } from './database.js'
import { databaseState } from './database-file.js'
import type { Driver } from './driver.js'
import { type Read, sql, type Write } from './program.js'

/**
 * Identifies the store of the database and of the objects. The id is stored in the database and in a file next to the
 * objects, together with a count of the starts. So objects are never judged by a database that cannot know them: a new
 * one, one of another store, or one from before some of them were added.
 */
export interface StoreIdentity {
  /** why objects that the database does not know must be kept; nothing when the database knows all */
  doubt(): string | undefined
  /** time of opening, in milliseconds since the epoch: anything older belongs to an earlier start */
  readonly openedAt: number
  /** Records an orderly end, just before the database is closed: from here on its log may be removed. */
  closed(): void
  /** Withdraws that record after the close where the log remains, because other processes still read the database. */
  released(): void
}

/** Content of the file next to the objects. */
interface Beside {
  store: string
  /** count of starts */
  opened: number
  /** whether the last run ended in order */
  closed: boolean
}

const STATES = { missing: 'is missing', empty: 'is empty', blank: 'contains no tables' } as const
const TENANT_FOLDER = /^[0-9a-f]{24}$/
const OBJECT = /^[0-9a-f]{64}$/

/**
 * Inspects a data directory before anything is opened: SQLite would create a missing database.
 *
 * @returns whether the log of a run that did not end in order is empty or missing: it was moved into the database, or
 * lost
 * @throws StoreRefused where files of a store exist and its database is missing, empty or damaged, where the log of a
 * run that did not end in order was removed, or where a restore is incomplete
 */
export function checkStore(layout: DataLayout): { log: 'usable' | 'empty' | 'missing' } {
  if (existsSync(layout.restoring))
    throw new StoreRefused(
      `a backup is being restored into ${layout.root}, or a restore was interrupted (${layout.restoring} exists): run \`ks restore\` again`,
    )
  const state = databaseState(layout.database)
  if (state.is === 'damaged')
    throw new StoreRefused(`the database ${layout.database} is damaged: ${state.what}. ${whatToDo(layout)}`)
  if (state.is !== 'whole') {
    const left = remains(layout)
    if (left !== undefined)
      throw new StoreRefused(
        `the database ${layout.database} ${STATES[state.is]}, but ${left} shows that there was one. ${whatToDo(layout)}`,
      )
    return { log: 'usable' }
  }
  if (readBeside(layout)?.closed !== false) return { log: 'usable' }
  const log = `${layout.database}-wal`
  if (existsSync(log)) return { log: sizeOf(log) === 0 ? 'empty' : 'usable' }
  // SQLite removes both files together
  if (existsSync(`${layout.database}-shm`)) throw logLost(layout)
  return { log: 'missing' }
}

function logLost({ root, database, storeFile }: DataLayout): StoreRefused {
  return new StoreRefused(
    `${database}-wal is missing although the last run did not end in order: the last writes are lost without it. ` +
      `Nothing was changed: put the file back, or a backup in the place of ${root} (\`ks restore\`), or, ` +
      `to continue with the content of ${database}, remove ${storeFile}`,
  )
}

/**
 * Distinguishes a log that was removed from one that another program moved into the database when it closed it.
 *
 * @throws StoreRefused where the database is from before the last start, or does not know all objects
 */
export function refuseLostLog(layout: DataLayout): void {
  // closed again before anything else opens it: SQLite then removes the empty log that it creates here
  const database = new Sqlite(layout.database)
  try {
    const list = <T>(statement: string): T[] => database.prepare<[], T>(statement).all()
    const tables = list("SELECT 1 FROM sqlite_schema WHERE name IN ('store', 'objects')")
    const [known] = tables.length < 2 ? [] : list<Known>('SELECT id, opened FROM store')
    if (known === undefined || known.opened < (readBeside(layout)?.opened ?? 0)) throw logLost(layout)
    const noted = new Set(list<{ sha256: string }>('SELECT sha256 FROM objects').map(({ sha256 }) => sha256))
    if (objectsIn(layout).some((sha256) => !noted.has(sha256))) throw logLost(layout)
  } finally {
    database.close()
  }
}

/** Hashes of the objects on this disk. */
function objectsIn({ objects }: DataLayout): string[] {
  return tenantsIn(objects)
    .map((tenant) => join(objects, tenant, 'sha256'))
    .flatMap((folder) => namesIn(folder).flatMap((name) => namesIn(join(folder, name))))
    .filter((name) => OBJECT.test(name))
}

/** Advice for people about a database that cannot be used. */
export function whatToDo({ root, databaseDir, objects, indexes }: DataLayout): string {
  return `Nothing was changed: put a backup in the place of ${root} (\`ks restore\`), or, to start again without its content, move ${databaseDir}, ${objects} and ${indexes} away`
}

/** Path of a remnant of an earlier store in the directory, if any. */
function remains({ database, objects, indexes, storeFile }: DataLayout): string | undefined {
  if (existsSync(storeFile)) return storeFile
  const [tenant] = tenantsIn(objects)
  if (tenant !== undefined) return join(objects, tenant)
  if (sizeOf(database) === 0 && sizeOf(`${database}-wal`) > 0) return `${database}-wal`
  const index = namesIn(indexes)[0]
  return index === undefined ? undefined : join(indexes, index)
}

/** Names of tenant folders that contain objects. */
function tenantsIn(objects: string): string[] {
  return namesIn(objects).filter(
    (name) => TENANT_FOLDER.test(name) && namesIn(join(objects, name, 'sha256')).length > 0,
  )
}

/** `refuseOtherStore` for a file whose tables may not exist yet. */
export function* refuseOtherFile(layout: DataLayout): Read<void> {
  if ((yield* sql.get("SELECT 1 FROM sqlite_schema WHERE name = 'store'")) !== undefined)
    yield* refuseOther(layout, layout.database)
}

/** @throws StoreRefused where the database belongs to another store than the objects next to it */
export function* refuseOther(layout: DataLayout, database: string): Read<void> {
  const beside = readBeside(layout)
  if (beside === undefined) return
  const known = yield* readKnown()
  if (known === undefined || known.id === beside.store) return
  throw new StoreRefused(
    `the database ${database} belongs to store ${known.id}, but ${layout.objects} contains the objects of store ${beside.store}. ${whatToDo(layout)}`,
  )
}

function* readKnown(): Read<Known | undefined> {
  return yield* sql.get<Known>('SELECT id, opened FROM store')
}

interface Opening {
  db: Driver
  /** the same database, where it is a file of the data directory */
  file: Database | undefined
  /** its location, as people read it */
  database: string
  layout: DataLayout
  log: EngineLog
  /** the result of `checkStore` */
  logEmpty: boolean
}

interface Known {
  id: string
  opened: number
}

/**
 * Compares the database with the file next to the objects, and records this start in both: first in the database, so
 * that a crash in between never looks like a database that is too old.
 */
export async function openIdentity(opening: Opening): Promise<StoreIdentity> {
  const { db, file, layout, log } = opening
  const { storeFile, keepUnknown } = layout
  const known = await db.read(readKnown())
  const beside = readBeside(layout)
  const why = await db.read(reasonToDoubt(opening, known, beside))
  if (why !== undefined) createPrivateFile(keepUnknown, `${why}.\n${ABOUT_DOUBT}\n`)
  if (existsSync(keepUnknown))
    log.warn({ file: keepUnknown }, why ?? 'objects that the database does not know are kept')
  const id = known?.id ?? beside?.store ?? newId()
  const opened = Math.max(known?.opened ?? 0, beside?.opened ?? 0) + 1
  const note = (closed: boolean) =>
    writePrivateFile(storeFile, `${JSON.stringify({ store: id, opened, closed } satisfies Beside)}\n`)
  const noteEnd = (closed: boolean) => {
    try {
      note(closed)
    } catch (error) {
      log.warn({ error: String(error) }, 'an orderly end could not be recorded')
    }
  }
  function* start(): Write<void> {
    yield* sql.run('DELETE FROM store')
    yield* sql.run('INSERT INTO store (id, opened) VALUES (?, ?)', [id, opened])
  }
  try {
    if (file === undefined) await db.write(start)
    else file.writeNow(start)
    note(false)
  } catch (error) {
    if (!isStorageFull(error)) throw error // a full disk still allows reading
    log.warn({ error: String(error) }, 'this start could not be recorded')
  }
  return {
    openedAt: Date.now(),
    doubt() {
      if (existsSync(keepUnknown)) return `${keepUnknown} explains why it may not know all`
      const found = readFound(layout)
      return found === id ? undefined : `${storeFile} ${found === undefined ? 'does not exist' : 'belongs to another store'}`
    },
    closed: () => noteEnd(true),
    released: () => noteEnd(sizeOf(`${layout.database}-wal`) === 0),
  }
}

const ABOUT_DOUBT =
  'Files below this folder that the database does not know are therefore kept: `ks fsck SPACE` lists them, `ks gc` does not remove them. Put the missing part of the database back from a backup, or send the documents again (`ks ingest`); then remove this file.'

/** Why there may be objects that the database does not know, as far as that can be determined. */
function* reasonToDoubt(
  { database, layout, logEmpty }: Opening,
  known: Known | undefined,
  beside: Beside | undefined,
): Read<string | undefined> {
  const { objects, storeFile } = layout
  if (logEmpty)
    return `${database}-wal is empty although the last run did not end in order: the last writes may be lost`
  if (beside !== undefined && (known?.opened ?? 0) < beside.opened)
    return `the database ${database} is older than the objects in ${objects}: it was opened ${known?.opened ?? 0} times, they were opened ${beside.opened} times`
  if (beside !== undefined || tenantsIn(objects).length === 0) return undefined
  if (known !== undefined) return `${storeFile} is missing: the objects may belong to another store`
  return (yield* sql.get<{ one: number }>('SELECT 1 one FROM spaces LIMIT 1')) === undefined
    ? `the database ${database} contains no space, but ${objects} contains objects`
    : undefined
}

/** @throws StoreRefused for an unreadable file: the store of the objects is never guessed */
function readBeside({ storeFile: path }: DataLayout): Beside | undefined {
  try {
    const text = readIfExists(path)
    if (text === undefined) return undefined
    const { store, opened, closed }: Partial<Beside> = JSON.parse(text)
    if (typeof store === 'string' && typeof opened === 'number' && typeof closed === 'boolean')
      return { store, opened, closed }
  } catch {
    // reported below, like any other invalid content
  }
  throw new StoreRefused(
    `${path} must name the store of the objects, but cannot be read: restore it from a backup, or remove it`,
  )
}

/** The id of the store that the objects belong to now; nothing where that cannot be read. */
function readFound(layout: DataLayout): string | undefined {
  try {
    return readBeside(layout)?.store
  } catch {
    return undefined
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isCode(error, 'ENOENT') || isCode(error, 'ENOTDIR')) return []
    throw error
  }
}
