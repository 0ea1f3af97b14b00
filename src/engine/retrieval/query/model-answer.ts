import { KsError } from '../../../contract/errors.js'
import type { EvidenceBundle, EvidenceItem, EvidenceState, MissingEvidence } from '../../../contract/gateway/queries.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { findSmallTalkReply } from '../../../lib/text/small-talk.js'
import { type Degradation, toDegradation, toDegradedFields } from '../../base/degraded.js'
import type { ModelReference } from '../../base/model-reference.js'
import {
  type CheckResult,
  createAnswerChecker,
  createCitationWriter,
  type EvidenceSource,
  removeMarks,
} from '../../knowledge/index.js'
import { getSpaceAccount } from '../../library/index.js'
import type { SessionTurn } from '../../store/rows/sessions.js'
import { type AnswerStyle, generateAnswer } from './generate.js'
import { describeMissingEvidence } from './question/expected-evidence.js'
import { findRequestedKind, lacksKind } from './question/requested-kind.js'
import type { QuestionScope, RetrievalResult } from './retrieval.js'
import { WITHHELD_ENTRY } from './withheld.js'

/** Result of checking a model's answer. */
export interface ModelReplyCheck {
  /** it states that the passages do not answer */
  isDeclined: boolean
  /** statements were removed, the requested detail is missing, or it disagrees with the quotation */
  isPart: boolean
  /** it was not checked, and cites nothing */
  isUncited?: boolean
}

/**
 * Returns the state of evidence after a model has answered from it. Contradictions remain unless the model declines.
 * The state is `permission-limited` if the rules found that, or if a passage that answers is withheld and the model
 * declines or answers partially.
 *
 * @param isWithheld whether the best passage answers but the reader may not read it
 */
export function computeReplyState(
  judged: EvidenceState,
  { isDeclined, isPart, isUncited = false }: ModelReplyCheck,
  isWithheld = false,
): EvidenceState {
  if (judged === 'permission-limited' || ((isDeclined || isPart) && isWithheld)) return 'permission-limited'
  if (isDeclined) return 'not-enough-evidence'
  if (judged === 'conflict') return judged
  if (isUncited) return judged === 'answerable' ? 'partial' : judged
  return isPart && judged !== 'answerable' ? 'partial' : 'answerable'
}

/** Who decided the state of an answer that a model wrote: contradictions and permission limits are found by rules. */
export function getDecider(state: EvidenceState): 'model' | 'rules' {
  return state === 'conflict' || state === 'permission-limited' ? 'rules' : 'model'
}

const STATE_REASONS = new Set<MissingEvidence['reason']>(['not-retrieved', 'conflict', 'permission-filtered'])

/** Evidence with another state and the missing evidence of that state. */
export function withState(bundle: EvidenceBundle, state: EvidenceState): EvidenceBundle {
  if (state === bundle.state) return bundle
  const others = bundle.missingEvidence.filter(({ reason }) => !STATE_REASONS.has(reason))
  const isOpen = state === 'not-enough-evidence' || state === 'partial'
  const missing = isOpen ? describeMissingEvidence(bundle.query) : []
  const withheld = state === 'permission-limited' ? [WITHHELD_ENTRY] : []
  return { ...bundle, state, missingEvidence: [...missing, ...withheld, ...others] }
}

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

/** A question to answer from evidence. */
export interface AnswerRequest extends QuestionScope {
  /** earlier turns of the session, oldest first */
  turns: readonly SessionTurn[]
  style?: AnswerStyle
}

/** Evidence that a model answers from. */
interface ModelEvidence {
  bundle: EvidenceBundle
  retrieved: RetrievalResult
  /** the answer without a model; absent for a message that is too long for a query */
  quotation?: { text: string; isSure: boolean }
}

/** Maximum characters of a question; a longer message may contain texts that the model is to answer from. */
const MAX_QUESTION_CHARACTERS = 300

/** Answers with a model. Only statements that the passages support are sent. */
export async function* answerWithModel(
  { context, admitted, query, turns, signal, style = {} }: AnswerRequest,
  { bundle, retrieved: { withheld }, quotation }: ModelEvidence,
  model: ModelReference,
): AsyncGenerator<AnswerPart, ModelOutcome> {
  const askedKind = findRequestedKind(query)
  let sent = ''
  let metadata: Record<string, unknown> = {}
  const send = (text: string): AnswerPart[] => {
    sent += text
    return text === '' ? [] : [{ type: 'delta', text }]
  }
  const buildEnd = ({ cited, dropped, agrees }: CheckResult, isDeclined: boolean): AnswerPart => {
    const reply = {
      isDeclined,
      isPart: dropped > 0 || !agrees || lacksKind(askedKind, removeMarks(sent)),
      isUncited: cited.length === 0,
    }
    const state = computeReplyState(bundle.state, reply, withheld !== undefined)
    return {
      type: 'end',
      metadata: { ...metadata, decidedBy: getDecider(state), cited },
      bundle: withState(bundle, state),
    }
  }
  const createChecker = (numbers: readonly number[]) => {
    const sources = new Map(numbers.flatMap((number) => toSourceEntry(number, bundle.items[number - 1])))
    const before = turns.map((turn) => `${turn.query}\n${turn.answer}`)
    // Images, and texts inside a long message, may also contain the answer.
    const isUnchecked = (style.images ?? []).length > 0 || query.length > MAX_QUESTION_CHARACTERS
    const context = [...before, style.instructions ?? '']
    return createAnswerChecker({ question: query, sources, context, isUnchecked, ...omitUndefined({ quotation }) })
  }
  let checker = createChecker([])
  let marks = createCitationWriter(() => false)
  try {
    const generator = context.models.generator(model, getSpaceAccount(context, admitted.space))
    for await (const event of generateAnswer(generator, query, bundle.items, { ...style, turns, signal })) {
      if (event.type === 'given') {
        const { given, numbers } = event
        metadata = { generator: 'model', synthesis: 'model', reasoningModel: model, context: given }
        checker = createChecker(numbers)
        marks = createCitationWriter((number) => numbers.includes(number))
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
    yield toFailedAttempt(model, error)
    return { type: 'failed' }
  }
  const result = checker.result()
  if (sent !== '') {
    yield buildEnd(result, false)
    return { type: 'answered' }
  }
  if (!result.isDeclined) return { type: 'unsupported' }
  const parts = [...send(result.text), buildEnd(result, true)]
  if (findSmallTalkReply(query) === undefined) return { type: 'declined', parts }
  yield* parts
  return { type: 'answered' }
}

function toSourceEntry(number: number, item: EvidenceItem | undefined): [number, EvidenceSource][] {
  return item === undefined ? [] : [[number, toSource(item)]]
}

/** Text, names and day of a passage, for comparison with statements. */
export function toSource({ text, metadata, citations }: EvidenceItem): EvidenceSource {
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

function toFailedAttempt(model: ModelReference, error: unknown): AnswerPart {
  const degraded = toDegradation('answer', 'the answer is a quotation of the evidence', error)
  const metadata = {
    synthesis: 'model',
    model: model.model,
    provider: model.provider,
    errorClass: error instanceof KsError ? error.code : 'internal',
    ...toDegradedFields([degraded]),
  }
  return { type: 'failed-attempt', metadata, degraded, error }
}
