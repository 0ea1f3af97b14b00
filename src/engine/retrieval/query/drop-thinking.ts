import { KsError } from '../../../contract/errors.js'
import { hasAnswerText } from '../../../lib/text/thoughts.js'
import type { GenerationEvent } from '../../models/index.js'

const OPEN = '<think>'
const CLOSE = '</think>'

/**
 * Removes the thoughts before a model's answer. Nothing is emitted before its first word, so that another model can
 * answer instead of one that returns no text.
 *
 * @throws KsError `provider-failed` at the end of an answer without text
 */
export async function* dropThinking(events: AsyncIterable<GenerationEvent>): AsyncGenerator<GenerationEvent> {
  let held = ''
  let isThinking = false
  let isAnswering = false
  for await (const event of events) {
    if (isAnswering) yield event
    else if (event.type === 'end') throw createEmptyAnswerError()
    else {
      ;({ held, isThinking } = skipThoughts(held + event.text, isThinking))
      if (isThinking || OPEN.startsWith(held) || !hasAnswerText(held)) continue
      isAnswering = true
      yield { type: 'delta', text: held }
    }
  }
}

/** Text after the completed thoughts; within a thought, only as much of its end as a closing tag may need. */
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

export function createEmptyAnswerError(): KsError {
  return new KsError('provider-failed', 'the model ended its answer without a word')
}
