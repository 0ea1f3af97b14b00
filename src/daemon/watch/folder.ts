import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import { KsError } from '../../contract/errors.js'

/**
 * Refuses what cannot be watched: what is no folder, and the data directory or what lies inside it, by device and inode.
 * A folder above the data directory is fine: the watch leaves the data directory out.
 *
 * @throws KsError `invalid-request`
 */
export function checkFolder(folder: string, dataDir: string): void {
  if (!isAbsolute(folder)) throw new KsError('invalid-request', `folder ${JSON.stringify(folder)} must be absolute`)
  const stats = statSync(folder, { bigint: true, throwIfNoEntry: false })
  if (stats?.isDirectory() !== true) throw new KsError('invalid-request', `${JSON.stringify(folder)} is not a folder`)
  const data = statSync(dataDir, { bigint: true })
  for (let above = realpathSync(folder); ; above = dirname(above)) {
    if (isSame(statSync(above, { bigint: true }), data))
      throw new KsError('invalid-request', `folder ${JSON.stringify(folder)} lies in the data directory`)
    if (dirname(above) === above) return
  }
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino
}
