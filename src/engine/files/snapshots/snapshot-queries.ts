import { createHash } from 'node:crypto'
import { notFoundError } from '../../../contract/errors.js'
import type { DocumentFilter } from '../../../contract/gateway/document-filter.js'
import type { EvidenceBundle, EvidenceState } from '../../../contract/gateway/queries.js'
import type { EvidenceReference, RecordedQuery } from '../../../contract/gateway/snapshots.js'
import { LIMITS } from '../../../contract/limits.js'
import { isUuid } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { type ConcreteMode, toSearchedQuery } from '../../retrieval/index.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { areDocumentsReadable, readBundle } from '../../store/rows/traces.js'
import { findLastSession, isOwnedSession, isSessionOpen, listSessionTraces } from '../rows/snapshots.js'

/** A passage of a snapshot, without its text, so that a deleted document leaves nothing here. */
export interface SnapshotEvidence {
  nodeId: string
  documentAssetId: string
  documentVersion: number
  filename: string
  sectionPath: string[]
  score: number
  /** SHA-256 of the text: the same text in a later version of the file counts as the same evidence */
  textHash: string
}

/** A query of a snapshot. */
export interface SnapshotQuery {
  traceId: string
  query: string
  /** the question as it was searched, if the session extended it */
  searched?: string
  requestedMode: RecordedQuery['requestedMode']
  mode: ConcreteMode
  askedAt: string
  evidenceState: EvidenceState
  activeDocumentIds: string[]
  activeEntityIds: string[]
  filter?: DocumentFilter
  evidence: SnapshotEvidence[]
}

/**
 * Finds the session of a workspace's queries: the given one, else the one whose id is the workspace's name, else the
 * caller's own session with the latest query, if that is newer than the workspace or the session is still open.
 *
 * @param since when the workspace's oldest file was created
 * @throws KsError `not-found` for a given session that is not the caller's in this space
 */
export function* findWorkspaceSession(
  caller: Caller,
  space: SpaceRow,
  criteria: { workspace: string; sessionId: string | undefined; since: number; now: number },
): Read<string | undefined> {
  const asker = { tenant: caller.tenant, subject: caller.subject, spaceKey: space.key }
  if (criteria.sessionId !== undefined) {
    if (!(yield* isOwnedSession(asker, criteria.sessionId))) throw notFoundError('session', criteria.sessionId)
    return criteria.sessionId
  }
  const named = criteria.workspace.toLowerCase()
  if (isUuid(named) && (yield* isOwnedSession(asker, named))) return named
  const last = yield* findLastSession(asker)
  if (last === undefined) return undefined
  if (last.created_at >= criteria.since) return last.session_id
  return (yield* isSessionOpen(caller.tenant, last.session_id, criteria.now)) ? last.session_id : undefined
}

/** Loads the last hundred answered queries of a session, oldest first, without those that cite a deleted document. */
export function* loadSessionQueries(caller: Caller, space: SpaceRow, sessionId: string): Read<SnapshotQuery[]> {
  const asker = { tenant: caller.tenant, subject: caller.subject, spaceKey: space.key }
  const traces = yield* listSessionTraces(asker, sessionId, LIMITS.snapshotQueries)
  const queries: SnapshotQuery[] = []
  for (const [index, trace] of traces.entries()) {
    const bundle = trace.bundle_id === null ? undefined : yield* readBundle(caller.tenant, trace.bundle_id)
    if (bundle === undefined || !(yield* areDocumentsReadable(caller, space.key, bundle))) continue
    const searched = toSearchedQuery(
      trace.query,
      traces.slice(0, index).map(({ query }) => ({ query, answer: '' })),
    )
    const parameters: { activeDocumentIds?: string[]; activeEntityIds?: string[]; filter?: DocumentFilter } =
      getStepMetadata(trace.steps, 'query.retrieve')
    queries.push({
      traceId: trace.id,
      query: trace.query,
      ...(searched === trace.query ? {} : { searched }),
      requestedMode: trace.requested_mode,
      mode: trace.mode,
      askedAt: new Date(trace.created_at).toISOString(),
      evidenceState: bundle.state,
      activeDocumentIds: parameters.activeDocumentIds ?? [],
      activeEntityIds: parameters.activeEntityIds ?? [],
      ...omitUndefined({ filter: parameters.filter }),
      evidence: toSnapshotEvidence(bundle),
    })
  }
  return queries
}

function getStepMetadata(steps: string, name: string): Record<string, never> {
  const all: { name: string; metadata: Record<string, never> }[] = parseJsonCell(steps)
  return all.find((step) => step.name === name)?.metadata ?? {}
}

export function toSnapshotEvidence({ items }: Pick<EvidenceBundle, 'items'>): SnapshotEvidence[] {
  return items.flatMap((item) => {
    const [citation] = item.citations
    if (citation === undefined) return []
    return [
      {
        nodeId: item.nodeId,
        documentAssetId: citation.documentAssetId,
        documentVersion: citation.documentVersion,
        filename: String(item.metadata.filename ?? ''),
        sectionPath: citation.sectionPath,
        score: item.score,
        textHash: createHash('sha256').update(item.text).digest('base64url'),
      },
    ]
  })
}

/** Converts a passage of a snapshot for display: for a deleted document, only ids and numbers. */
export function toReference(evidence: SnapshotEvidence, index: number, live: ReadonlySet<string>): EvidenceReference {
  const { nodeId, documentAssetId, documentVersion, filename, sectionPath, score } = evidence
  return {
    nodeId,
    documentAssetId,
    documentVersion,
    rank: index + 1,
    score,
    ...(live.has(documentAssetId) ? { filename, sectionPath } : {}),
  }
}
