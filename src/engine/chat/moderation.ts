import type { ChatApp } from '../../contract/chat/apps.js'
import type { AnswerPiece } from './answer.js'
import type { Inputs } from './form.js'

/** What is said instead of answering, where the question or a variable holds a word that is not let through. */
export function refusedInput({ sensitiveWords }: ChatApp, query: string, inputs: Inputs): string | undefined {
  const { enabled, words, inputs: side } = sensitiveWords
  if (!enabled || !side.enabled) return undefined
  return [query, ...Object.values(inputs)].some((text) => holdsAny(text, words)) ? side.response : undefined
}

/** An answer as it may be said: at the first word that is not let through, all of it is replaced, and it ends. */
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
      // a word may begin in an earlier piece
      const window = tail + piece.text.toLowerCase()
      if (words.some((word) => window.includes(word))) return yield { type: 'replace', text: outputs.response }
      tail = kept === 0 ? '' : window.slice(-kept)
    }
    yield piece
  }
}

/** In any case and within words, as the settings of other services of this kind mean it. */
function holdsAny(text: string, words: readonly string[]): boolean {
  const folded = text.toLowerCase()
  return words.some((word) => folded.includes(word.toLowerCase()))
}
