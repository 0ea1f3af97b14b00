import { findSpaceByKey } from '../rows/spaces.js'
import { getActiveVectorSpace, type VectorSpace } from '../rows/vector-spaces.js'
import type { Read } from '../storage/program.js'
import { unlessDamagedIn } from '../storage/readable.js'
import type { IntegrityScan } from './findings.js'

/** The vector space that queries use now: a training may have just replaced it. */
export function* getVectorSpaceInUse({ space }: IntegrityScan): Read<VectorSpace | undefined> {
  const row = yield* findSpaceByKey(space.key)
  return row === undefined ? undefined : yield* unlessDamagedIn(() => getActiveVectorSpace(row))
}
