import type { Read } from '../../store/program.js'
import { unlessDamagedIn } from '../../store/readable.js'
import { findSpaceByKey } from '../../store/rows/spaces.js'
import { getActiveVectorSpace, type VectorSpace } from '../../store/rows/vector-spaces.js'
import type { IntegrityScan } from './findings.js'

/** The vector space that queries use now: a training may have just replaced it. */
export function* getVectorSpaceInUse({ space }: IntegrityScan): Read<VectorSpace | undefined> {
  const row = yield* findSpaceByKey(space.key)
  return row === undefined ? undefined : yield* unlessDamagedIn(() => getActiveVectorSpace(row))
}
