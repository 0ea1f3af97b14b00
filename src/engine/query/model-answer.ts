import { KsError } from '../../contract/errors.js'
import type { EvidenceBundle, EvidenceItem } from '../../contract/gateway/queries.js'
import { defined } from '../../lib/defined.js'
import { type Degradation, degradationBy, degradedFields } from '../base/degraded.js'
import type { ModelReference } from '../base/model-reference.js'
import { account } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import type { SessionTurn } from '../rows/sessions.js'
import type { Admitted } from './admission.js'
import { deciderOf, markReader, stateByMark, withState } from './answer-mark.js'
import { citationWriter } from './citation-marks.js'
import { takesNothing } from './declined.js'
import type { Retrieved } from './fast.js'
import { type AnswerStyle, citedNumbers, generateAnswer } from './generate.js'
import { nothingFound } from './missing.js'
import type { Given } from './window.js'

export type AnswerPart =
  | { type: 'delta'; text: string }
  /** the model failed before its first word; a quotation follows */
  | { type: 'failed-attempt'; metadata: Record<string, unknown>; degraded: Degradation; error: unknown }
  /** `bundle` is the evidence with the state that it has for the answer that was given */
  | { type: 'end'; metadata: Record<string, unknown>; bundle: EvidenceBundle }

function textOf({ text, metadata }: EvidenceItem): string {
  return `${String(metadata.title ?? '')}\n${text}`
}

/** @returns `failed` when the model failed before its first word, so that another generator can answer */
export async function* modelAnswer(
  context: EngineContext,
  admitted: Admitted,
  turns: SessionTurn[],
  query: string,
  { bundle, retrieved: { withheld } }: { bundle: EvidenceBundle; retrieved: Retrieved },
  model: ModelReference,
  signal: AbortSignal,
  style: AnswerStyle,
): AsyncGenerator<AnswerPart, 'answered' | 'failed'> {
  let answer = ''
  const mark = markReader()
  let given: Given | undefined
  let marks = citationWriter(0)
  try {
    const generator = context.models.generator(model, account(context, admitted.space))
    for await (const event of generateAnswer(generator, query, bundle.items, turns, signal, style)) {
      if (event.type === 'given') {
        given = event.given
        marks = citationWriter(given.passages)
        continue
      }
      if (event.type === 'delta') {
        const text = marks.take(mark.take(event.text))
        answer += text
        if (text !== '') yield { type: 'delta', text }
        continue
      }
      // a model may say with the mark alone that nothing answers
      const held = marks.take(mark.rest()) + marks.rest()
      const rest = answer + held === '' ? nothingFound(query) : held
      answer += rest
      if (rest !== '') yield { type: 'delta', text: rest }
      const cited = citedNumbers(answer, given?.passages ?? 0)
      const passages = bundle.items.slice(0, given?.passages ?? 0).map(textOf)
      const declines = cited.length === 0 && takesNothing(answer, query, passages)
      const said = mark.said() ?? (declines ? 'none' : undefined)
      const state = stateByMark(bundle.state, said, cited.length, withheld !== undefined)
      yield {
        type: 'end',
        metadata: {
          generator: 'model',
          synthesis: 'model',
          decidedBy: deciderOf(state),
          reasoningModel: model,
          model: model.model,
          provider: model.provider,
          providerFinishReason: event.finishReason,
          cited,
          ...defined({ context: given }),
          ...(event.usage === undefined ? {} : { providerMetadata: { usage: event.usage } }),
        },
        bundle: withState(bundle, state),
      }
    }
    return 'answered'
  } catch (error) {
    if (signal.aborted || answer !== '') throw error
    const degraded = degradationBy('answer', 'the answer is a quotation of the evidence', error)
    yield {
      type: 'failed-attempt',
      metadata: {
        synthesis: 'model',
        model: model.model,
        provider: model.provider,
        errorClass: error instanceof KsError ? error.code : 'internal',
        ...degradedFields([degraded]),
      },
      degraded,
      error,
    }
    return 'failed'
  }
}
