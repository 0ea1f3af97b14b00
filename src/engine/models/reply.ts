import { withoutThoughts } from '../../lib/text/thoughts.js'
import type { ChatMessage, GenerationEvent, Generator } from './types.js'
import { shareWindow, withinWindow } from './window.js'

type Options = Parameters<Generator['generate']>[1] & {
  maxTokens: number
  /** a longer reply is not read to its end */
  mostCharacters?: number
}

/** A model's whole reply. @returns `end` absent where the reply was not read to its end, or has none */
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
 * Asks for a text, with less where the window is smaller than configured.
 *
 * @param messagesFor what is asked, in at most so many tokens
 * @returns what it says without its thoughts; '' where that is longer than it may be
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
