import { KsError } from '../../../contract/errors.js'
import { type Embedder, isContentRejection, mayBeCausedByTexts } from '../../models/index.js'

/** Why a model computes no vector for a text. */
export interface EmbeddingRefusal {
  refused: string
}

/** Size of the next request: a model that timed out may respond to a smaller one. */
export function computeRequestSize(
  { maxBatch }: Embedder,
  last: { error_class: string | null; attempts: number } | undefined,
): number {
  return last?.error_class === 'timeout' ? Math.max(1, maxBatch >> last.attempts) : maxBatch
}

/** Sends requests of `size` passages concurrently. @throws the first failure, when all have ended */
export async function sendSlices<T>(
  passages: readonly T[],
  size: number,
  send: (slice: T[]) => Promise<void>,
): Promise<void> {
  const slices: T[][] = []
  for (let start = 0; start < passages.length; start += size) slices.push(passages.slice(start, start + size))
  const outcomes = await Promise.allSettled(slices.map(send))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** any model has a vector for it: one that refuses this text refuses everything */
const PLAIN_TEXT = 'text'

/** One unusable response may be chance; this many in a row for one text, while another text succeeds, are not. */
const MAX_UNUSABLE_RESPONSES = 4

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
): Promise<(Float32Array | EmbeddingRefusal)[]> {
  try {
    return await embedder.embed(texts, 'document', signal)
  } catch (error) {
    if (!mayBeCausedByTexts(error)) throw error
    await embedder.embed([PLAIN_TEXT], 'document', signal)
    return await embedDivided(embedder, texts, error, signal)
  }
}

async function embedDivided(
  embedder: Embedder,
  texts: string[],
  error: unknown,
  signal: AbortSignal,
): Promise<(Float32Array | EmbeddingRefusal)[]> {
  if (texts.length === 1) return await retryText(embedder, texts, error, signal)
  const half = Math.ceil(texts.length / 2)
  const results: (Float32Array | EmbeddingRefusal)[] = []
  for (const part of [texts.slice(0, half), texts.slice(half)]) {
    try {
      results.push(...(await embedder.embed(part, 'document', signal)))
    } catch (cause) {
      if (!mayBeCausedByTexts(cause)) throw cause
      results.push(...(await embedDivided(embedder, part, cause, signal)))
    }
  }
  return results
}

/** Embeds one text whose request failed, or returns why that fails. */
async function retryText(
  embedder: Embedder,
  text: string[],
  first: unknown,
  signal: AbortSignal,
): Promise<(Float32Array | EmbeddingRefusal)[]> {
  let last = first
  for (let attempts = 1; attempts < MAX_UNUSABLE_RESPONSES && !isContentRejection(last); attempts++) {
    try {
      return await embedder.embed(text, 'document', signal)
    } catch (error) {
      if (!mayBeCausedByTexts(error)) throw error
      last = error
    }
  }
  return [{ refused: last instanceof KsError ? last.message : String(last) }]
}
