import { spaceByKey } from '../rows/spaces.js'
import { activeVectorSpace, type VectorSpace } from '../rows/vector-spaces.js'
import type { Read } from '../storage/program.js'
import { unlessDamagedIn } from '../storage/readable.js'
import type { Scan } from './findings.js'

/** The vector space that queries use at this moment: a training may have replaced the one of a moment ago. */
export function* vectorSpaceInUse({ space }: Scan): Read<VectorSpace | undefined> {
  const row = yield* spaceByKey(space.key)
  return row === undefined ? undefined : yield* unlessDamagedIn(() => activeVectorSpace(row))
}
