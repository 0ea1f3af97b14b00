import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { DatabaseAddress } from '../../local/database-address.js'
import type { DataLayout } from '../../local/layout.js'
import type { ObjectLocation } from '../../local/object-location.js'
import { readIfExists, writePrivateFile } from '../../local/private-file.js'
import { StoreDamagedError } from '../../local/store-damaged-error.js'
import type { EngineLog } from '../base/log.js'
import { Database } from './database.js'
import { describeDeployment, joinDeployment } from './deployment.js'
import type { Driver } from './driver.js'
import type { ObjectStore } from './objects.js'
import { openObjects, refuseWithoutLocation } from './open-objects.js'
import { DatabaseDamaged, toDamageError } from './sql-errors.js'
import {
  checkStore,
  openIdentity,
  recoveryAdvice,
  refuseLostLog,
  refuseOtherStore,
  refuseOtherStoreFile,
  type StoreIdentity,
} from './store-identity.js'

export interface OpenStore<D extends Driver = Driver> {
  db: D
  /** the same database, where it is a file of the data directory */
  databaseFile: Database | undefined
  objects: ObjectStore
  identity: StoreIdentity
}

/**
 * Opens database and objects of a data directory that the caller has locked.
 *
 * @param clock time of programs, in milliseconds since the epoch
 * @param onDiskFailure called with every failure that came from the disk
 * @param location of the objects; files of the data directory where absent
 * @throws StoreDamagedError where the database is missing, damaged or of another store; then no byte was changed
 */
export async function openStore(
  layout: DataLayout,
  log: EngineLog,
  { clock, onDiskFailure }: { clock: () => number; onDiskFailure(error: unknown): void },
  location?: ObjectLocation,
): Promise<OpenStore<Database>> {
  refuseWithoutLocation(layout, location)
  const recorded = readIfExists(layout.databaseElsewhere)
  if (recorded !== undefined)
    throw new StoreDamagedError(
      `the database of this store is ${recorded.trim()}: start with --backend or the setting backend (recorded in ${layout.databaseElsewhere})`,
    )
  const { log: logState } = checkStore(layout)
  if (logState === 'missing') refuseLostLog(layout)
  await mkdir(layout.databaseDir, { recursive: true, mode: 0o700 })
  // A refused database stays open: closing it would move its log into it. The process ends soon, or drops the object.
  const db = new Database(layout.database, clock, onDiskFailure, (opened) => opened.now(refuseOtherStoreFile(layout)))
  await mkdir(layout.objects, { recursive: true, mode: 0o700 })
  const logEmpty = logState === 'empty'
  const identity = await openIdentity({ db, file: db, database: layout.database, layout, log, logEmpty })
  return { db, databaseFile: db, ...bindObjects(identity, await openObjects(db, layout, log, location)) }
}

/** Opens a store whose database is on a server, with an existing schema. */
export async function openServerStore(
  layout: DataLayout,
  log: EngineLog,
  server: { address: DatabaseAddress; application: string; clock: () => number },
  location?: ObjectLocation,
): Promise<OpenStore> {
  const { address } = server
  refuseWithoutLocation(layout, location)
  if (existsSync(layout.database))
    throw new StoreDamagedError(
      `${layout.root} has a database of its own, ${layout.database}: give another data directory`,
    )
  // load the driver only where it is used
  const { Postgres } = await import('./postgres/postgres.js')
  const db = await Postgres.open(server)
  try {
    await db.read(refuseOtherStore(layout, address.displayText))
    await mkdir(layout.objects, { recursive: true, mode: 0o700 })
    await mkdir(layout.databaseDir, { recursive: true, mode: 0o700 })
    const deployment = describeDeployment(layout, location)
    await db.write(() => joinDeployment(deployment, layout))
    const identity = await openIdentity({
      db,
      file: undefined,
      database: address.displayText,
      layout,
      log,
      logEmpty: false,
    })
    const opened = {
      db,
      databaseFile: undefined,
      ...bindObjects(identity, await openObjects(db, layout, log, location)),
    }
    writePrivateFile(layout.databaseElsewhere, `${address.displayText}\n`)
    return opened
  } catch (error) {
    await db.close()
    throw error
  }
}

function bindObjects(identity: StoreIdentity, objects: ObjectStore): Pick<OpenStore, 'objects' | 'identity'> {
  return {
    objects,
    identity: { ...identity, keepUnknownReason: () => objects.keepUnknownReason() ?? identity.keepUnknownReason() },
  }
}

/**
 * Converts damage that SQLite found while a store was opened into an error for people; other errors stay as they are.
 */
export function toDamagedStoreError(error: unknown, layout: DataLayout): unknown {
  const damage = error instanceof DatabaseDamaged ? error : toDamageError(error)
  if (!(damage instanceof DatabaseDamaged)) return error
  const what = damage.cause instanceof Error ? damage.cause.message : damage.message
  return new StoreDamagedError(`the database ${layout.database} is damaged: ${what}. ${recoveryAdvice(layout)}`, {
    cause: error,
  })
}
