import type { KnowledgeSpaceStatus } from '../../../contract/gateway/space-status.js'
import type { EngineContext } from '../../library/index.js'
import { toDescriptionKey } from '../../models/index.js'
import type { Read } from '../../store/program.js'
import { countPictures, findPictureWait } from '../../store/rows/pictures.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { toLastFailure } from './last-failure.js'

type PictureStatus = NonNullable<KnowledgeSpaceStatus['index']['pictures']>

/** Number of pictures that the vision model described, and its last failure; empty if it was not asked. */
export function* getDescribedPictures({ options }: EngineContext, space: SpaceRow): Read<{ pictures?: PictureStatus }> {
  if (options.visionModel === undefined) return {}
  const counts = yield* countPictures(space.key, toDescriptionKey(options.visionModel))
  const wait = yield* findPictureWait(space.key)
  if (wait === undefined) return counts.described + counts.refused === 0 ? {} : { pictures: counts }
  return { pictures: { ...counts, ...toLastFailure(wait) } }
}
