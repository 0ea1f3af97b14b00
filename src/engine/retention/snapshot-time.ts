import { findSpaceByKey } from '../rows/spaces.js'
import { parsePolicies } from '../spaces/manifest.js'
import type { Read } from '../storage/program.js'

/** How long a snapshot of a space may be read, in milliseconds. */
export function* getSnapshotTtlMs(spaceKey: number): Read<number> {
  const space = yield* findSpaceByKey(spaceKey)
  return space === undefined ? 0 : parsePolicies(space).consistencyPolicy.snapshotTtlSeconds * 1000
}
