import type { KnowledgeSpaceStatus } from '../../contract/gateway/space-status.js'
import type { EngineContext } from '../context.js'
import { visionKey } from '../models/vision.js'
import { countPictures, pictureWait } from '../rows/pictures.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { lastFailure } from './last-failure.js'

type Pictures = NonNullable<KnowledgeSpaceStatus['index']['pictures']>

/** Number of pictures that the vision model described, and its last failure; empty if it was not asked. */
export function* describedPictures({ options }: EngineContext, space: SpaceRow): Read<{ pictures?: Pictures }> {
  if (options.visionModel === undefined) return {}
  const counts = yield* countPictures(space.key, visionKey(options.visionModel))
  const wait = yield* pictureWait(space.key)
  if (wait === undefined) return counts.described + counts.refused === 0 ? {} : { pictures: counts }
  return { pictures: { ...counts, ...lastFailure(wait) } }
}
