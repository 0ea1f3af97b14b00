import type { ModelReference } from '../../base/model-reference.js'
import { BUILTIN_EMBEDDING } from '../../models/index.js'
import type { SpaceRow } from '../../store/rows/spaces.js'

export function embeddingReference(space: SpaceRow): ModelReference {
  return { pluginId: space.embedding_plugin, provider: space.embedding_provider, model: space.embedding_model }
}

/** Whether the embedding model of a space is trained on its own text. */
export function isTrained(space: SpaceRow): boolean {
  return space.embedding_plugin === BUILTIN_EMBEDDING.pluginId
}
