import { KsError } from '../../contract/errors.js'
import { splitSentences } from '../../lib/text/sentences.js'
import { ProviderFailure } from '../base/provider-failure.js'
import { estimateMaxTokens } from './tokens.js'

/** Fraction of a context window that is filled: tokens are estimated, and servers add some to each message. */
const FILLED_FRACTION = 0.9
/** Maximal fraction of a context window for the answer. */
const MAX_ANSWER_FRACTION = 0.5
/** Retries of a model whose context window is smaller than configured, each with half of it. */
const MAX_HALVINGS = 2

/** Splits a context window into the tokens of an answer of at most `maxTokens` and of the request. */
export function splitWindow(contextTokens: number, maxTokens: number): { answerTokens: number; requestTokens: number } {
  const answer = Math.min(maxTokens, Math.floor(contextTokens * MAX_ANSWER_FRACTION))
  return { answerTokens: answer, requestTokens: Math.floor(contextTokens * FILLED_FRACTION) - answer }
}

/**
 * Calls a model with its configured context window; where that is too large, with half of it, at most twice.
 *
 * @param ask call whose request fits the given window
 */
export async function retryWithinWindow<T>(contextTokens: number, call: (window: number) => Promise<T>): Promise<T> {
  for (let halvings = 0; ; halvings++) {
    try {
      return await call(halve(contextTokens, halvings))
    } catch (error) {
      if (halvings === MAX_HALVINGS || !isTooLong(error)) throw error
    }
  }
}

/** The same for a streamed answer: a model reports an exceeded window before its first token. */
export async function* streamWithinWindow<T>(
  contextTokens: number,
  call: (window: number) => AsyncIterable<T>,
): AsyncGenerator<T, void> {
  for (let halvings = 0; ; halvings++) {
    try {
      yield* call(halve(contextTokens, halvings))
      return
    } catch (error) {
      if (halvings === MAX_HALVINGS || !isTooLong(error)) throw error
    }
  }
}

function halve(contextTokens: number, times: number): number {
  return Math.floor(contextTokens / 2 ** times)
}

function isTooLong(error: unknown): boolean {
  return error instanceof KsError && error.cause instanceof ProviderFailure && error.cause.kind === 'context-too-long'
}

/** The end of a text that fits; in a pasted conversation, the end is the question. */
export function truncateStart(text: string, tokens: number): string {
  let end = text
  for (;;) {
    const size = estimateMaxTokens(end)
    if (size <= tokens || end === '') return end
    end = end.slice(end.length - Math.floor((end.length * 0.95 * tokens) / size)).replace(/^[\uDC00-\uDFFF]/, '')
  }
}

/** The first sentences of a text that fit; '' where the first one does not. */
export function truncateToSentences(text: string, tokens: number): string {
  if (estimateMaxTokens(text) <= tokens) return text
  let end = 0
  let remaining = tokens
  for (const sentence of splitSentences(text)) {
    remaining -= estimateMaxTokens(text.slice(end, sentence.end))
    if (remaining < 0) break
    end = sentence.end
  }
  return text.slice(0, end)
}

/** The beginning of a text that fits: complete sentences, or a part of the first one. */
export function truncateEnd(text: string, tokens: number): string {
  const sentences = truncateToSentences(text, tokens)
  if (sentences !== '') return sentences
  let start = text
  for (;;) {
    const size = estimateMaxTokens(start)
    if (size <= tokens || start === '') return start
    start = start.slice(0, Math.floor((start.length * 0.95 * tokens) / size)).replace(/[\uD800-\uDBFF]$/, '')
  }
}

/** Truncates texts to a total number of tokens: short ones stay complete, long ones share the rest. */
export function fitTexts(texts: readonly string[], tokens: number): string[] {
  const sizes = texts.map(estimateMaxTokens)
  const limits = new Map<number, number>()
  let remaining = tokens
  const bySize = [...sizes.keys()].sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0))
  for (const [handled, index] of bySize.entries()) {
    const limit = Math.min(sizes[index] ?? 0, Math.max(0, Math.floor(remaining / (texts.length - handled))))
    limits.set(index, limit)
    remaining -= limit
  }
  return texts.map((text, index) => truncateEnd(text, limits.get(index) ?? 0))
}
