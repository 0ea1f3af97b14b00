import { KsError } from '../../contract/errors.js'
import type { EvidenceBundle, EvidenceItem } from '../../contract/gateway/queries.js'
import { defined } from '../../lib/defined.js'
import { smallTalkReply } from '../../lib/text/small-talk.js'
import { type Degradation, degradationBy, degradedFields } from '../base/degraded.js'
import type { ModelReference } from '../base/model-reference.js'
import { account } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import type { SessionTurn } from '../rows/sessions.js'
import type { Admitted } from './admission.js'
import { answerChecker, type CheckResult } from './answer-check.js'
import { deciderOf, stateOfReply, withState } from './answer-state.js'
import { citationWriter } from './citation-marks.js'
import type { Retrieved } from './fast.js'
import { type AnswerStyle, generateAnswer } from './generate.js'
import { kindAskedFor, lacksKind } from './question/asked-kind.js'
import { type Source, withoutMarks } from './support.js'

export type AnswerPart =
  | { type: 'delta'; text: string }
  /** the model failed before its first checked statement; a quotation follows */
  | { type: 'failed-attempt'; metadata: Record<string, unknown>; degraded: Degradation; error: unknown }
  /** `bundle` is the evidence with its state after this answer */
  | { type: 'end'; metadata: Record<string, unknown>; bundle: EvidenceBundle }

/** Result of asking a model. Unless it is `answered`, no text of the model was sent. */
export type ModelOutcome =
  | { type: 'answered' }
  | { type: 'failed' | 'unsupported' }
  /** `parts` are the reply of the model, which states that the passages do not answer */
  | { type: 'declined'; parts: AnswerPart[] }

/** Evidence that a model answers from. */
interface ModelEvidence {
  bundle: EvidenceBundle
  retrieved: Retrieved
  /** the answer without a model; absent for a message that is too long for a query */
  quotation?: { text: string; isSure: boolean }
}

/** Maximum characters of a question; a longer message may contain texts that the model is to answer from. */
const MAX_QUESTION = 300

/** Answers with a model. Only statements that the passages support are sent. */
export async function* modelAnswer(
  context: EngineContext,
  admitted: Admitted,
  turns: SessionTurn[],
  query: string,
  { bundle, retrieved: { withheld }, quotation }: ModelEvidence,
  model: ModelReference,
  signal: AbortSignal,
  style: AnswerStyle,
): AsyncGenerator<AnswerPart, ModelOutcome> {
  const askedKind = kindAskedFor(query)
  let sent = ''
  let metadata: Record<string, unknown> = {}
  const send = (text: string): AnswerPart[] => {
    sent += text
    return text === '' ? [] : [{ type: 'delta', text }]
  }
  const endOf = ({ cited, dropped, agrees }: CheckResult, isDeclined: boolean): AnswerPart => {
    const reply = {
      isDeclined,
      isPart: dropped > 0 || !agrees || lacksKind(askedKind, withoutMarks(sent)),
      isUncited: cited.length === 0,
    }
    const state = stateOfReply(bundle.state, reply, withheld !== undefined)
    return {
      type: 'end',
      metadata: { ...metadata, decidedBy: deciderOf(state), cited },
      bundle: withState(bundle, state),
    }
  }
  const checkerOf = (numbers: readonly number[]) => {
    const sources = new Map(numbers.flatMap((number) => withSource(number, bundle.items[number - 1])))
    const before = turns.map((turn) => `${turn.query}\n${turn.answer}`)
    // Images, and texts inside a long message, may also contain the answer.
    const isUnchecked = (style.images ?? []).length > 0 || query.length > MAX_QUESTION
    const context = [...before, style.instructions ?? '']
    return answerChecker({ question: query, sources, context, isUnchecked, ...defined({ quotation }) })
  }
  let checker = checkerOf([])
  let marks = citationWriter(() => false)
  try {
    const generator = context.models.generator(model, account(context, admitted.space))
    for await (const event of generateAnswer(generator, query, bundle.items, turns, signal, style)) {
      if (event.type === 'given') {
        const { given, numbers } = event
        metadata = { generator: 'model', synthesis: 'model', reasoningModel: model, context: given }
        checker = checkerOf(numbers)
        marks = citationWriter((number) => numbers.includes(number))
      } else if (event.type === 'delta') yield* send(checker.take(marks.take(event.text)))
      else {
        Object.assign(metadata, {
          model: model.model,
          provider: model.provider,
          providerFinishReason: event.finishReason,
        })
        Object.assign(metadata, event.usage === undefined ? {} : { providerMetadata: { usage: event.usage } })
      }
    }
    yield* send(checker.take(marks.rest()))
    yield* send(checker.rest())
  } catch (error) {
    if (signal.aborted || sent !== '') throw error
    yield failedAttempt(model, error)
    return { type: 'failed' }
  }
  const result = checker.result()
  if (sent !== '') {
    yield endOf(result, false)
    return { type: 'answered' }
  }
  if (!result.isDeclined) return { type: 'unsupported' }
  const parts = [...send(result.text), endOf(result, true)]
  if (smallTalkReply(query) === undefined) return { type: 'declined', parts }
  yield* parts
  return { type: 'answered' }
}

function withSource(number: number, item: EvidenceItem | undefined): [number, Source][] {
  return item === undefined ? [] : [[number, sourceOf(item)]]
}

/** Text, names and day of a passage, for comparison with statements. */
export function sourceOf({ text, metadata, citations }: EvidenceItem): Source {
  const { title, documentTitle, filename, documentDate } = metadata
  const names = [title, documentTitle, filename, ...(citations[0]?.sectionPath ?? []), documentDate]
  return {
    text,
    names: names
      .map((name) => String(name ?? ''))
      .join('\n')
      .replaceAll('_', ' '),
  }
}

function failedAttempt(model: ModelReference, error: unknown): AnswerPart {
  const degraded = degradationBy('answer', 'the answer is a quotation of the evidence', error)
  const metadata = {
    synthesis: 'model',
    model: model.model,
    provider: model.provider,
    errorClass: error instanceof KsError ? error.code : 'internal',
    ...degradedFields([degraded]),
  }
  return { type: 'failed-attempt', metadata, degraded, error }
}
