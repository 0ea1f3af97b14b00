import type { DataLayout } from '../../local/layout.js'
import { formatObjectLocation, type ObjectLocation } from '../../local/object-location.js'
import { createPrivateFile, readIfExists, writePrivateFile } from '../../local/private-file.js'
import { StoreDamagedError } from '../../local/store-damaged-error.js'
import type { EngineLog } from '../base/log.js'
import type { Driver } from './driver.js'
import { FileObjects } from './object-files.js'
import type { ObjectStore } from './objects.js'
import { type Read, sql } from './program.js'

/**
 * Refuses to start without the location of the objects where the data directory records one: all objects would look
 * lost.
 * @throws StoreDamagedError where no location is given then
 */
export function refuseWithoutLocation({ elsewhere }: DataLayout, location: ObjectLocation | undefined): void {
  const recorded = location === undefined ? readIfExists(elsewhere) : undefined
  if (recorded === undefined) return
  throw new StoreDamagedError(
    `the objects of this store are in ${recorded.trim()}: start with --objects or the setting objects (recorded in ${elsewhere})`,
  )
}

/**
 * Opens the objects of a store: files of the data directory, or those at another location. @throws like
 * `S3Objects.open`
 */
export async function openObjects(
  db: Driver,
  layout: DataLayout,
  log: EngineLog,
  location: ObjectLocation | undefined,
): Promise<ObjectStore> {
  const { elsewhere, keepUnknown } = layout
  if (location === undefined) return await FileObjects.open(layout.objects)
  // load the SDK only where it is used
  const { S3Objects } = await import('./object-s3.js')
  const objects = await S3Objects.open({
    location,
    folder: layout.objects,
    store: await db.read(readStoreOpenings()),
    log,
    onKeepUnknown(why) {
      log.warn({ file: keepUnknown }, why)
      createPrivateFile(keepUnknown, `${why}.\n`)
    },
  })
  writePrivateFile(elsewhere, `${formatObjectLocation(location)}\n`)
  return objects
}

function* readStoreOpenings(): Read<{ id: string; opened: number; hasObjects: boolean }> {
  const row = yield* sql.get<{ id: string; opened: number; objects: number }>(
    'SELECT id, opened, EXISTS (SELECT 1 FROM objects) objects FROM store',
  )
  if (row === undefined) throw new StoreDamagedError('the database does not name its store')
  return { id: row.id, opened: row.opened, hasObjects: row.objects === 1 }
}
