import { KsError } from '../../contract/errors.js'
import type { EvidenceBundle, EvidenceItem, MissingEvidence } from '../../contract/gateway/queries.js'
import { defined } from '../../lib/defined.js'
import { smallTalkReply } from '../../lib/text/small-talk.js'
import { type Degradation, degradationBy, degradedFields } from '../base/degraded.js'
import type { ModelReference } from '../base/model-reference.js'
import { account } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import { BUILTIN_ANSWER, isBuiltin } from '../models/registry.js'
import type { SessionTurn } from '../rows/sessions.js'
import type { Admitted } from './admission.js'
import { deciderOf, markReader, stateByMark, withState } from './answer-mark.js'
import { citationWriter } from './citation-marks.js'
import { bothSides } from './conflicts/both-sides.js'
import { takesNothing } from './declined.js'
import { closestPassage, extractiveAnswer, extractiveFollowUp } from './extractive.js'
import type { Retrieved } from './fast.js'
import { type FollowUp, followUpOf } from './follow-up.js'
import { type AnswerStyle, citedNumbers, generateAnswer } from './generate.js'
import { nothingFound, notRetrieved } from './missing.js'
import type { Given } from './window.js'

export type AnswerPart =
  | { type: 'delta'; text: string }
  /** the model failed before its first word; what follows is made of the evidence's own sentences */
  | { type: 'failed-attempt'; metadata: Record<string, unknown>; degraded: Degradation; error: unknown }
  /** `bundle` is the evidence with the state that it has for the answer that was given */
  | { type: 'end'; metadata: Record<string, unknown>; bundle: EvidenceBundle }

const UNANSWERED = { generator: 'extractive', synthesis: 'none', decidedBy: 'rules', cited: [] }
/** Before passages of which it is not sure that they answer. */
const CLOSEST = 'Closest passages: '
const UNRESOLVED =
  'This question goes on from the one before it, and no passage says more on that. Ask it as a whole question.'

/** Streams an answer: from the space's model where it has one, else of the evidence's own sentences. */
export async function* answerQuery(
  context: EngineContext,
  admitted: Admitted,
  turns: SessionTurn[],
  query: string,
  bundle: EvidenceBundle,
  retrieved: Retrieved,
  signal: AbortSignal,
  style: AnswerStyle = {},
): AsyncGenerator<AnswerPart> {
  const model = admitted.profile.reasoningModel ?? context.options.defaultGenerator
  const followUp = followUpOf(query, turns)
  // a model is given what was found whatever its words have in common with the question's: it says whether that answers
  if (!isBuiltin(model) && bundle.items.length > 0) {
    const outcome = yield* modelAnswer(context, admitted, turns, query, { bundle, retrieved }, model, signal, style)
    if (outcome === 'answered') return
  }
  // a model answers it by itself, or has failed to
  const reply = isBuiltin(model) ? smallTalkReply(query) : undefined
  if (reply !== undefined) {
    // no passage is of any use to it, whatever words they share
    yield { type: 'delta', text: reply }
    const state = bundle.state === 'permission-limited' ? bundle.state : 'not-enough-evidence'
    yield { type: 'end', metadata: UNANSWERED, bundle: { ...bundle, state } }
    return
  }
  if (bundle.state === 'not-enough-evidence') {
    yield { type: 'delta', text: followUp?.isShort === true ? UNRESOLVED : nothingFound(query) }
    yield { type: 'end', metadata: UNANSWERED, bundle }
    return
  }
  yield* extractive(query, followUp, bundle, retrieved)
}

function textOf({ text, metadata }: EvidenceItem): string {
  return `${String(metadata.title ?? '')}\n${text}`
}

/** @returns `failed` when the model failed before its first word, so that another generator can answer */
async function* modelAnswer(
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
    const degraded = degradationBy('answer', 'the answer is made of sentences of the evidence', error)
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

function* extractive(
  query: string,
  followUp: FollowUp | undefined,
  bundle: EvidenceBundle,
  { idf, withheld, rewordings }: Retrieved,
): Generator<AnswerPart> {
  const evidence = bundle.items.map(({ text, metadata }) => ({
    text,
    title: String(metadata.title ?? ''),
    source: String(metadata.filename ?? ''),
  }))
  const contradicting = bothSides(bundle)
  if (contradicting !== undefined) {
    yield { type: 'delta', text: contradicting.text }
    const cited = contradicting.sides.map(({ evidenceIndex }) => evidenceIndex + 1)
    yield {
      type: 'end',
      metadata: { generator: BUILTIN_ANSWER.model, synthesis: 'extractive', decidedBy: 'rules', cited },
      bundle,
    }
    return
  }
  const asked = { query, evidence, idf, ...defined({ rewordings }) }
  const { sentences } = followUp === undefined ? extractiveAnswer(asked) : extractiveFollowUp(asked, followUp)
  // the passages may be near a question though no sentence of theirs holds a word of it
  const quoted = sentences.length > 0 || followUp !== undefined ? sentences : closestPassage(evidence)
  if (quoted.length === 0) {
    yield { type: 'delta', text: followUp === undefined ? nothingFound(query) : UNRESOLVED }
    yield { type: 'end', metadata: UNANSWERED, bundle: withoutAnswer(bundle, followUp !== undefined, withheld) }
    return
  }
  // what may not answer is told as what it is
  const isUnsure = bundle.state === 'partial' || bundle.state === 'permission-limited'
  const opening = isUnsure || sentences.length === 0 ? CLOSEST : ''
  for (const [index, sentence] of quoted.entries())
    yield { type: 'delta', text: `${index === 0 ? opening : ' '}${sentence.text} [${sentence.evidenceIndex + 1}]` }
  yield {
    type: 'end',
    metadata: {
      generator: BUILTIN_ANSWER.model,
      synthesis: 'extractive',
      decidedBy: 'rules',
      cited: [...new Set(quoted.map((sentence) => sentence.evidenceIndex + 1))].sort((a, b) => a - b),
    },
    bundle: sentences.length === 0 ? withoutSentence(bundle, withheld) : bundle,
  }
}

/** Passages of which no sentence holds a word of the question answer a part of it at most. */
function withoutSentence(bundle: EvidenceBundle, withheld: Retrieved['withheld']): EvidenceBundle {
  if (bundle.state !== 'answerable') return bundle
  return withState(bundle, withheld === undefined ? 'partial' : 'permission-limited')
}

const MORE_ON_IT: MissingEvidence = {
  reason: 'not-retrieved',
  text: 'the question goes on from the one before it, and no passage says more on that',
  metadata: { terms: [] },
}

/** Passages on the question before say nothing on a follow-up that they do not answer. */
function withoutAnswer(bundle: EvidenceBundle, isFollowUp: boolean, withheld: Retrieved['withheld']): EvidenceBundle {
  if (bundle.state === 'permission-limited') return bundle
  if (withheld !== undefined) return withState(bundle, 'permission-limited')
  const known = bundle.missingEvidence.filter(({ reason }) => reason !== 'not-retrieved')
  const missing = isFollowUp ? [MORE_ON_IT] : notRetrieved(bundle.query)
  return { ...bundle, state: 'not-enough-evidence', missingEvidence: [...missing, ...known] }
}
