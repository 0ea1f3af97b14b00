import { KsError } from '../../contract/errors.js'
import { splitSentences } from '../../lib/text/sentences.js'
import { ProviderFailure } from '../base/provider-failure.js'
import { tokensAtMost } from './tokens.js'

/** Of a window, what is filled: tokens are counted by estimate, and servers add some of their own to each message. */
const FILLED = 0.9
/** The most that an answer takes of a window. */
const ANSWER_SHARE = 0.5
/** How often a model whose window is smaller than configured is asked again, each time with half of it. */
const HALVINGS = 2

/** Tokens of a window for an answer of at most `maxTokens`, and for everything that is asked. */
export function shareWindow(contextTokens: number, maxTokens: number): { answer: number; asked: number } {
  const answer = Math.min(maxTokens, Math.floor(contextTokens * ANSWER_SHARE))
  return { answer, asked: Math.floor(contextTokens * FILLED) - answer }
}

/**
 * Asks a model as its window is configured, and where it says that it was given too much, with half of that, twice at
 * most.
 *
 * @param ask what is asked, made to fit a window of so many tokens
 */
export async function withinWindow<T>(contextTokens: number, ask: (window: number) => Promise<T>): Promise<T> {
  for (let halvings = 0; ; halvings++) {
    try {
      return await ask(halved(contextTokens, halvings))
    } catch (error) {
      if (halvings === HALVINGS || !isTooLong(error)) throw error
    }
  }
}

/** The same for an answer that comes in pieces: a model says that it was given too much before its first word. */
export async function* streamedWithinWindow<T>(
  contextTokens: number,
  ask: (window: number) => AsyncIterable<T>,
): AsyncGenerator<T, void> {
  for (let halvings = 0; ; halvings++) {
    try {
      yield* ask(halved(contextTokens, halvings))
      return
    } catch (error) {
      if (halvings === HALVINGS || !isTooLong(error)) throw error
    }
  }
}

function halved(contextTokens: number, times: number): number {
  return Math.floor(contextTokens / 2 ** times)
}

function isTooLong(error: unknown): boolean {
  return error instanceof KsError && error.cause instanceof ProviderFailure && error.cause.kind === 'context-too-long'
}

/** A text, or where it does not fit its end: where a whole conversation is pasted, that is what is asked. */
export function endOf(text: string, tokens: number): string {
  let end = text
  for (;;) {
    const size = tokensAtMost(end)
    if (size <= tokens || end === '') return end
    end = end.slice(end.length - Math.floor((end.length * 0.95 * tokens) / size)).replace(/^[\uDC00-\uDFFF]/, '')
  }
}

/** @param hard whether a first sentence that does not fit is cut within; otherwise nothing is left of the text */
export function beginningOf(text: string, tokens: number, hard: boolean): string {
  if (tokensAtMost(text) <= tokens) return text
  let end = 0
  let room = tokens
  for (const sentence of splitSentences(text)) {
    room -= tokensAtMost(text.slice(end, sentence.end))
    if (room < 0) break
    end = sentence.end
  }
  if (end > 0 || !hard) return text.slice(0, end)
  let start = text
  for (;;) {
    const size = tokensAtMost(start)
    if (size <= tokens || start === '') return start
    start = start.slice(0, Math.floor((start.length * 0.95 * tokens) / size)).replace(/[\uD800-\uDBFF]$/, '')
  }
}

/** Texts cut so that all of them together have at most so many tokens: short ones stay whole, long ones share the rest. */
export function fitTexts(texts: readonly string[], tokens: number): string[] {
  const sizes = texts.map(tokensAtMost)
  const most = new Map<number, number>()
  let room = tokens
  const bySize = [...sizes.keys()].sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0))
  for (const [taken, place] of bySize.entries()) {
    const given = Math.min(sizes[place] ?? 0, Math.max(0, Math.floor(room / (texts.length - taken))))
    most.set(place, given)
    room -= given
  }
  return texts.map((text, place) => beginningOf(text, most.get(place) ?? 0, true))
}
