import { KsError } from '../../contract/errors.js'
import { isAboutTexts } from '../models/trouble.js'
import type { Embedder } from '../models/types.js'

/** Why a model makes no vector of a text. */
export interface Refusal {
  refused: string
}

/** any model has a vector for it: one that refuses this as well refuses everything */
const PLAIN_TEXT = 'text'

/**
 * Vectors of texts, in their order. A request that is refused is divided until the text is found that the model refuses,
 * so that the others have theirs.
 *
 * @throws KsError `provider-failed` and others when the model answers nobody
 */
export async function embedPassages(
  embedder: Embedder,
  texts: string[],
  signal: AbortSignal,
): Promise<(Float32Array | Refusal)[]> {
  try {
    return await embedder.embed(texts, 'document', signal)
  } catch (error) {
    if (!isAboutTexts(error)) throw error
    await embedder.embed([PLAIN_TEXT], 'document', signal)
    return await divide(embedder, texts, error, signal)
  }
}

async function divide(
  embedder: Embedder,
  texts: string[],
  error: unknown,
  signal: AbortSignal,
): Promise<(Float32Array | Refusal)[]> {
  if (texts.length === 1) return [{ refused: error instanceof KsError ? error.message : String(error) }]
  const half = Math.ceil(texts.length / 2)
  const found: (Float32Array | Refusal)[] = []
  for (const part of [texts.slice(0, half), texts.slice(half)]) {
    try {
      found.push(...(await embedder.embed(part, 'document', signal)))
    } catch (cause) {
      if (!isAboutTexts(cause)) throw cause
      found.push(...(await divide(embedder, part, cause, signal)))
    }
  }
  return found
}
