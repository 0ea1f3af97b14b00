import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { newId } from '../../lib/ids.js'
import { isStorageFull } from '../../local/disk-error.js'
import { getFileSize } from '../../local/file-system.js'
import type { DataLayout } from '../../local/layout.js'
import { createPrivateFile, hasErrorCode, readIfExists, writePrivateFile } from '../../local/private-file.js'
import { StoreDamagedError } from '../../local/store-damaged-error.js'
import type { EngineLog } from '../base/log.js'
import type { Database } from './database.js'
import { inspectDatabaseFile } from './database-file.js'
import type { Driver } from './driver.js'
import { type Read, readClock, sql, type Write } from './program.js'

/**
 * Identifies the store of the database and of the objects. The id is stored in the database and in a file next to the
 * objects, together with a count of the starts. So objects are never judged by a database that cannot know them: a new
 * one, one of another store, or one from before some of them were added.
 */
export interface StoreIdentity {
  /** why objects that the database does not know must be kept; nothing when the database knows all */
  keepUnknownReason(): string | undefined
  /** time of opening, in milliseconds since the epoch: anything older belongs to an earlier start */
  readonly openedAt: number
  /** Records an orderly end, just before the database is closed: from here on its log may be removed. */
  markClosed(): void
  /** Withdraws that record after the close where the log remains, because other processes still read the database. */
  unmarkClosed(): void
}

/** Content of the file next to the objects. */
interface StoreFileContent {
  store: string
  /** count of starts */
  opened: number
  /** whether the last run ended in order */
  closed: boolean
}

const STATE_TEXTS = { missing: 'is missing', empty: 'is empty', blank: 'contains no tables' } as const
const TENANT_FOLDER = /^[0-9a-f]{24}$/
const OBJECT_NAME = /^[0-9a-f]{64}$/

/**
 * Inspects a data directory before anything is opened: SQLite would create a missing database.
 *
 * @returns whether the log of a run that did not end in order is empty or missing: it was moved into the database, or
 * lost
 * @throws StoreDamagedError where files of a store exist and its database is missing, empty or damaged, where the log of a
 * run that did not end in order was removed, or where a restore is incomplete
 */
export function checkStore(layout: DataLayout): { log: 'usable' | 'empty' | 'missing' } {
  if (existsSync(layout.restoring))
    throw new StoreDamagedError(
      `a backup is being restored into ${layout.root}, or a restore was interrupted (${layout.restoring} exists): run \`ks restore\` again`,
    )
  const state = inspectDatabaseFile(layout.database)
  if (state.is === 'damaged')
    throw new StoreDamagedError(`the database ${layout.database} is damaged: ${state.what}. ${recoveryAdvice(layout)}`)
  if (state.is !== 'whole') {
    const remnant = findRemnant(layout)
    if (remnant !== undefined)
      throw new StoreDamagedError(
        `the database ${layout.database} ${STATE_TEXTS[state.is]}, but ${remnant} shows that there was one. ${recoveryAdvice(layout)}`,
      )
    return { log: 'usable' }
  }
  if (readStoreFile(layout)?.closed !== false) return { log: 'usable' }
  const log = `${layout.database}-wal`
  if (existsSync(log)) return { log: getFileSize(log) === 0 ? 'empty' : 'usable' }
  // SQLite removes both files together
  if (existsSync(`${layout.database}-shm`)) throw lostLogError(layout)
  return { log: 'missing' }
}

function lostLogError({ root, database, storeFile }: DataLayout): StoreDamagedError {
  return new StoreDamagedError(
    `${database}-wal is missing although the last run did not end in order: the last writes are lost without it. ` +
      `Nothing was changed: put the file back, or a backup in the place of ${root} (\`ks restore\`), or, ` +
      `to continue with the content of ${database}, remove ${storeFile}`,
  )
}

/**
 * Distinguishes a log that was removed from one that another program moved into the database when it closed it.
 *
 * @throws StoreDamagedError where the database is from before the last start, or does not know all objects
 */
