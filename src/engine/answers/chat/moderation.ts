import type { ChatApp } from '../../../contract/chat/apps.js'
import type { ChatAnswerEvent } from './answer.js'
import type { Inputs } from './form.js'

/** The replacement text if the question or a variable contains a sensitive word; otherwise undefined. */
export function findInputRefusal({ sensitiveWords }: ChatApp, query: string, inputs: Inputs): string | undefined {
  const { enabled, words, inputs: side } = sensitiveWords
  if (!enabled || !side.enabled) return undefined
  return [query, ...Object.values(inputs)].some((text) => containsAny(text, words)) ? side.response : undefined
}

/** Filters an answer: at the first sensitive word it is replaced completely and ends. */
export async function* moderateAnswer(
  { sensitiveWords }: ChatApp,
  events: AsyncGenerator<ChatAnswerEvent>,
): AsyncGenerator<ChatAnswerEvent> {
  const { enabled, outputs } = sensitiveWords
  if (!enabled || !outputs.enabled) return yield* events
  const words = sensitiveWords.words.map((word) => word.toLowerCase())
  const tailChars = Math.max(0, ...words.map((word) => word.length))
  let tail = ''
  for await (const event of events) {
    if (event.type === 'delta') {
      // A word may start in an earlier part.
      const window = tail + event.text.toLowerCase()
      if (words.some((word) => window.includes(word))) return yield { type: 'replace', text: outputs.response }
      tail = tailChars === 0 ? '' : window.slice(-tailChars)
    }
    yield event
  }
}

/** Ignores case and word boundaries, like the settings of similar services. */
function containsAny(text: string, words: readonly string[]): boolean {
  const folded = text.toLowerCase()
  return words.some((word) => folded.includes(word.toLowerCase()))
}
