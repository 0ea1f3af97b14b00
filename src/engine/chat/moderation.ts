import type { ChatApp } from '../../contract/chat/apps.js'
import type { AnswerPiece } from './answer.js'
import type { Inputs } from './form.js'

/** The replacement text if the question or a variable contains a sensitive word; otherwise undefined. */
export function refusedInput({ sensitiveWords }: ChatApp, query: string, inputs: Inputs): string | undefined {
  const { enabled, words, inputs: side } = sensitiveWords
  if (!enabled || !side.enabled) return undefined
  return [query, ...Object.values(inputs)].some((text) => holdsAny(text, words)) ? side.response : undefined
}

/** Filters an answer: at the first sensitive word it is replaced completely and ends. */
export async function* moderated(
  { sensitiveWords }: ChatApp,
  pieces: AsyncGenerator<AnswerPiece>,
): AsyncGenerator<AnswerPiece> {
  const { enabled, outputs } = sensitiveWords
  if (!enabled || !outputs.enabled) return yield* pieces
  const words = sensitiveWords.words.map((word) => word.toLowerCase())
  const kept = Math.max(0, ...words.map((word) => word.length))
  let tail = ''
  for await (const piece of pieces) {
    if (piece.type === 'delta') {
      // A word may start in an earlier part.
      const window = tail + piece.text.toLowerCase()
      if (words.some((word) => window.includes(word))) return yield { type: 'replace', text: outputs.response }
      tail = kept === 0 ? '' : window.slice(-kept)
    }
    yield piece
  }
}

/** Ignores case and word boundaries, like the settings of similar services. */
function holdsAny(text: string, words: readonly string[]): boolean {
  const folded = text.toLowerCase()
  return words.some((word) => folded.includes(word.toLowerCase()))
}
