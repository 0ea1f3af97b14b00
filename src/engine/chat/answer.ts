import type { ChatApp } from '../../contract/chat/apps.js'
import { ChatError } from '../../contract/chat/errors.js'
import type { AgentThought, AnswerMetadata, RetrieverResource } from '../../contract/chat/messages.js'
import { KsError } from '../../contract/errors.js'
import type { EvidenceBundle } from '../../contract/gateway/queries.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import type { Degradation } from '../base/degraded.js'
import type { ModelReference } from '../base/model-reference.js'
import { ProviderFailure } from '../base/provider-failure.js'
import type { EngineContext } from '../context.js'
import { IMAGE_TOKENS } from '../models/guarded.js'
import type { TokenMeter } from '../models/meter.js'
import { isBuiltin } from '../models/registry.js'
import { tokensAtMost } from '../models/tokens.js'
import type { ChatImage, ChatMessage } from '../models/types.js'
import { endOf, shareWindow, streamedWithinWindow } from '../models/window.js'
import type { Admitted } from '../query/admission.js'
import { answerQuery } from '../query/answer.js'
import type { QueryGate } from '../query/gate.js'
import type { AnswerStyle } from '../query/generate.js'
import type { QueryShared } from '../query/stages.js'
import { fitTurns } from '../query/window.js'
import type { Who } from '../rows/chat/conversations.js'
import type { SessionTurn } from '../rows/sessions.js'
import { billingAccount } from './billing-account.js'
import { byTopScore, evidenceOf, merged, type SpaceEvidence } from './evidence.js'
import { filled, type Inputs } from './form.js'

export interface Asked {
  caller: Caller
  /** the end user whose conversation it is */
  who: Who
  app: ChatApp
  spaceIds: string[]
  conversationId: string
  messageId: string
  query: string
  /** values of the form, for the application's instructions */
  inputs: Inputs
  /** values of the conversation's variables, for the same */
  variables: Inputs
  turns: SessionTurn[]
  /** what the model is shown with the question */
  images: ChatImage[]
  meter: TokenMeter
}

export type ChatShared = QueryShared & { gate: QueryGate }

export type AnnotationReply = AnswerMetadata['annotation_reply']

export type AnswerPiece =
  | { type: 'resources'; resources: RetrieverResource[] }
  | { type: 'delta'; text: string; agent?: true }
  /** in place of everything that was said */
  | { type: 'replace'; text: string }
  /** a step of an agent: sent anew whenever more of it is known */
  | { type: 'thought'; thought: AgentThought }
  | { type: 'annotation'; annotation: AnnotationReply }
  /** what was looked for without; told in the answer's metadata */
  | { type: 'degraded'; degraded: readonly Degradation[] }
  /** what follows is not made by a model */
  | { type: 'settled' }

const MAX_ANSWER_TOKENS = 1024
const LINE_CHARACTERS = 1000
/** A long question keeps this share of what is asked, whatever instructions and earlier turns take. */
const QUESTION_SHARE = 0.25
/** People greet and thank, and ask about what was said; only the model can tell that from a question of fact. */
const CONVERSATION =
  'What is about this conversation alone, such as a greeting, thanks or a question about what was said before, you answer from the conversation.'
/** Where nothing at all was found. */
const NO_PASSAGE = [
  'No passage was found in the knowledge spaces that you answer from.',
  'Do not answer questions of fact from your own knowledge:',
  'say that nothing was found for them, and what was searched for.',
  CONVERSATION,
].join(' ')
/** A picture may answer what no passage does, and so may what was sent with the question. */
const BROUGHT = 'What was sent with the question, images included, may answer it too.'

/** The model that answers where no space is asked; undefined where the daemon has none. */
export function chatModel({ models, options }: EngineContext, app: ChatApp): ModelReference | undefined {
  const model = app.model ?? options.defaultGenerator
  return isBuiltin(model) || !models.has(model, 'generation') ? undefined : model
}

