import { KsError, notFoundError } from '../../../contract/errors.js'
import type { QueryBody } from '../../../contract/gateway/queries.js'
import type { RetrievalProfile } from '../../../contract/gateway/retrieval-profile.js'
import type { Caller } from '../../base/caller.js'
import {
  type EngineContext,
  embeddingReference,
  isTrained,
  type SpaceSnapshot,
  toProfile,
} from '../../library/index.js'
import { isBuiltin } from '../../models/index.js'
import type { Read } from '../../store/program.js'
import { findDocument } from '../../store/rows/documents.js'
import { findSpaceWithHead, type SpaceRow } from '../../store/rows/spaces.js'
import { findMatchingDocuments } from './document-filter.js'

export interface AdmittedQuery {
  /** subject of the caller, for the scopes of sources */
  subject: string
  space: SpaceRow
  profile: RetrievalProfile
  snapshot: SpaceSnapshot
  /** newest entry of the index log; the text index must contain it */
  seq: number
  /** number of nodes in the space */
  nodes: number
  /** row keys of the documents to search in; absent = all */
  docs?: number[]
}

/** An admitted query, with the size of the space's traces at this moment. */
export interface Admission extends AdmittedQuery {
  /** bytes of the space's traces */
  traceBytes: number
}

/**
 * Decides whether a query may run, before anything is streamed.
 *
 * @throws KsError when the space is missing or being deleted, its profile does not allow the mode, or a provider is
 * missing
 */
export function* admit({ models }: Pick<EngineContext, 'models'>, caller: Caller, body: QueryBody): Read<Admission> {
  const space = yield* findSpaceWithHead(caller.tenant, body.knowledgeSpaceId)
  if (space === undefined) throw notFoundError('knowledge space', body.knowledgeSpaceId)
  if (space.deleted_at !== null) throw new KsError('deletion-active', `knowledge space ${space.id} is being deleted`)
  const { profile_revision: revision, profile_body: stored } = space
  const profile = toProfile(revision === null || stored === null ? undefined : { revision, body: stored })
  if (body.mode !== undefined && body.mode !== 'auto' && !profile.modes.includes(body.mode))
    throw new KsError(
      'profile-mode-mismatch',
      `mode must be one of ${[...profile.modes, 'auto'].join(', ')} by the space's retrieval profile, received ${body.mode}`,
    )
  if (!isTrained(space) && !models.has(embeddingReference(space), 'embedding'))
    throw new KsError(
      'provider-not-configured',
      `this daemon has no embedding provider ${space.embedding_plugin}/${space.embedding_provider}, which the space uses`,
    )
  const { reasoningModel } = profile
  if (reasoningModel !== undefined && !isBuiltin(reasoningModel) && !models.has(reasoningModel, 'generation'))
    throw new KsError(
      'provider-not-configured',
      `this daemon has no chat provider ${reasoningModel.pluginId}/${reasoningModel.provider}, which the profile names`,
    )
  const { enabled, model: reranker } = profile.rerank
  if (enabled && reranker !== undefined && !models.has(reranker, 'rerank'))
    throw new KsError(
      'provider-not-configured',
      `this daemon has no rerank provider ${reranker.pluginId}/${reranker.provider}, which the profile names`,
    )
  const snapshot = {
    publicationId: space.publication_id,
    fingerprint: space.fingerprint,
    headRevision: space.head_revision,
    projectionVersion: space.head_revision,
  }
  const { log_seq: seq, nodes, trace_bytes: traceBytes } = space
  const admitted = { subject: caller.subject, space, profile, snapshot, seq, nodes, traceBytes }
  const { activeDocumentIds, filter } = body
  const filteredKeys =
    filter === undefined ? undefined : yield* findMatchingDocuments(caller, space.key, snapshot.headRevision, filter)
  if (activeDocumentIds.length === 0) return filteredKeys === undefined ? admitted : { ...admitted, docs: filteredKeys }
  const docs: number[] = []
  for (const id of activeDocumentIds) docs.push((yield* findDocument(caller, space.key, id)).key)
  if (filteredKeys === undefined) return { ...admitted, docs }
  const allowed = new Set(filteredKeys)
  return { ...admitted, docs: docs.filter((key) => allowed.has(key)) }
}
