import type { DataLayout } from '../../local/layout.js'
import { type ObjectPlace, placeText } from '../../local/object-place.js'
import { createPrivateFile, readIfExists, writePrivateFile } from '../../local/private-file.js'
import { StoreRefused } from '../../local/store-refused.js'
import type { EngineLog } from '../base/log.js'
import type { Driver } from './driver.js'
import { FileObjects } from './object-files.js'
import type { ObjectStore } from './objects.js'
import { type Read, sql } from './program.js'

/**
 * Refuses to start without the location of the objects where the data directory records one: all objects would look
 * lost.
 * @throws StoreRefused where no location is given then
 */
export function refuseWithoutPlace({ elsewhere }: DataLayout, place: ObjectPlace | undefined): void {
  const before = place === undefined ? readIfExists(elsewhere) : undefined
  if (before === undefined) return
  throw new StoreRefused(
    `the objects of this store are in ${before.trim()}: start with --objects or the setting objects (recorded in ${elsewhere})`,
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
  place: ObjectPlace | undefined,
): Promise<ObjectStore> {
  const { elsewhere, keepUnknown } = layout
  if (place === undefined) return await FileObjects.open(layout.objects)
  // load the SDK only where it is used
  const { S3Objects } = await import('./object-s3.js')
  const objects = await S3Objects.open({
    place,
    folder: layout.objects,
    store: await db.read(storeOpened()),
    log,
    onDoubt(why) {
      log.warn({ file: keepUnknown }, why)
      createPrivateFile(keepUnknown, `${why}.\n`)
    },
  })
  writePrivateFile(elsewhere, `${placeText(place)}\n`)
  return objects
}

function* storeOpened(): Read<{ id: string; opened: number; hasObjects: boolean }> {
  const row = yield* sql.get<{ id: string; opened: number; objects: number }>(
    'SELECT id, opened, EXISTS (SELECT 1 FROM objects) objects FROM store',
  )
  if (row === undefined) throw new StoreRefused('the database does not name its store')
  return { id: row.id, opened: row.opened, hasObjects: row.objects === 1 }
}
