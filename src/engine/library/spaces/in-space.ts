import { LRUCache } from 'lru-cache'
import { asDeployment, asTenant, streamAsTenant } from '../../base/tenant-scope.js'
import type { Driver } from '../../store/driver.js'
import { findTenantOfSpace } from '../../store/rows/spaces.js'

const MAX_CACHED_SPACES = 10_000
/** the tenant of a space never changes */
const tenantCaches = new WeakMap<Driver, LRUCache<number | string, string>>()

/**
 * Runs work on one space in the scope of its tenant, independent of the caller: background work, and work shared by several
 * callers.
 *
 * @param space its row key, or its id
 */
export async function runInSpace<T>(db: Driver, space: number | string, work: () => Promise<T>): Promise<T> {
  return await asTenant(await findTenant(db, space), work)
}

/** The same for a stream. */
export async function* streamInSpace<T>(db: Driver, space: string, pieces: () => AsyncIterable<T>): AsyncIterable<T> {
  yield* streamAsTenant(await findTenant(db, space), pieces)
}

/** @returns '' for a missing space: no tenant has this name, so no row is visible */
async function findTenant(db: Driver, space: number | string): Promise<string> {
  const tenants = tenantCaches.get(db) ?? new LRUCache<number | string, string>({ max: MAX_CACHED_SPACES })
  tenantCaches.set(db, tenants)
  const tenant = tenants.get(space) ?? (await asDeployment(() => db.read(findTenantOfSpace(space))))
  if (tenant === undefined) return ''
  tenants.set(space, tenant)
  return tenant
}
