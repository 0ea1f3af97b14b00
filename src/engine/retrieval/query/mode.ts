import { KsError } from '../../../contract/errors.js'
import type { QueryBody } from '../../../contract/gateway/queries.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { createDegradation, type Degradation, toDegradation } from '../../base/degraded.js'
import type { ModelReference } from '../../base/model-reference.js'
import { type EngineContext, getSpaceAccount } from '../../library/index.js'
import { estimateMaxTokens, type GenerationUsage, isBuiltin, requestJson, truncateEnd } from '../../models/index.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import type { AdmittedQuery } from './admission.js'

export type ConcreteMode = 'fast' | 'deep' | 'research'

/** How a query's mode was chosen; the metadata of the step `query.route`. */
export interface ModeRoute {
  requestedMode: ConcreteMode | 'auto'
  resolvedMode: ConcreteMode
  resolver: 'explicit' | 'llm' | 'fallback'
  selectionSource: 'request' | 'profile-default' | 'reasoning-model'
  degraded: boolean
  errorClass?: string
  /** why the reasoning model did not choose the mode of an explicit `auto` */
  failure?: Degradation
  reasoningModel?: ModelReference
  profileRevision: number
  promptVersion?: string
  usage?: GenerationUsage
}

const PROMPT_VERSION = 'route-1'
const ROUTER_TIMEOUT_MS = 10_000
const MAX_REPLY_CHARACTERS = 400
const MAX_QUESTION_CHARACTERS = 4000
const PROMPT = `Choose how a question over a document collection is answered. Reply with one JSON object {"mode": M} and nothing else.
M is one of:
"fast": facts that stand in one or two passages
"research": questions about a whole section, chapter or the structure of a long document
"deep": questions that join facts about several things across documents`

const REPLY_SHAPE = 'an object with a mode that is fast, deep or research'

/** Only an explicit `auto` asks the reasoning model; every failure falls back to the profile's default mode. */
export async function resolveMode(
  context: EngineContext,
  { space, profile }: Pick<AdmittedQuery, 'space' | 'profile'>,
  body: QueryBody,
  signal: AbortSignal,
): Promise<ModeRoute> {
  const base = { profileRevision: profile.revision, degraded: false }
  if (body.mode === undefined)
    return {
      ...base,
      requestedMode: profile.defaultMode,
      resolvedMode: profile.defaultMode,
      resolver: 'explicit',
      selectionSource: 'profile-default',
    }
  if (body.mode !== 'auto')
    return {
      ...base,
      requestedMode: body.mode,
      resolvedMode: body.mode,
      resolver: 'explicit',
      selectionSource: 'request',
    }
  const fallback = (errorClass: string, failure: Degradation): ModeRoute => ({
    ...base,
    failure,
    requestedMode: 'auto',
    resolvedMode: profile.defaultMode,
    resolver: 'fallback',
    selectionSource: 'profile-default',
    degraded: true,
    errorClass,
  })
  const { reasoningModel } = profile
  if (reasoningModel === undefined || isBuiltin(reasoningModel))
    return fallback('reasoning-model-unavailable', toRouteDegradation('the space has no reasoning model'))
  try {
    const { mode, ...reply } = await askRouter(context, { space, model: reasoningModel }, body.query, signal)
    const known = { reasoningModel, promptVersion: PROMPT_VERSION }
    if (reply.served !== undefined && !isSameModel(reasoningModel.model, reply.served))
      return {
        ...fallback('model-identity-mismatch', toRouteDegradation('a different model than the requested one answered')),
        ...known,
      }
    if (mode === undefined)
      return { ...fallback('invalid-reply', toRouteDegradation('the reasoning model named no mode')), ...known }
    if (!profile.modes.includes(mode))
      return {
        ...fallback('mode-unavailable', toRouteDegradation(`the profile does not allow mode ${mode}`)),
        ...known,
      }
    return {
      ...base,
      ...known,
      requestedMode: 'auto',
      resolvedMode: mode,
      resolver: 'llm',
      selectionSource: 'reasoning-model',
      ...omitUndefined({ usage: reply.usage }),
    }
  } catch (error) {
    if (signal.aborted) throw error
    return {
      ...fallback(
        error instanceof KsError ? error.code : 'provider-failed',
        toDegradation('route', FALLBACK_REASON, error),
      ),
      reasoningModel,
      promptVersion: PROMPT_VERSION,
    }
  }
}

const FALLBACK_REASON = "auto fell back to the profile's default mode"

function toRouteDegradation(why: string): Degradation {
  return createDegradation('route', `${FALLBACK_REASON}: ${why}`)
}

interface RouterReply {
  mode?: ConcreteMode
  usage?: GenerationUsage
  served?: unknown
}

/** Asks the model, and once more when the reply is invalid. */
async function askRouter(
  context: EngineContext,
  { space, model }: { space: SpaceRow; model: ModelReference },
  query: string,
  signal: AbortSignal,
): Promise<RouterReply> {
  const generator = context.models.generator(model, getSpaceAccount(context, space))
  const limited = AbortSignal.any([signal, AbortSignal.timeout(ROUTER_TIMEOUT_MS)])
  const reply = await requestJson(generator, {
    buildMessages: (tokens) => {
      const question = truncateEnd(query.slice(0, MAX_QUESTION_CHARACTERS), tokens - estimateMaxTokens(PROMPT))
      return [
        { role: 'system', content: PROMPT },
        { role: 'user', content: JSON.stringify({ question }) },
      ]
    },
    read: parseMode,
    shape: REPLY_SHAPE,
    maxTokens: 50,
    maxCharacters: MAX_REPLY_CHARACTERS,
    signal: limited,
  })
  const { value, usage, served } = reply
  return { served, ...omitUndefined({ mode: value, usage }) }
}

/**
 * Whether the model that answered is the requested one. Servers extend a name: with a folder before it (`org/name`), or
 * a date or quantisation after it (`name-2025-01-31`).
 */
function isSameModel(requested: string, served: unknown): boolean {
  if (typeof served !== 'string') return false
  const bare = (name: string) =>
    name
      .toLowerCase()
      .split('/')
      .at(-1)
      ?.replace(/[^a-z0-9]+/g, '') ?? ''
  const [one, other] = [bare(requested), bare(served)]
  return one.startsWith(other) || other.startsWith(one)
}

function parseMode(reply: unknown): ConcreteMode | undefined {
  if (typeof reply !== 'object' || reply === null || !('mode' in reply)) return undefined
  const { mode } = reply
  return mode === 'fast' || mode === 'deep' || mode === 'research' ? mode : undefined
}
