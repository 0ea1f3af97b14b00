import type { EngineContext } from '../context.js'
import { visionKey } from '../models/vision.js'
import type { PictureDescriptions } from '../parse/compiled.js'
import { descriptionsOf } from '../rows/pictures.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Work } from './work.js'

/**
 * Existing descriptions of pictures by the vision model, for documents that are compiled again; by row keys of
 * documents.
 */
export async function describedPictures(
  { db, options }: EngineContext,
  space: SpaceRow,
  batch: readonly Work[],
): Promise<ReadonlyMap<number, PictureDescriptions>> {
  const described = new Map<number, PictureDescriptions>()
  const again = batch.filter(({ job }) => job.version > 1).map(({ document }) => document.key)
  if (options.visionModel === undefined || again.length === 0) return described
  const model = visionKey(options.visionModel)
  for (const { doc_key: key, picture, said } of await db.read(descriptionsOf(space.key, model, again))) {
    const known = described.get(key) ?? { model, said: {} }
    known.said[picture] = said
    described.set(key, known)
  }
  return described
}
