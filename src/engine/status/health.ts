import type { Health } from '../../contract/gateway/system.js'
import { defined } from '../../lib/defined.js'
import { asDeployment } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { neverIndexed } from '../rows/warm-up.js'
import type { Driver } from '../storage/driver.js'
import { readUnlessDamaged } from '../storage/write-stop.js'

/** Whether the engine and its parts work. */
export async function health({ db, indexes, options }: EngineContext): Promise<Health> {
  // the index process starts with the first use; one that died is started again at once
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

/** A server that does not answer is told by `components.database`. */
function whileAway(db: Driver): (error: unknown) => boolean {
  return (error) => {
    if (db.broken) return false
    throw error
  }
}

/** On how many machines is what was committed; absent for a file, and while the server does not say. */
async function durabilityOf(db: Driver): Promise<Health['durability']> {
  if (db.hasStandby === undefined || db.broken) return undefined
  const hasStandby = await db.hasStandby().catch(() => undefined)
  return hasStandby === undefined ? undefined : hasStandby ? 'replicated' : 'single'
}
