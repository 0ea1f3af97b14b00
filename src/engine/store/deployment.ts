import { createHash } from 'node:crypto'
import { newId } from '../../lib/ids.js'
import { loadDataKey, loadSigningKey } from '../../local/keys.js'
import type { DataLayout } from '../../local/layout.js'
import { formatObjectLocation, type ObjectLocation } from '../../local/object-location.js'
import { createPrivateFile, readIfExists } from '../../local/private-file.js'
import { StoreDamagedError } from '../../local/store-damaged-error.js'
import { sql, type Write } from './program.js'

/** Properties that all gateways of one database must share. */
interface Deployment {
  /** location of the objects: a gateway with another location would miss them */
  objects: string
  /** hash of the keys: a gateway with other keys would reject tokens and could not decrypt credentials of sources */
  keys: string
}

/** Describes this gateway by its data directory and settings. */
export function describeDeployment(layout: DataLayout, location: ObjectLocation | undefined): Deployment {
  return { objects: identifyObjects(layout, location), keys: hashKeys(layout) }
}

/**
 * Compares a gateway with the deployment that the first one recorded, or records it as the first.
 *
 * @throws StoreDamagedError where they differ
 */
export function* joinDeployment({ objects, keys }: Deployment, { signingKey, dataKey }: DataLayout): Write<void> {
  const recorded = yield* sql.get<{ [N in keyof Deployment]: string | null }>('SELECT objects, keys FROM deployment')
  if (recorded?.objects !== undefined && recorded.objects !== null && recorded.objects !== objects)
    throw new StoreDamagedError(
      `the objects of this database are ${formatObjects(recorded.objects)}, but this gateway would look ${objects.startsWith('files:') ? 'in its own' : formatObjects(objects)}: give all gateways of a database the same --objects`,
    )
  if (recorded?.keys !== undefined && recorded.keys !== null && recorded.keys !== keys)
    throw new StoreDamagedError(
      `${signingKey} or ${dataKey} is not that of the other gateways: give all the same (setting keys), or let the next to start say which count (ksd migrate --new-keys)`,
    )
  if (recorded?.objects !== objects || recorded.keys !== keys)
    yield* sql.run('UPDATE deployment SET objects = ?, keys = ?', [objects, keys])
}

/** Two machines may reach one bucket by different addresses; the record in the bucket identifies its store. */
function identifyObjects({ objectsName }: DataLayout, location: ObjectLocation | undefined): string {
  if (location !== undefined)
    return formatObjectLocation({ bucket: location.bucket, prefix: location.prefix, region: location.region })
  const name = readIfExists(objectsName) ?? createPrivateFile(objectsName, `${newId()}\n`)
  return `files:${name.trim()}`
}

function formatObjects(objects: string): string {
  return objects.startsWith('s3:') ? `in ${objects}` : 'in files of a data directory'
}

function hashKeys({ root }: DataLayout): string {
  const hash = createHash('sha256').update('keys of a deployment\n')
  return hash.update(loadSigningKey(root)).update(loadDataKey(root)).digest('base64url')
}
