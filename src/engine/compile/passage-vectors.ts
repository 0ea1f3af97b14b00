import { KsError } from '../../contract/errors.js'
import { isAboutTexts, isRefusal } from '../models/trouble.js'
import type { Embedder } from '../models/types.js'

/** Why a model computes no vector for a text. */
export interface Refusal {
  refused: string
}

/** any model has a vector for it: one that refuses this text refuses everything */
const PLAIN_TEXT = 'text'

/** One unusable response may be chance; this many in a row for one text, while another text succeeds, are not. */
const UNUSABLE_ANSWERS = 4

/**
 * Embeds texts, in their order. A refused request is divided until the refused text is found, so that the others get
 * their vectors.
 *
 * @throws KsError `provider-failed` and others when the model refuses everything
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
  if (texts.length === 1) return await insist(embedder, texts, error, signal)
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

/** Embeds one text whose request failed, or returns why that fails. */
async function insist(
  embedder: Embedder,
  text: string[],
  first: unknown,
  signal: AbortSignal,
): Promise<(Float32Array | Refusal)[]> {
  let last = first
  for (let answers = 1; answers < UNUSABLE_ANSWERS && !isRefusal(last); answers++) {
    try {
      return await embedder.embed(text, 'document', signal)
    } catch (error) {
      if (!isAboutTexts(error)) throw error
      last = error
    }
  }
  return [{ refused: last instanceof KsError ? last.message : String(last) }]
}