export function refuseLostLog(layout: DataLayout): void {
  // closed again before anything else opens it: SQLite then removes the empty log that it creates here
  const database = new Sqlite(layout.database)
  try {
    const list = <T>(statement: string): T[] => database.prepare<[], T>(statement).all()
    const tables = list("SELECT 1 FROM sqlite_schema WHERE name IN ('store', 'objects')")
    const [recorded] = tables.length < 2 ? [] : list<StoreRow>('SELECT id, opened FROM store')
    if (recorded === undefined || recorded.opened < (readStoreFile(layout)?.opened ?? 0)) throw lostLogError(layout)
    const knownHashes = new Set(list<{ sha256: string }>('SELECT sha256 FROM objects').map(({ sha256 }) => sha256))
    if (listObjectHashes(layout).some((sha256) => !knownHashes.has(sha256))) throw lostLogError(layout)
  } finally {
    database.close()
  }
}

/** Hashes of the objects on this disk. */
function listObjectHashes({ objects }: DataLayout): string[] {
  return listTenantFolders(objects)
    .map((tenant) => join(objects, tenant, 'sha256'))
    .flatMap((folder) => listNames(folder).flatMap((name) => listNames(join(folder, name))))
    .filter((name) => OBJECT_NAME.test(name))
}

/** Advice for people about a database that cannot be used. */
export function recoveryAdvice({ root, databaseDir, objects, indexes }: DataLayout): string {
  return `Nothing was changed: put a backup in the place of ${root} (\`ks restore\`), or, to start again without its content, move ${databaseDir}, ${objects} and ${indexes} away`
}

/** Path of a remnant of an earlier store in the directory, if any. */
function findRemnant({ database, objects, indexes, storeFile }: DataLayout): string | undefined {
  if (existsSync(storeFile)) return storeFile
  const [tenant] = listTenantFolders(objects)
  if (tenant !== undefined) return join(objects, tenant)
  if (getFileSize(database) === 0 && getFileSize(`${database}-wal`) > 0) return `${database}-wal`
  const index = listNames(indexes)[0]
  return index === undefined ? undefined : join(indexes, index)
}

/** Names of tenant folders that contain objects. */
function listTenantFolders(objects: string): string[] {
  return listNames(objects).filter(
    (name) => TENANT_FOLDER.test(name) && listNames(join(objects, name, 'sha256')).length > 0,
  )
}

/** `refuseOtherStore` for a file whose tables may not exist yet. */
export function* refuseOtherStoreFile(layout: DataLayout): Read<void> {
  if ((yield* sql.get("SELECT 1 FROM sqlite_schema WHERE name = 'store'")) !== undefined)
    yield* refuseOtherStore(layout, layout.database)
}

/** @throws StoreDamagedError where the database belongs to another store than the objects next to it */
export function* refuseOtherStore(layout: DataLayout, database: string): Read<void> {
  const storeFileContent = readStoreFile(layout)
  if (storeFileContent === undefined) return
  const storeRow = yield* readStoreRow()
  if (storeRow === undefined || storeRow.id === storeFileContent.store) return
  throw new StoreDamagedError(
    `the database ${database} belongs to store ${storeRow.id}, but ${layout.objects} contains the objects of store ${storeFileContent.store}. ${recoveryAdvice(layout)}`,
  )
}

function* readStoreRow(): Read<StoreRow | undefined> {
  return yield* sql.get<StoreRow>('SELECT id, opened FROM store')
}

