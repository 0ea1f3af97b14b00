import type { ModelReference } from '../../base/model-reference.js'
import type { Read, Write } from '../../store/program.js'
import { findModelReply, storeModelReply } from '../rows/graph/model-reads.js'
import { hashPrompt, type ModelExtraction, parseStoredExtraction } from './model-extraction.js'

/** A passage of a version. */
export interface PassageNode {
  key: number
  text: string
}

/**
 * A model's stored extraction of a passage, or of another passage of the space with the same text; undefined without
 * one.
 */
export function* findExtraction(
  spaceKey: number,
  model: ModelReference,
  { text }: PassageNode,
): Read<ModelExtraction | undefined> {
  const stored = yield* findModelReply(spaceKey, model, hashPrompt(text))
  return stored === undefined ? undefined : parseStoredExtraction(stored, text)
}

/** Stores a model's extraction of a passage that the graph contains now, within the caller's transaction. */
export function* storeModelExtraction(
  spaceKey: number,
  model: ModelReference,
  { key, text }: PassageNode,
  extraction: ModelExtraction,
): Write<void> {
  yield* storeModelReply(spaceKey, model, key, { textHash: hashPrompt(text), reply: JSON.stringify(extraction) })
}
