import { stripThoughts } from '../../lib/text/thoughts.js'
import type { ChatMessage, GenerationEvent, Generator } from './types.js'
import { retryWithinWindow, splitWindow } from './window.js'

type ReplyOptions = Parameters<Generator['generate']>[1] & {
  maxTokens: number
  /** a longer reply is aborted */
  maxCharacters?: number
}

/** Reads a model's complete reply. @returns `end` absent where the reply was aborted or has none */
export async function readReply(
  generator: Generator,
  messages: ChatMessage[],
  { maxCharacters = Number.POSITIVE_INFINITY, ...options }: ReplyOptions,
): Promise<{ text: string; end?: Extract<GenerationEvent, { type: 'end' }> }> {
  let text = ''
  for await (const event of generator.generate(messages, options)) {
    if (event.type === 'end') return { text, end: event }
    text += event.text
    if (text.length > maxCharacters) break
  }
  return { text }
}

/**
 * Asks for a text; with a smaller request where the context window is smaller than configured.
 *
 * @param buildMessages builds the request with at most this many tokens
 * @returns the reply without its reasoning; '' where it is too long
 * @throws KsError of the provider
 */
export async function requestText(
  generator: Generator,
  buildMessages: (tokens: number) => ChatMessage[],
  options: ReplyOptions,
): Promise<string> {
  const { text } = await retryWithinWindow(generator.contextTokens, (window) => {
    const { answerTokens, requestTokens } = splitWindow(window, options.maxTokens)
    return readReply(generator, buildMessages(requestTokens), { ...options, maxTokens: answerTokens })
  })
  return text.length > (options.maxCharacters ?? text.length) ? '' : stripThoughts(text)
}
