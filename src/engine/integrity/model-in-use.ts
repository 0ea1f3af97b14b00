import { spaceByKey } from '../rows/spaces.js'
import { activeVectorSpace, type VectorSpace } from '../rows/vector-spaces.js'
import type { Read } from '../storage/program.js'
import { unlessDamagedIn } from '../storage/readable.js'
import type { Scan } from './findings.js'

/** The vector space that queries use now: a training may have just replaced it. */
export function* vectorSpaceInUse({ space }: Scan): Read<VectorSpace | undefined> {
  const row = yield* spaceByKey(space.key)
  return row === undefined ? undefined : yield* unlessDamagedIn(() => activeVectorSpace(row))
}
