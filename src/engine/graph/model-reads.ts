import type { ModelReference } from '../base/model-reference.js'
import { saidOf, storeSaid } from '../rows/graph/model-reads.js'
import type { Read, Write } from '../storage/program.js'
import { askedHash, type PassageSaid, storedSaid } from './said.js'

/** A passage of a version. */
export interface PassageNode {
  key: number
  text: string
}

/** What a model said of a passage, or of another one of the same text in the space; nothing where it was not asked. */
export function* knownSaid(
  spaceKey: number,
  model: ModelReference,
  { text }: PassageNode,
): Read<PassageSaid | undefined> {
  const said = yield* saidOf(spaceKey, model, askedHash(text))
  return said === undefined ? undefined : storedSaid(said, text)
}

/** Keeps what a model said of a passage, which the graph holds now, inside the caller's transaction. */
export function* keepSaid(
  spaceKey: number,
  model: ModelReference,
  { key, text }: PassageNode,
  said: PassageSaid,
): Write<void> {
  yield* storeSaid(spaceKey, model, key, { textHash: askedHash(text), said: JSON.stringify(said) })
}
