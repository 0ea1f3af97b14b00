import { asTenant } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { keepNamed, looseObjects, type ObjectRow } from '../rows/objects.js'
import { ObjectStore, unlessAway } from '../storage/objects.js'
import type { Slice } from '../storage/slices.js'
import { NOTHING } from '../storage/slices.js'
import { type Removing, removeUnreferenced } from './remove.js'

/** Unreferenced bytes older than this belong to an upload that died. */
const LOOSE_MS = 60 * 60 * 1000
const SLICE = 64

/**
 * Completes interrupted work: removals are finished, received bytes without references are removed, and an object that
 * is referenced after all is kept.
 */
export async function sweepObjects(
  context: Removing & Pick<EngineContext, 'identity'>,
  now: number,
  signal?: AbortSignal,
): Promise<Slice> {
  const { db, objects } = context
  if (objects.isPinned() || context.identity.doubt() !== undefined) return NOTHING
  const rows = await db.read(looseObjects(Date.now(), now - LOOSE_MS, SLICE))
  let removed = 0
  for (const row of rows) {
    if (signal?.aborted === true) return NOTHING
    if (await asTenant(row.tenant, () => settle(context, row))) removed++
  }
  return { removed, more: rows.length === SLICE }
}

/** @returns whether the object is removed */
async function settle(context: Removing, row: ObjectRow): Promise<boolean> {
  const { db, objects, log } = context
  const { tenant, sha256 } = row
  const key = ObjectStore.key(tenant, sha256)
  if (!(await db.write(() => keepNamed({ tenant, key }, row)))) {
    return (await removeUnreferenced(context, tenant, [key])).size > 0
  }
  const read = await objects.measure(key).catch(unlessAway)
  if (read === undefined || 'error' in read || read.sha256 !== sha256)
    log.error({ key }, 'the bytes of a referenced object are missing or damaged: `ks fsck` lists the references')
  return false
}