/** Answers from the application's spaces, or, where it has none, from its model alone. */
export async function* answerTurn(
  context: EngineContext,
  shared: ChatShared,
  asked: Asked,
  signal: AbortSignal,
): AsyncGenerator<AnswerPiece> {
  if (asked.spaceIds.length === 0) return yield* fromModel(context, asked, signal)
  const { query, conversationId: holder } = asked
  const isLong = query.length > LIMITS.queryText
  const question = isLong ? lastLine(query) : query
  const search = (knowledgeSpaceId: string) =>
    evidenceOf(context, shared, asked.caller, { knowledgeSpaceId, query: question, turns: asked.turns, holder }, signal)
  const spaces = await atItsTurn(shared.gate, asked.caller, signal, () => Promise.all(asked.spaceIds.map(search)))
  const named = asked.images.length > 0 ? chatModel(context, asked.app) : (asked.app.model ?? undefined)
  const modelled = named === undefined ? withModel(context, spaces) : undefined
  const isByModel = named === undefined ? modelled !== undefined : !isBuiltin(named)
  const found = merged(spaces, { all: isByModel })
  if (found === undefined) return
  const { best, resources, degraded } = found
  yield { type: 'degraded', degraded }
  const brings = asked.images.length > 0 || isLong
  if (best.bundle.items.length === 0 && chatModel(context, asked.app) !== undefined)
    return yield* fromModel(context, asked, signal, brings ? '' : NO_PASSAGE)
  if (answers(best.bundle)) yield { type: 'resources', resources }
  const admitted = named === undefined ? (modelled ?? best.admitted) : withReasoning(best.admitted, named)
  const style = styleOf(asked, [brings ? BROUGHT : '', CONVERSATION])
  const parts = answerQuery(context, admitted, asked.turns, query, best.bundle, best.retrieved, signal, style)
  for await (const part of parts) {
    // a query says in its trace that another answered; here nobody would know, and the service has codes for it
    if (part.type === 'failed-attempt') throw part.error
    if (part.type === 'delta') yield part
    // a model that declines rests on none of them
    else yield { type: 'resources', resources: answers(part.bundle) ? markCited(resources, part.metadata.cited) : [] }
  }
}

/** @param cited numbers of the passages that the answer cites */
function markCited(resources: readonly RetrieverResource[], cited: unknown): RetrieverResource[] {
  const numbers = new Set<unknown>(Array.isArray(cited) ? cited : [])
  return resources.map((resource) => ({ ...resource, cited: numbers.has(resource.position) }))
}

/** The space with most to say of those that have a model, which answers from what all of them hold. */
function withModel({ options }: EngineContext, spaces: readonly SpaceEvidence[]): Admitted | undefined {
  return byTopScore(spaces)
    .map(({ admitted }) => admitted)
    .find(({ profile }) => !isBuiltin(profile.reasoningModel ?? options.defaultGenerator))
}

function withReasoning(admitted: Admitted, reasoningModel: ModelReference): Admitted {
  return { ...admitted, profile: { ...admitted.profile, reasoningModel } }
}

function answers({ state }: EvidenceBundle): boolean {
  return state !== 'not-enough-evidence'
}

/** Searches beside the queries of the gateway, as many at once as the daemon allows; models have queues of their own. */
export async function atItsTurn<T>(
  gate: QueryGate,
  { tenant }: Caller,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const leave = await gate.enter(tenant, signal)
  try {
    return await work()
  } finally {
    leave()
  }
}

/** @param rules what the model is told before the application's instructions */
async function* fromModel(
  context: EngineContext,
  asked: Asked,
  signal: AbortSignal,
  rules = '',
): AsyncGenerator<AnswerPiece> {
  const model = chatModel(context, asked.app)
  if (model === undefined)
    throw new ChatError('provider_not_initialize', 'the application has neither a knowledge space nor a usable model')
  const generator = context.models.generator(
    model,
    await context.db.read(billingAccount(context, asked.caller.tenant, asked.app)),
  )
  const events = streamedWithinWindow(generator.contextTokens, (window) => {
    const { messages, maxTokens } = promptOf(asked, rules, window)
    return generator.generate(messages, { ...settingsOf(asked), maxTokens, signal })
  })
  for await (const event of events) if (event.type === 'delta') yield { type: 'delta', text: event.text }
}

