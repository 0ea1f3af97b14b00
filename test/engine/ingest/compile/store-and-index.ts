import {
  applyIndexUpdate,
  type ParsedWork,
  storeVersions,
} from '../../../../src/engine/ingest/compile/store-versions.js'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'

/** Stores versions and updates the index, as storing and publishing a batch do. */
export async function storeAndIndex(
  context: EngineContext,
  space: SpaceRow,
  read: readonly ParsedWork[],
  signal: AbortSignal,
) {
  const result = await storeVersions(context, space, read, signal)
  for (const update of result.indexUpdates) await applyIndexUpdate(context, space, update)
  return result
}