interface IdentityOptions {
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

interface StoreRow {
  id: string
  opened: number
}

/**
 * Compares the database with the file next to the objects, and records this start in both: first in the database, so
 * that a crash in between never looks like a database that is too old.
 */
export async function openIdentity(opening: IdentityOptions): Promise<StoreIdentity> {
  const { db, file, layout, log } = opening
  const { storeFile, keepUnknown } = layout
  const storeRow = await db.read(readStoreRow())
  const storeFileContent = readStoreFile(layout)
  const reason = await db.read(findKeepUnknownReason(opening, storeRow, storeFileContent))
  if (reason !== undefined) createPrivateFile(keepUnknown, `${reason}.\n${KEEP_UNKNOWN_EXPLANATION}\n`)
  if (existsSync(keepUnknown))
    log.warn({ file: keepUnknown }, reason ?? 'objects that the database does not know are kept')
  const id = storeRow?.id ?? storeFileContent?.store ?? newId()
  const opened = Math.max(storeRow?.opened ?? 0, storeFileContent?.opened ?? 0) + 1
  const writeStoreFile = (closed: boolean) =>
    writePrivateFile(storeFile, `${JSON.stringify({ store: id, opened, closed } satisfies StoreFileContent)}\n`)
  const recordEnd = (closed: boolean) => {
    try {
      writeStoreFile(closed)
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
    writeStoreFile(false)
  } catch (error) {
    if (!isStorageFull(error)) throw error // a full disk still allows reading
    log.warn({ error: String(error) }, 'this start could not be recorded')
  }
  return {
    openedAt: await db.read(readClock()),
    keepUnknownReason() {
      if (existsSync(keepUnknown)) return `${keepUnknown} explains why it may not know all`
      const foundId = readStoreFileId(layout)
      return foundId === id
        ? undefined
        : `${storeFile} ${foundId === undefined ? 'does not exist' : 'belongs to another store'}`
    },
    markClosed: () => recordEnd(true),
    unmarkClosed: () => recordEnd(getFileSize(`${layout.database}-wal`) === 0),
  }
}

const KEEP_UNKNOWN_EXPLANATION =
  'Files below this folder that the database does not know are therefore kept: `ks fsck SPACE` lists them, `ks gc` does not remove them. Put the missing part of the database back from a backup, or send the documents again (`ks ingest`); then remove this file.'

/** Why there may be objects that the database does not know, as far as that can be determined. */
function* findKeepUnknownReason(
  { database, layout, logEmpty }: IdentityOptions,
  storeRow: StoreRow | undefined,
  storeFileContent: StoreFileContent | undefined,
): Read<string | undefined> {
  const { objects, storeFile } = layout
  if (logEmpty)
    return `${database}-wal is empty although the last run did not end in order: the last writes may be lost`
  if (storeFileContent !== undefined && (storeRow?.opened ?? 0) < storeFileContent.opened)
    return `the database ${database} is older than the objects in ${objects}: it was opened ${storeRow?.opened ?? 0} times, they were opened ${storeFileContent.opened} times`
  if (storeFileContent !== undefined || listTenantFolders(objects).length === 0) return undefined
  if (storeRow !== undefined) return `${storeFile} is missing: the objects may belong to another store`
  return !(yield* sql.exists('SELECT 1 one FROM spaces LIMIT 1'))
    ? `the database ${database} contains no space, but ${objects} contains objects`
    : undefined
}

/** @throws StoreDamagedError for an unreadable file: the store of the objects is never guessed */
function readStoreFile({ storeFile: path }: DataLayout): StoreFileContent | undefined {
  try {
    const text = readIfExists(path)
    if (text === undefined) return undefined
    const { store, opened, closed }: Partial<StoreFileContent> = JSON.parse(text)
    if (typeof store === 'string' && typeof opened === 'number' && typeof closed === 'boolean')
      return { store, opened, closed }
  } catch {
    // reported below, like any other invalid content
  }
  throw new StoreDamagedError(
    `${path} must name the store of the objects, but cannot be read: restore it from a backup, or remove it`,
  )
}

/** The id of the store that the objects belong to now; nothing where that cannot be read. */
function readStoreFileId(layout: DataLayout): string | undefined {
  try {
    return readStoreFile(layout)?.store
  } catch {
    return undefined
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ENOTDIR')) return []
    throw error
  }
}
