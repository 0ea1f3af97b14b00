import { KsError } from '../../../contract/errors.js'
import type { RetrievalProfile, RetrievalProfileBody } from '../../../contract/gateway/retrieval-profile.js'
import type { Caller } from '../../base/caller.js'
import { isBuiltinAnswer } from '../../models/index.js'
import type { Read, Write } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { findSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import type { EngineContext } from '../context.js'
import { findProfileRow, type RetrievalProfileRow, setProfile } from '../rows/retrieval-profiles.js'

/** The profile of a new space (revision 1, before another one is published). */
const DEFAULT_PROFILE: RetrievalProfile = {
  revision: 1,
  defaultMode: 'fast',
  modes: ['fast', 'deep', 'research'],
  topK: 10,
  scoreThreshold: 0,
  rerank: { enabled: true },
}

export function* getProfile(spaceKey: number): Read<RetrievalProfile> {
  return toProfile(yield* findProfileRow(spaceKey))
}

/** @param row absent for a space without a published profile */
export function toProfile(row: RetrievalProfileRow | undefined): RetrievalProfile {
  if (row === undefined) return DEFAULT_PROFILE
  const body: unknown = parseJsonCell(row.body)
  if (typeof body !== 'object' || body === null) throw new KsError('internal', 'a stored profile is not an object')
  return { ...DEFAULT_PROFILE, ...body, revision: row.revision }
}

/** The profile of a space of the caller. @throws KsError `not-found` */
export function* getSpaceProfile(caller: Caller, id: string): Read<RetrievalProfile> {
  return yield* getProfile((yield* findSpace(caller.tenant, id)).key)
}

/** @throws KsError `invalid-request` for a default mode outside the modes, `provider-not-configured` */
export async function setRetrievalProfile(
  context: EngineContext,
  caller: Caller,
  id: string,
  body: RetrievalProfileBody,
): Promise<RetrievalProfile> {
  if (!body.modes.includes(body.defaultMode))
    throw new KsError(
      'invalid-request',
      `defaultMode ${body.defaultMode} must be one of modes ${body.modes.join(', ')}`,
    )
  if (new Set(body.modes).size !== body.modes.length)
    throw new KsError('invalid-request', `modes must not repeat, received ${body.modes.join(', ')}`)
  const { db, models } = context
  const { reasoningModel } = body
  if (reasoningModel !== undefined && !isBuiltinAnswer(reasoningModel) && !models.has(reasoningModel, 'generation'))
    throw new KsError(
      'provider-not-configured',
      `this daemon has no chat provider ${reasoningModel.pluginId}/${reasoningModel.provider}`,
    )
  const reranker = body.rerank.model
  if (reranker !== undefined && !models.has(reranker, 'rerank'))
    throw new KsError(
      'provider-not-configured',
      `this daemon has no rerank provider ${reranker.pluginId}/${reranker.provider}`,
    )
  const publish = function* (): Write<RetrievalProfile> {
    const space = yield* findSpace(caller.tenant, id)
    const revision = (yield* getProfile(space.key)).revision + 1
    yield* setProfile(space.key, revision, body)
    return { ...body, revision }
  }
  return writeReply(db, caller, publish, { lock: { tenant: caller.tenant, id } })
}
