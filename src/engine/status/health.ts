import type { Health } from '../../contract/gateway/system.js'
import { defined } from '../../lib/defined.js'
import { asDeployment } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { neverIndexed } from '../rows/warm-up.js'
import type { Driver } from '../storage/driver.js'
import { readUnlessDamaged } from '../storage/write-stop.js'

/** Whether the engine and its components work. */
export async function health({ db, indexes, options }: EngineContext): Promise<Health> {
  // the index process starts with the first use; a crashed one is restarted at once
  const isIndexed =
    indexes.isRunning() ||
    (await asDeployment(() => readUnlessDamaged(db.read(neverIndexed()), false)).catch(whileAway(db)))
  const durability = await durabilityOf(db)
  const components = {
    database: !db.broken,
    indexes: isIndexed,
    jobs: true,
    storage: !(db.broken || options.room?.state().isFull === true),
  }
  return { ok: components.database, runtime: 'container-runtime', components, ...defined({ durability }) }
}

/** `components.database` reports a server that does not respond. */
function whileAway(db: Driver): (error: unknown) => boolean {
  return (error) => {
    if (db.broken) return false
    throw error
  }
}

/** Whether commits are on one machine or on several; undefined for a file, and while the server does not report it. */
async function durabilityOf(db: Driver): Promise<Health['durability']> {
  if (db.hasStandby === undefined || db.broken) return undefined
  const hasStandby = await db.hasStandby().catch(() => undefined)
  return hasStandby === undefined ? undefined : hasStandby ? 'replicated' : 'single'
}
