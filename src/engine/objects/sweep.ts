import { asTenant } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { keepNamed, looseObjects, type ObjectRow } from '../rows/objects.js'
import { ObjectStore, unlessAway } from '../storage/objects.js'
import type { Slice } from '../storage/slices.js'
import { NOTHING } from '../storage/slices.js'
import { type Removing, removeUnreferenced } from './remove.js'

/** Bytes that are received for nothing this long after are nobody's: an upload that died. */
const LOOSE_MS = 60 * 60 * 1000
const SLICE = 64

/**
 * Ends what died between two steps: removals are finished, bytes that were received and never named are removed, and
 * an object that something names after all lives on.
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

/** @returns whether it is gone */
async function settle(context: Removing, row: ObjectRow): Promise<boolean> {
  const { db, objects, log } = context
  const { tenant, sha256 } = row
  const key = ObjectStore.key(tenant, sha256)
  if (!(await db.write(() => keepNamed({ tenant, key }, row)))) {
    return (await removeUnreferenced(context, tenant, [key])).size > 0
  }
  const read = await objects.measure(key).catch(unlessAway)
  if (read === undefined || 'error' in read || read.sha256 !== sha256)
    log.error({ key }, 'an object is needed and its bytes are not there whole: `ks fsck` names what needs it')
  return false
}
