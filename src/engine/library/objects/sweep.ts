import { asTenant } from '../../base/tenant-scope.js'
import { ObjectStore, toReadError } from '../../store/objects.js'
import { keepReferenced, listUnreferencedObjects, type ObjectRow } from '../../store/rows/objects.js'
import type { RemovalSlice } from '../../store/slices.js'
import { NOTHING_REMOVED } from '../../store/slices.js'
import type { EngineContext } from '../context.js'
import { type RemovalContext, removeUnreferenced } from './remove.js'

/** Unreferenced bytes older than this belong to an upload that died. */
const UNREFERENCED_GRACE_MS = 60 * 60 * 1000
const SLICE_SIZE = 64

/**
 * Completes interrupted work: removals are finished, received bytes without references are removed, and an object that
 * is referenced after all is kept.
 */
export async function sweepObjects(
  context: RemovalContext & Pick<EngineContext, 'identity'>,
  now: number,
  signal?: AbortSignal,
): Promise<RemovalSlice> {
  const { db, objects } = context
  if (objects.isPinned() || context.identity.keepUnknownReason() !== undefined) return NOTHING_REMOVED
  const rows = await db.read(listUnreferencedObjects(now - UNREFERENCED_GRACE_MS, SLICE_SIZE))
  let removed = 0
  for (const row of rows) {
    if (signal?.aborted === true) return NOTHING_REMOVED
    if (await asTenant(row.tenant, () => settleObject(context, row))) removed++
  }
  return { removed, more: rows.length === SLICE_SIZE }
}

/** @returns whether the object is removed */
async function settleObject(context: RemovalContext, row: ObjectRow): Promise<boolean> {
  const { db, objects, log } = context
  const { tenant, sha256 } = row
  const key = ObjectStore.key(tenant, sha256)
  if (!(await db.write(() => keepReferenced({ tenant, key }, row)))) {
    return (await removeUnreferenced(context, tenant, [key])).size > 0
  }
  const measured = await objects.measure(key).catch(toReadError)
  if (measured === undefined || 'error' in measured || measured.sha256 !== sha256)
    log.error({ key }, 'the bytes of a referenced object are missing or damaged: `ks fsck` lists the references')
  return false
}