/** Where gateways write a whole conversation into one message, its last line is what was asked. */
function lastLine(text: string): string {
  const end = text.trimEnd()
  return end.slice(end.lastIndexOf('\n') + 1).slice(-LINE_CHARACTERS)
}

/**
 * The application's instructions, earlier turns and the question as they fit the window, for a model that answers by
 * itself.
 *
 * @param rules what the model is told before the instructions
 * @returns `maxTokens` of an answer, and `room`: tokens that the window holds beside these messages and the answer
 */
export function promptOf(
  asked: Asked,
  rules: string,
  contextTokens: number,
): { messages: ChatMessage[]; maxTokens: number; room: number } {
  const share = shareWindow(contextTokens, settingsOf(asked).maxTokens)
  const told = [rules, instructionsOf(asked)].filter((text) => text !== '').join('\n\n')
  const images = asked.images.length * IMAGE_TOKENS
  const turns = fitTurns(asked.turns, share.asked).flatMap((turn): ChatMessage[] => [
    { role: 'user', content: turn.query },
    { role: 'assistant', content: turn.answer },
  ])
  const before = [told, ...turns.map(({ content }) => content)].reduce((sum, text) => sum + tokensAtMost(text), images)
  const least = Math.floor(share.asked * QUESTION_SHARE)
  const query = endOf(asked.query, Math.max(least, share.asked - before))
  return {
    messages: [
      ...(told === '' ? [] : [{ role: 'system' as const, content: told }]),
      ...turns,
      { role: 'user', content: query, ...(asked.images.length === 0 ? {} : { images: asked.images }) },
    ],
    maxTokens: share.answer,
    room: share.asked - before - tokensAtMost(query),
  }
}

function instructionsOf({ app, inputs, variables }: Asked): string {
  return filled(app.instructions, { ...variables, ...inputs })
}

export function settingsOf({ app, meter }: Asked): { maxTokens: number; temperature?: number; meter: TokenMeter } {
  const { maxTokens = MAX_ANSWER_TOKENS, temperature } = app.modelSettings
  return { maxTokens, meter, ...defined({ temperature }) }
}

/** @param rules what the model is told beside the rules of evidence, before the application's instructions */
function styleOf(asked: Asked, rules: string[]): AnswerStyle {
  const instructions = [...rules, instructionsOf(asked)].filter((text) => text !== '').join('\n\n')
  return { ...settingsOf(asked), instructions, images: asked.images }
}

/** A refusal of the provider under the code that says whose turn it is to do something. */
function asProviderError({ message, cause, retryAfter }: KsError): ChatError {
  const { refusal, status } = cause instanceof ProviderFailure ? cause : {}
  if (refusal?.kind === 'quota') return new ChatError('provider_quota_exceeded', message)
  if (refusal?.kind === 'unknown-model') return new ChatError('model_currently_not_support', message)
  switch (status) {
    case 401:
    case 403:
      return new ChatError('provider_not_initialize', message)
    case 404:
      return new ChatError('model_currently_not_support', message)
    case 429:
      return new ChatError('rate_limit_error', message, retryAfter === undefined ? {} : { retryAfter })
    default:
      return new ChatError('completion_request_error', message)
  }
}

/** What an end user is told of a failure. */
export function asChatError(error: unknown): ChatError {
  if (error instanceof ChatError) return error
  if (!(error instanceof KsError))
    return new ChatError('internal_server_error', 'the answer could not be completed because of an unexpected failure')
  switch (error.code) {
    case 'provider-failed':
      return asProviderError(error)
    case 'not-configured':
      return new ChatError('provider_not_initialize', error.message)
    case 'quota-exceeded':
    case 'capacity-exceeded':
      return new ChatError('provider_quota_exceeded', error.message)
    case 'busy':
    case 'rate-limited':
      return new ChatError('too_many_requests', error.message)
    case 'not-found':
    case 'deletion-active':
      return new ChatError('app_unavailable', 'a knowledge space of the application is not available')
    case 'unavailable':
    case 'provider-not-configured':
      return new ChatError('model_currently_not_support', error.message)
    default:
      return new ChatError('internal_server_error', error.message)
  }
}
