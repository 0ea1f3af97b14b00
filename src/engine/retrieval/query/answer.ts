import type { EvidenceBundle, MissingEvidence } from '../../../contract/gateway/queries.js'
import { LIMITS } from '../../../contract/limits.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { findSmallTalkReply } from '../../../lib/text/small-talk.js'
import { BUILTIN_ANSWER, isBuiltin } from '../../models/index.js'
import { findConflictSides } from './conflicts/conflict-sides.js'
import { type FollowUp, findFollowUp } from './follow-up.js'
import { type AnswerPart, type AnswerRequest, answerWithModel, type ModelOutcome, withState } from './model-answer.js'
import { describeMissingEvidence, formatNothingFound } from './question/expected-evidence.js'
import { chooseQuotation, toQuotable } from './quotation/quote.js'
import { formatQuotation, type QuotedBlock } from './quotation/text.js'
import type { RetrievalResult } from './retrieval.js'

const UNANSWERED_METADATA = { generator: 'extractive', synthesis: 'none', decidedBy: 'rules', cited: [] }
/** States in which a quotation answers the question. */
const SURE_STATES: ReadonlySet<string> = new Set(['answerable', 'conflict'])
/** Precedes passages that may not answer. */
const CLOSEST_PASSAGES_OPENING = 'Closest passages:\n\n'
const UNRESOLVED_FOLLOW_UP_TEXT =
  'This question refers to the one before it, and no passage has more about that. Ask it as a complete question.'

/** Streams an answer: from the space's model if it has one, otherwise a quotation of the evidence. */
export async function* answerQuery(
  request: AnswerRequest,
  bundle: EvidenceBundle,
  retrieved: RetrievalResult,
): AsyncGenerator<AnswerPart> {
  const { context, admitted, query, turns } = request
  const model = admitted.profile.reasoningModel ?? context.options.defaultGenerator
  const followUp = findFollowUp(query, turns)
  const buildParts = (): AnswerPart[] => [...answerWithoutModel(query, followUp, bundle, retrieved)]
  if (isBuiltin(model) || bundle.items.length === 0) return yield* buildParts()
  // The answer to a message longer than a query is not checked, and quoting for such a message takes long.
  const checkedParts = query.length > LIMITS.queryText ? undefined : buildParts()
  // A model also gets passages that share no word with the question.
  const isRefused = bundle.state === 'not-enough-evidence'
  const isQuoted = checkedParts?.some((part) => part.type === 'end' && part.metadata.synthesis === 'extractive')
  const quotation =
    checkedParts !== undefined && (isRefused || isQuoted === true)
      ? { text: joinDeltas(checkedParts), isSure: isSure(checkedParts) }
      : undefined
  const evidence = { bundle, retrieved, ...omitUndefined({ quotation }) }
  const outcome = yield* answerWithModel(request, evidence, model)
  if (outcome.type === 'answered') return
  yield* chooseFallbackParts(outcome, checkedParts ?? buildParts(), retrieved.withheld !== undefined)
}

function isSure(parts: readonly AnswerPart[]): boolean {
  return parts.some((part) => part.type === 'end' && SURE_STATES.has(part.bundle.state))
}

function joinDeltas(parts: readonly AnswerPart[]): string {
  return parts.flatMap((part) => (part.type === 'delta' ? [part.text] : [])).join('')
}

/**
 * Returns the parts that replace the answer of a model that failed or declined: those without a model. When the model
 * declined, its own parts are used unless those without a model are sure and no better passage is withheld.
 */
function chooseFallbackParts(outcome: ModelOutcome, parts: readonly AnswerPart[], isWithheld: boolean): AnswerPart[] {
  if (outcome.type === 'declined' && (!isSure(parts) || isWithheld)) return outcome.parts
  return parts.map((part) =>
    part.type === 'end' ? { ...part, metadata: { ...part.metadata, modelAnswer: outcome.type } } : part,
  )
}

