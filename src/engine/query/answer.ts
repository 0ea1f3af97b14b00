import type { EvidenceBundle, MissingEvidence } from '../../contract/gateway/queries.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import { smallTalkReply } from '../../lib/text/small-talk.js'
import type { EngineContext } from '../context.js'
import { BUILTIN_ANSWER, isBuiltin } from '../models/registry.js'
import type { SessionTurn } from '../rows/sessions.js'
import type { Admitted } from './admission.js'
import { withState } from './answer-state.js'
import { bothSides } from './conflicts/both-sides.js'
import type { Retrieved } from './fast.js'
import { type FollowUp, followUpOf } from './follow-up.js'
import type { AnswerStyle } from './generate.js'
import { nothingFound, notRetrieved } from './missing.js'
import { type AnswerPart, type ModelOutcome, modelAnswer } from './model-answer.js'
import { quote, toQuotable } from './quotation/quote.js'
import { type QuotedBlock, quotationText } from './quotation/text.js'

const UNANSWERED = { generator: 'extractive', synthesis: 'none', decidedBy: 'rules', cited: [] }
/** States in which a quotation answers the question. */
const SURE: ReadonlySet<string> = new Set(['answerable', 'conflict'])
/** Precedes passages that may not answer. */
const CLOSEST = 'Closest passages:\n\n'
const UNRESOLVED =
  'This question refers to the one before it, and no passage has more about that. Ask it as a complete question.'

/** Streams an answer: from the space's model if it has one, otherwise a quotation of the evidence. */
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
  const ownParts = (): AnswerPart[] => [...withoutModel(query, followUp, bundle, retrieved)]
  if (isBuiltin(model) || bundle.items.length === 0) return yield* ownParts()
  // The answer to a message longer than a query is not checked, and quoting for such a message takes long.
  const checkedParts = query.length > LIMITS.queryText ? undefined : ownParts()
  // A model also gets passages that share no word with the question.
  const isRefused = bundle.state === 'not-enough-evidence'
  const isQuoted = checkedParts?.some((part) => part.type === 'end' && part.metadata.synthesis === 'extractive')
  const quotation =
    checkedParts !== undefined && (isRefused || isQuoted === true)
      ? { text: textOf(checkedParts), isSure: isSure(checkedParts) }
      : undefined
  const evidence = { bundle, retrieved, ...defined({ quotation }) }
  const outcome = yield* modelAnswer(context, admitted, turns, query, evidence, model, signal, style)
  if (outcome.type === 'answered') return
  yield* insteadOf(outcome, checkedParts ?? ownParts(), retrieved.withheld !== undefined)
}

function isSure(parts: readonly AnswerPart[]): boolean {
  return parts.some((part) => part.type === 'end' && SURE.has(part.bundle.state))
}

function textOf(parts: readonly AnswerPart[]): string {
  return parts.flatMap((part) => (part.type === 'delta' ? [part.text] : [])).join('')
}

/**
 * Returns the parts that replace the answer of a model that failed or declined: those without a model. When the model
 * declined, its own parts are used unless those without a model are sure and no better passage is withheld.
 */
function insteadOf(outcome: ModelOutcome, parts: readonly AnswerPart[], isWithheld: boolean): AnswerPart[] {
  if (outcome.type === 'declined' && (!isSure(parts) || isWithheld)) return outcome.parts
  return parts.map((part) =>
    part.type === 'end' ? { ...part, metadata: { ...part.metadata, modelAnswer: outcome.type } } : part,
  )
}

function* withoutModel(
  query: string,
  followUp: FollowUp | undefined,
  bundle: EvidenceBundle,
  retrieved: Retrieved,
): Generator<AnswerPart> {
  const reply = smallTalkReply(query)
  if (reply !== undefined) {
    // no passage answers small talk, whatever words they share
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

function* extractive(
  query: string,
  followUp: FollowUp | undefined,
  bundle: EvidenceBundle,
  { idf, withheld, rewordings, searchedFor }: Retrieved,
): Generator<AnswerPart> {
  const both = bothSides(bundle)
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
  const quotation = quote({ query, passages, idf, rewordings, followUp, versions, ...defined({ searchedFor }) })
  if (quotation === undefined) {
    yield { type: 'delta', text: followUp === undefined ? nothingFound(query) : UNRESOLVED }
    yield { type: 'end', metadata: UNANSWERED, bundle: withoutAnswer(bundle, followUp !== undefined, withheld) }
    return
  }
  const isSure = bundle.state !== 'partial' && bundle.state !== 'permission-limited'
  const { text, blocks } = quotationText(quotation, bundle.items)
  const opening = isSure ? '' : CLOSEST
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
        blocks: blocks.map((block) => shifted(block, opening.length)),
      },
    },
    bundle,
  }
}

function shifted({ cited, start, end, marks }: QuotedBlock, offset: number): QuotedBlock {
  const ranges = marks.map((mark) => ({ start: mark.start + offset, end: mark.end + offset }))
  return { cited, start: start + offset, end: end + offset, marks: ranges }
}

const MORE_ON_IT: MissingEvidence = {
  reason: 'not-retrieved',
  text: 'the question refers to the one before it, and no passage has more about that',
  metadata: { terms: [] },
}

/** Evidence of a question without an answer: passages on the previous question do not answer a follow-up. */
function withoutAnswer(bundle: EvidenceBundle, isFollowUp: boolean, withheld: Retrieved['withheld']): EvidenceBundle {
  if (bundle.state === 'permission-limited') return bundle
  if (withheld !== undefined) return withState(bundle, 'permission-limited')
  const known = bundle.missingEvidence.filter(({ reason }) => reason !== 'not-retrieved')
  const missing = isFollowUp ? [MORE_ON_IT] : notRetrieved(bundle.query)
  return { ...bundle, state: 'not-enough-evidence', missingEvidence: [...missing, ...known] }
}
