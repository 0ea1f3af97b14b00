import { parsePolicies } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { findSpaceByKey } from '../../store/rows/spaces.js'

/** How long a snapshot of a space may be read, in milliseconds. */
export function* getSnapshotTtlMs(spaceKey: number): Read<number> {
  const space = yield* findSpaceByKey(spaceKey)
  return space === undefined ? 0 : parsePolicies(space).consistencyPolicy.snapshotTtlSeconds * 1000
}
