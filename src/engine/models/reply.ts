import { withoutThoughts } from '../../lib/text/thoughts.js'
import type { ChatMessage, GenerationEvent, Generator } from './types.js'
import { shareWindow, withinWindow } from './window.js'

type Options = Parameters<Generator['generate']>[1] & {
  maxTokens: number
  /** a longer reply is aborted */
  mostCharacters?: number
}

/** Reads a model's complete reply. @returns `end` absent where the reply was aborted or has none */
export async function replyTo(
  generator: Generator,
  messages: ChatMessage[],
  { mostCharacters = Number.POSITIVE_INFINITY, ...options }: Options,
): Promise<{ text: string; end?: Extract<GenerationEvent, { type: 'end' }> }> {
  let text = ''
  for await (const event of generator.generate(messages, options)) {
    if (event.type === 'end') return { text, end: event }
    text += event.text
    if (text.length > mostCharacters) break
  }
  return { text }
}

/**
 * Asks for a text; with a smaller request where the context window is smaller than configured.
 *
 * @param messagesFor builds the request with at most this many tokens
 * @returns the reply without its reasoning; '' where it is too long
 * @throws KsError of the provider
 */
export async function askForText(
  generator: Generator,
  messagesFor: (tokens: number) => ChatMessage[],
  options: Options,
): Promise<string> {
  const { text } = await withinWindow(generator.contextTokens, (window) => {
    const { answer, asked } = shareWindow(window, options.maxTokens)
    return replyTo(generator, messagesFor(asked), { ...options, maxTokens: answer })
  })
  return text.length > (options.mostCharacters ?? text.length) ? '' : withoutThoughts(text)
}
