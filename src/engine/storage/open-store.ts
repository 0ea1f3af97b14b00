import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import type { DatabaseAddress } from '../../local/database-address.js'
import type { DataLayout } from '../../local/layout.js'
import type { ObjectPlace } from '../../local/object-place.js'
import { readIfExists, writePrivateFile } from '../../local/private-file.js'
import { StoreRefused } from '../../local/store-refused.js'
import type { EngineLog } from '../base/log.js'
import { Database } from './database.js'
import { deploymentOf, joinDeployment } from './deployment.js'
import type { Driver } from './driver.js'
import type { ObjectStore } from './objects.js'
import { openObjects, refuseWithoutPlace } from './open-objects.js'
import { DatabaseDamaged, damageMet } from './sql-errors.js'
import {
  checkStore,
  openIdentity,
  refuseLostLog,
  refuseOther,
  refuseOtherFile,
  type StoreIdentity,
  whatToDo,
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
 * @param onDiskFailure called with every failure that came from the disk
 * @param location of the objects; files of the data directory where absent
 * @throws StoreRefused where the database is missing, damaged or of another store; then no byte was changed
 */
export async function openStore(
  layout: DataLayout,
  log: EngineLog,
  refused: (error: unknown) => void,
  place?: ObjectPlace,
): Promise<OpenStore<Database>> {
  refuseWithoutPlace(layout, place)
  const before = readIfExists(layout.databaseElsewhere)
  if (before !== undefined)
    throw new StoreRefused(
      `the database of this store is ${before.trim()}: start with --backend or the setting backend (recorded in ${layout.databaseElsewhere})`,
    )
  const { log: logState } = checkStore(layout)
  if (logState === 'missing') refuseLostLog(layout)
  await mkdir(layout.databaseDir, { recursive: true, mode: 0o700 })
  // A refused database stays open: closing it would move its log into it. The process ends soon, or drops the object.
  const db = new Database(layout.database, refused, (opened) => opened.now(refuseOtherFile(layout)))
  await mkdir(layout.objects, { recursive: true, mode: 0o700 })
  const logEmpty = logState === 'empty'
  const identity = await openIdentity({ db, file: db, database: layout.database, layout, log, logEmpty })
  return { db, databaseFile: db, ...(await withObjects(db, identity, layout, log, place)) }
}

/**
 * Opens a store whose database is on a server, with an existing schema. @param gateway name of this process on the
 * server
 */
export async function openServerStore(
  layout: DataLayout,
  log: EngineLog,
  address: DatabaseAddress,
  gateway: string,
  place?: ObjectPlace,
): Promise<OpenStore> {
  refuseWithoutPlace(layout, place)
  if (existsSync(layout.database))
    throw new StoreRefused(`${layout.root} has a database of its own, ${layout.database}: give another data directory`)
  // load the driver only where it is used
  const { Postgres } = await import('./postgres/postgres.js')
  const db = await Postgres.open({ address, application: gateway })
  try {
    await db.read(refuseOther(layout, address.shown))
    await mkdir(layout.objects, { recursive: true, mode: 0o700 })
    await mkdir(layout.databaseDir, { recursive: true, mode: 0o700 })
    const deployment = deploymentOf(layout, place)
    await db.write(() => joinDeployment(deployment, layout))
    const identity = await openIdentity({ db, file: undefined, database: address.shown, layout, log, logEmpty: false })
    const opened = { db, databaseFile: undefined, ...(await withObjects(db, identity, layout, log, place)) }
    writePrivateFile(layout.databaseElsewhere, `${address.shown}\n`)
    return opened
  } catch (error) {
    await db.close()
    throw error
  }
}

async function withObjects(
  db: Driver,
  identity: StoreIdentity,
  layout: DataLayout,
  log: EngineLog,
  place: ObjectPlace | undefined,
): Promise<Pick<OpenStore, 'objects' | 'identity'>> {
  const objects = await openObjects(db, layout, log, place)
  return { objects, identity: { ...identity, doubt: () => objects.doubt() ?? identity.doubt() } }
}

/**
 * Converts damage that SQLite found while a store was opened into an error for people; other errors stay as they are.
 */
export function explainDamage(error: unknown, layout: DataLayout): unknown {
  const met = error instanceof DatabaseDamaged ? error : damageMet(error)
  if (!(met instanceof DatabaseDamaged)) return error
  const what = met.cause instanceof Error ? met.cause.message : met.message
  return new StoreRefused(`the database ${layout.database} is damaged: ${what}. ${whatToDo(layout)}`, { cause: error })
}