function* answerWithoutModel(
  query: string,
  followUp: FollowUp | undefined,
  bundle: EvidenceBundle,
  retrieved: RetrievalResult,
): Generator<AnswerPart> {
  const reply = findSmallTalkReply(query)
  if (reply !== undefined) {
    // no passage answers small talk, whatever words they share
    yield { type: 'delta', text: reply }
    const state = bundle.state === 'permission-limited' ? bundle.state : 'not-enough-evidence'
    yield { type: 'end', metadata: UNANSWERED_METADATA, bundle: { ...bundle, state } }
    return
  }
  if (bundle.state === 'not-enough-evidence') {
    yield { type: 'delta', text: followUp?.isShort === true ? UNRESOLVED_FOLLOW_UP_TEXT : formatNothingFound(query) }
    yield { type: 'end', metadata: UNANSWERED_METADATA, bundle }
    return
  }
  yield* quoteEvidence(query, followUp, bundle, retrieved)
}

function* quoteEvidence(
  query: string,
  followUp: FollowUp | undefined,
  bundle: EvidenceBundle,
  { idf, withheld, rewordings, searchedFor }: RetrievalResult,
): Generator<AnswerPart> {
  const both = findConflictSides(bundle)
  if (both?.isSuperseded === false) {
    yield { type: 'delta', text: both.text }
    const cited = both.sides.map(({ evidenceIndex }) => evidenceIndex + 1)
    yield {
      type: 'end',
      metadata: { generator: BUILTIN_ANSWER.model, synthesis: 'extractive', decidedBy: 'rules', cited },
      bundle,
    }
    return
  }
  const versions = both?.sides.map(({ evidenceIndex: passage, relation }) => ({ passage, relation }))
  const passages = bundle.items.map(toQuotable)
  const quotation = chooseQuotation({
    query,
    passages,
    idf,
    rewordings,
    followUp,
    versions,
    ...omitUndefined({ searchedFor }),
  })
  if (quotation === undefined) {
    yield { type: 'delta', text: followUp === undefined ? formatNothingFound(query) : UNRESOLVED_FOLLOW_UP_TEXT }
    yield {
      type: 'end',
      metadata: UNANSWERED_METADATA,
      bundle: markUnanswered(bundle, followUp !== undefined, withheld),
    }
    return
  }
  const isSure = bundle.state !== 'partial' && bundle.state !== 'permission-limited'
  const { text, blocks } = formatQuotation(quotation, bundle.items)
  const opening = isSure ? '' : CLOSEST_PASSAGES_OPENING
  yield { type: 'delta', text: `${opening}${text}` }
  yield {
    type: 'end',
    metadata: {
      generator: BUILTIN_ANSWER.model,
      synthesis: 'extractive',
      decidedBy: 'rules',
      cited: blocks.map(({ cited }) => cited),
      quotation: {
        probability: Math.round(quotation.probability * 1000) / 1000,
        blocks: blocks.map((block) => shiftBlock(block, opening.length)),
      },
    },
    bundle,
  }
}

function shiftBlock({ cited, start, end, marks }: QuotedBlock, offset: number): QuotedBlock {
  const ranges = marks.map((mark) => ({ start: mark.start + offset, end: mark.end + offset }))
  return { cited, start: start + offset, end: end + offset, marks: ranges }
}

const FOLLOW_UP_UNANSWERED: MissingEvidence = {
  reason: 'not-retrieved',
  text: 'the question refers to the one before it, and no passage has more about that',
  metadata: { terms: [] },
}

/** Evidence of a question without an answer: passages on the previous question do not answer a follow-up. */
function markUnanswered(
  bundle: EvidenceBundle,
  isFollowUp: boolean,
  withheld: RetrievalResult['withheld'],
): EvidenceBundle {
  if (bundle.state === 'permission-limited') return bundle
  if (withheld !== undefined) return withState(bundle, 'permission-limited')
  const known = bundle.missingEvidence.filter(({ reason }) => reason !== 'not-retrieved')
  const missing = isFollowUp ? [FOLLOW_UP_UNANSWERED] : describeMissingEvidence(bundle.query)
  return { ...bundle, state: 'not-enough-evidence', missingEvidence: [...missing, ...known] }
}
