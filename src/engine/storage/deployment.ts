import { createHash } from 'node:crypto'
import { newId } from '../../lib/ids.js'
import { loadDataKey, loadSigningKey } from '../../local/keys.js'
import type { DataLayout } from '../../local/layout.js'
import { type ObjectPlace, placeText } from '../../local/object-place.js'
import { createPrivateFile, readIfExists } from '../../local/private-file.js'
import { StoreRefused } from '../../local/store-refused.js'
import { sql, type Write } from './program.js'

/** Properties that all gateways of one database must share. */
interface Deployment {
  /** location of the objects: a gateway with another location would miss them */
  objects: string
  /** hash of the keys: a gateway with other keys would reject tokens and could not decrypt credentials of sources */
  keys: string
}

/** Describes this gateway by its data directory and settings. */
export function deploymentOf(layout: DataLayout, place: ObjectPlace | undefined): Deployment {
  return { objects: placeOf(layout, place), keys: keysOf(layout) }
}

/**
 * Compares a gateway with the deployment that the first one recorded, or records it as the first.
 *
 * @throws StoreRefused where they differ
 */
export function* joinDeployment({ objects, keys }: Deployment, { signingKey, dataKey }: DataLayout): Write<void> {
  const known = yield* sql.get<{ [N in keyof Deployment]: string | null }>('SELECT objects, keys FROM deployment')
  if (known?.objects !== undefined && known.objects !== null && known.objects !== objects)
    throw new StoreRefused(
      `the objects of this database are ${shown(known.objects)}, but this gateway would look ${objects.startsWith('files:') ? 'in its own' : shown(objects)}: give all gateways of a database the same --objects`,
    )
  if (known?.keys !== undefined && known.keys !== null && known.keys !== keys)
    throw new StoreRefused(
      `${signingKey} or ${dataKey} is not that of the other gateways: give all the same (setting keys), or let the next to start say which count (ksd migrate --new-keys)`,
    )
  if (known?.objects !== objects || known.keys !== keys)
    yield* sql.run('UPDATE deployment SET objects = ?, keys = ?', [objects, keys])
}

/** Two machines may reach one bucket by different addresses; the record in the bucket identifies its store. */
function placeOf({ objectsName }: DataLayout, place: ObjectPlace | undefined): string {
  if (place !== undefined) return placeText({ bucket: place.bucket, prefix: place.prefix, region: place.region })
  const name = readIfExists(objectsName) ?? createPrivateFile(objectsName, `${newId()}\n`)
  return `files:${name.trim()}`
}

function shown(objects: string): string {
  return objects.startsWith('s3:') ? `in ${objects}` : 'in files of a data directory'
}

function keysOf({ root }: DataLayout): string {
  const hash = createHash('sha256').update('keys of a deployment\n')
  return hash.update(loadSigningKey(root)).update(loadDataKey(root)).digest('base64url')
}
