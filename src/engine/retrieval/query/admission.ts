import { KsError, notFoundError } from '../../../contract/errors.js'
import type { DocumentFilter } from '../../../contract/gateway/document-filter.js'
import type { QueryBody } from '../../../contract/gateway/queries.js'
import type { RetrievalProfile } from '../../../contract/gateway/retrieval-profile.js'
import { createPathMatcher } from '../../../lib/text/path-pattern.js'
import type { Caller } from '../../base/caller.js'
import {
  type EngineContext,
  embeddingReference,
  isTrained,
  type SpaceSnapshot,
  toProfile,
} from '../../library/index.js'
import { isBuiltin } from '../../models/index.js'
import { MAX_FILTER_DOCS } from '../../search/index.js'
import type { Read } from '../../store/program.js'
import { listDocumentFields } from '../../store/rows/document-fields.js'
import { findDocument } from '../../store/rows/documents.js'
import type { ReaderIdentity } from '../../store/rows/permissions.js'
import { findSpaceWithHead, type SpaceRow } from '../../store/rows/spaces.js'

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

/**
 * Finds the row keys of the documents of a revision that the reader may know of and that match a filter. A document
 * without a field of the filter does not match.
 *
 * @throws KsError `not-found` when no document matches a filter with paths, `invalid-request` when more than
 * `MAX_FILTER_DOCS` match
 */
export function* findMatchingDocuments(
  reader: ReaderIdentity,
  spaceKey: number,
  revision: number,
  filter: DocumentFilter,
): Read<number[]> {
  const { dateFrom, dateTo, author, language, paths } = filter
  const span = {
    from: dateFrom === undefined ? null : toIso(dateFrom),
    to: dateTo === undefined ? null : toEndIso(dateTo),
  }
  const rows = yield* listDocumentFields(reader, spaceKey, revision, span)
  const name = author?.toLowerCase()
  const languageTag = language?.toLowerCase()
  const matchers = paths?.map(createPathMatcher)
  const keys = rows
    .filter((row) => matchers === undefined || matchers.some((matches) => matches(row.filename)))
    .filter((row) => name === undefined || row.author?.toLowerCase().includes(name) === true)
    .filter((row) => languageTag === undefined || isLanguageOf(row.language?.toLowerCase(), languageTag))
    .map((row) => row.doc_key)
  if (paths !== undefined && keys.length === 0)
    throw new KsError('not-found', `no document matches ${paths.map((path) => JSON.stringify(path)).join(' or ')}`)
  if (keys.length <= MAX_FILTER_DOCS) return keys
  const [found, max] = [keys.length, MAX_FILTER_DOCS].map((count) => count.toLocaleString('en-US'))
  throw new KsError(
    'invalid-request',
    `filter matches ${found} documents, more than the maximum of ${max}; narrow the filter or remove it`,
  )
}

function toIso(text: string): string {
  return new Date(text).toISOString()
}

/** Last instant of a day, or the instant itself. */
function toEndIso(text: string): string {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T23:59:59.999Z` : toIso(text)
}

function isLanguageOf(language: string | undefined, requested: string): boolean {
  return language === requested || language?.startsWith(`${requested}-`) === true
}
