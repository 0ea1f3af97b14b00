import type { EngineContext } from '../../library/index.js'
import { toDescriptionKey } from '../../models/index.js'
import type { PictureDescriptions } from '../../store/compiled.js'
import { listPictureDescriptions } from '../../store/rows/pictures.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import type { CompileWork } from './work.js'

/**
 * Existing descriptions of pictures by the vision model, for documents that are compiled again; by row keys of
 * documents.
 */
export async function findPictureDescriptions(
  { db, options }: EngineContext,
  space: SpaceRow,
  batch: readonly CompileWork[],
): Promise<ReadonlyMap<number, PictureDescriptions>> {
  const descriptions = new Map<number, PictureDescriptions>()
  const recompiled = batch.filter(({ job }) => job.version > 1).map(({ document }) => document.key)
  if (options.visionModel === undefined || recompiled.length === 0) return descriptions
  const model = toDescriptionKey(options.visionModel)
  for (const { doc_key: key, picture, said } of await db.read(listPictureDescriptions(space.key, model, recompiled))) {
    const existing = descriptions.get(key) ?? { model, texts: {} }
    existing.texts[picture] = said
    descriptions.set(key, existing)
  }
  return descriptions
}
