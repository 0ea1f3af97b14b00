import { createHash } from 'node:crypto'
import { newId } from '../../lib/ids.js'
import { loadDataKey, loadSigningKey } from '../../local/keys.js'
import type { DataLayout } from '../../local/layout.js'
import { type ObjectPlace, placeText } from '../../local/object-place.js'
import { createPrivateFile, readIfExists } from '../../local/private-file.js'
import { StoreRefused } from '../../local/store-refused.js'
import { sql, type Write } from './program.js'

/** What all gateways on a server must have alike. */
interface Deployment {
  /** where the bytes are: a gateway that looks elsewhere would miss them */
  objects: string
  /** a hash of the keys: a gateway with others would refuse tokens, and could not read credentials of sources */
  keys: string
}

/** What a data directory and its settings say. */
export function deploymentOf(layout: DataLayout, place: ObjectPlace | undefined): Deployment {
  return { objects: placeOf(layout, place), keys: keysOf(layout) }
}

/**
 * Compares a gateway with what the first of the deployment had, or says it as the first.
 *
 * @throws StoreRefused where it is not the same
 */
export function* joinDeployment({ objects, keys }: Deployment, { signingKey, dataKey }: DataLayout): Write<void> {
  const known = yield* sql.get<{ [N in keyof Deployment]: string | null }>('SELECT objects, keys FROM deployment')
  if (known?.objects !== undefined && known.objects !== null && known.objects !== objects)
    throw new StoreRefused(
      `the objects of this database are ${shown(known.objects)}, and this gateway would look ${objects.startsWith('files:') ? 'in its own' : shown(objects)}: give all gateways of a database the same --objects`,
    )
  if (known?.keys !== undefined && known.keys !== null && known.keys !== keys)
    throw new StoreRefused(
      `${signingKey} or ${dataKey} is not that of the other gateways: give all the same (setting keys), or let the next to start say which count (ksd migrate --new-keys)`,
    )
  if (known?.objects !== objects || known.keys !== keys)
    yield* sql.run('UPDATE deployment SET objects = ?, keys = ?', [objects, keys])
}

/** Two machines may reach one bucket by different addresses; the bucket itself says whose it is. */
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
