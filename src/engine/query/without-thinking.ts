import { KsError } from '../../contract/errors.js'
import { hasAnswerText } from '../../lib/text/thoughts.js'
import type { GenerationEvent } from '../models/types.js'

const OPEN = '<think>'
const CLOSE = '</think>'

/**
 * What a model says, without the thoughts before it. Nothing goes out before its first word, so that another may answer
 * in place of a model that says nothing.
 *
 * @throws KsError `provider-failed` at the end of an answer without a word
 */
export async function* withoutThinking(events: AsyncIterable<GenerationEvent>): AsyncGenerator<GenerationEvent> {
  let held = ''
  let isThinking = false
  let isSaying = false
  for await (const event of events) {
    if (isSaying) yield event
    else if (event.type === 'end') throw emptyAnswer()
    else {
      ;({ held, isThinking } = skipThoughts(held + event.text, isThinking))
      if (isThinking || OPEN.startsWith(held) || !hasAnswerText(held)) continue
      isSaying = true
      yield { type: 'delta', text: held }
    }
  }
}

/** What is left after thoughts that are over; of one that goes on, as much as its end may need. */
function skipThoughts(text: string, wasThinking: boolean): { held: string; isThinking: boolean } {
  let held = text
  let isThinking = wasThinking
  for (;;) {
    if (isThinking) {
      const end = held.indexOf(CLOSE)
      if (end < 0) return { held: held.slice(-CLOSE.length), isThinking }
      held = held.slice(end + CLOSE.length)
      isThinking = false
    }
    held = held.trimStart()
    if (!held.startsWith(OPEN)) return { held, isThinking }
    held = held.slice(OPEN.length)
    isThinking = true
  }
}

export function emptyAnswer(): KsError {
  return new KsError('provider-failed', 'the model ended its answer without a word')
}
