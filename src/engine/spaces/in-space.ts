import { LRUCache } from 'lru-cache'
import { asDeployment, asTenant } from '../base/tenant-scope.js'
import { tenantOfSpace } from '../rows/spaces.js'
import type { Driver } from '../storage/driver.js'

const REMEMBERED_SPACES = 10_000
/** the tenant of a space never changes */
const known = new WeakMap<Driver, LRUCache<number | string, string>>()

/**
 * Does work on one space for its tenant, whoever has begun it: work behind the requests, and what several wait for.
 *
 * @param space its row key, or its id
 */
export async function inSpace<T>(db: Driver, space: number | string, work: () => Promise<T>): Promise<T> {
  return await asTenant(await tenantOf(db, space), work)
}

/** The same for what comes piece by piece. */
export async function* eachInSpace<T>(db: Driver, space: string, pieces: () => AsyncIterable<T>): AsyncIterable<T> {
  const tenant = await tenantOf(db, space)
  const iterator = asTenant(tenant, () => pieces()[Symbol.asyncIterator]())
  try {
    for (;;) {
      const next = await asTenant(tenant, () => iterator.next())
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await asTenant(tenant, () => iterator.return?.())
  }
}

/** @returns a name that nobody has for a space that is gone: nothing of it is seen */
async function tenantOf(db: Driver, space: number | string): Promise<string> {
  const tenants = known.get(db) ?? new LRUCache<number | string, string>({ max: REMEMBERED_SPACES })
  known.set(db, tenants)
  const tenant = tenants.get(space) ?? (await asDeployment(() => db.read(tenantOfSpace(space))))
  if (tenant === undefined) return ''
  tenants.set(space, tenant)
  return tenant
}
