import type { Health } from '../../../contract/gateway/system.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { asDeployment } from '../../base/tenant-scope.js'
import type { EngineContext } from '../../library/index.js'
import type { Driver } from '../../store/driver.js'
import { isIndexLogEmpty } from '../../store/rows/warm-up.js'
import { readUnlessDamaged } from '../../store/write-stop.js'

/** Whether the engine and its components work. */
export async function getHealth({ db, indexes, options }: EngineContext): Promise<Health> {
  // the index process starts with the first use; a crashed one is restarted at once
  const isIndexed =
    indexes.isRunning() ||
    (await asDeployment(() => readUnlessDamaged(db.read(isIndexLogEmpty()), false)).catch(ignoreWhileUnavailable(db)))
  const durability = await getDurability(db)
  const components = {
    database: !db.broken,
    indexes: isIndexed,
    jobs: true,
    storage: !(db.broken || options.diskReserve?.getState().isFull === true),
  }
  return { ok: components.database, runtime: 'container-runtime', components, ...omitUndefined({ durability }) }
}

/** `components.database` reports a server that does not respond. */
function ignoreWhileUnavailable(db: Driver): (error: unknown) => boolean {
  return (error) => {
    if (db.broken) return false
    throw error
  }
}

/** Whether commits are on one machine or on several; undefined for a file, and while the server does not report it. */
async function getDurability(db: Driver): Promise<Health['durability']> {
  if (db.hasStandby === undefined || db.broken) return undefined
  const hasStandby = await db.hasStandby().catch(() => undefined)
  return hasStandby === undefined ? undefined : hasStandby ? 'replicated' : 'single'
}
