import { spaceByKey } from '../rows/spaces.js'
import { policiesOf } from '../spaces/manifest.js'
import type { Read } from '../storage/program.js'

/** How long a snapshot of a space may be read, in milliseconds. */
export function* snapshotTime(spaceKey: number): Read<number> {
  const space = yield* spaceByKey(spaceKey)
  return space === undefined ? 0 : policiesOf(space).consistencyPolicy.snapshotTtlSeconds * 1000
}
