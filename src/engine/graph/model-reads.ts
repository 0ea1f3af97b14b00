import type { ModelReference } from '../base/model-reference.js'
import { storedReply, storeReply } from '../rows/graph/model-reads.js'
import type { Read, Write } from '../storage/program.js'
import { type ModelExtraction, promptHash, storedExtraction } from './model-extraction.js'

/** A passage of a version. */
export interface PassageNode {
  key: number
  text: string
}

/**
 * A model's stored extraction of a passage, or of another passage of the space with the same text; undefined without
 * one.
 */
export function* knownExtraction(
  spaceKey: number,
  model: ModelReference,
  { text }: PassageNode,
): Read<ModelExtraction | undefined> {
  const said = yield* storedReply(spaceKey, model, promptHash(text))
  return said === undefined ? undefined : storedExtraction(said, text)
}

/** Stores a model's extraction of a passage that the graph contains now, within the caller's transaction. */
export function* keepExtraction(
  spaceKey: number,
  model: ModelReference,
  { key, text }: PassageNode,
  said: ModelExtraction,
): Write<void> {
  yield* storeReply(spaceKey, model, key, { textHash: promptHash(text), said: JSON.stringify(said) })
}
