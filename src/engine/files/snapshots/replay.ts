import { KsError } from '../../../contract/errors.js'
import type { EvidenceState } from '../../../contract/gateway/queries.js'
import type { LostEvidenceReason, ReplayedQuery, SnapshotReplay } from '../../../contract/gateway/snapshots.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import type { EngineContext, SpaceSnapshot } from '../../library/index.js'
import { admit, findEvidence, type QueryServices, runWithLease } from '../../retrieval/index.js'
import type { Read } from '../../store/program.js'
import { filterReadableDocuments } from '../../store/rows/documents.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { findSpace } from '../../store/rows/spaces.js'
import { isNodeVisible } from '../rows/snapshots.js'
import { type SnapshotEvidence, type SnapshotQuery, toReference, toSnapshotEvidence } from './snapshot-queries.js'
import { findSnapshot, listSnapshotQueries } from './snapshots.js'

/** A call stops after this time and returns where to continue; the running query ends soon after. */
const CALL_TIMEOUT_MS = 30_000
const QUERY_LIMIT = { timeoutMs: 60_000, message: 'the query took longer than 60000 ms' }

/**
 * Runs the recorded queries again on the current publication, with the code that answers queries. It writes no answer
 * and no trace, and calls no model for the mode. A query that cannot run reports why. `from` is the first query to run, 0 for all.
 *
 * @throws KsError `not-found`, `busy`
 */
export async function replaySnapshot(
  services: QueryServices,
  caller: Caller,
  id: string,
  { from }: { from: number },
): Promise<SnapshotReplay> {
  const { context } = services
  const { row, space, recorded } = await context.db.read(loadRecorded(caller, id))
  const head = toPublication(space)
  const deadline = performance.now() + CALL_TIMEOUT_MS
  const queries: ReplayedQuery[] = []
  await runWithLease(context, { space, snapshot: head }, async () => {
    for (const recordedQuery of recorded.slice(from)) {
      if (queries.length > 0 && performance.now() > deadline) break
      queries.push(await replayOne(services, caller, { space, head }, recordedQuery))
    }
  })
  const sum = (key: 'added' | 'lost' | 'kept') => queries.reduce((total, query) => total + query[key].length, 0)
  const next = from + queries.length
  return {
    snapshotId: row.id,
    knowledgeSpaceId: row.space_id,
    replayedAt: new Date(context.now()).toISOString(),
    publicationId: head.publicationId,
    summary: {
      queries: queries.length,
      failed: queries.filter(({ error }) => error !== undefined).length,
      added: sum('added'),
      lost: sum('lost'),
      kept: sum('kept'),
    },
    queries,
    ...(next < recorded.length ? { nextFrom: next } : {}),
  }
}

function* loadRecorded(caller: Caller, id: string) {
  const row = yield* findSnapshot(caller, id)
  return {
    row,
    space: yield* findSpace(caller.tenant, row.space_id),
    recorded: yield* listSnapshotQueries(caller.tenant, row.id),
  }
}

function toPublication(space: SpaceRow): SpaceSnapshot {
  return {
    publicationId: space.publication_id,
    fingerprint: space.fingerprint,
    headRevision: space.head_revision,
    projectionVersion: space.head_revision,
  }
}

interface CurrentEvidence {
  state: EvidenceState
  evidence: SnapshotEvidence[]
}

async function replayOne(
  services: QueryServices,
  caller: Caller,
  publication: { space: SpaceRow; head: SpaceSnapshot },
  recordedQuery: SnapshotQuery,
): Promise<ReplayedQuery> {
  const base = { traceId: recordedQuery.traceId, query: recordedQuery.query, mode: recordedQuery.mode }
  try {
    const today = await searchNow(services, caller, publication, recordedQuery)
    return {
      ...base,
      evidenceState: { recorded: recordedQuery.evidenceState, now: today.state },
      ...(await services.context.db.read(compareEvidence(caller, publication, recordedQuery.evidence, today.evidence))),
    }
  } catch (error) {
    if (!(error instanceof KsError) || error.code === 'busy') throw error
    const none = { added: [], lost: [], kept: [] }
    return { ...base, evidenceState: { recorded: recordedQuery.evidenceState }, ...none, error: error.message }
  }
}

async function searchNow(
  services: QueryServices,
  caller: Caller,
  publication: { space: SpaceRow; head: SpaceSnapshot },
  recordedQuery: SnapshotQuery,
): Promise<CurrentEvidence> {
  const { context, gate } = services
  const prepared = await context.db.read(admitAgain(context, caller, publication, recordedQuery))
  // No document that it was limited to exists: searching all others would be a different query.
  if (prepared === undefined) return { state: 'not-enough-evidence', evidence: [] }
  const { searched: query = recordedQuery.query } = recordedQuery
  const asRecorded = { ...prepared, query, traceId: newId(), byRules: true, ignoresFiles: true }
  const { bundle } = await gate.run(caller, QUERY_LIMIT, (signal) => findEvidence(services, { ...asRecorded, signal }))
  return { state: bundle.state, evidence: toSnapshotEvidence(bundle) }
}

/** @returns undefined when none of the documents that a query was limited to exists */
function* admitAgain(
  context: EngineContext,
  caller: Caller,
  publication: { space: SpaceRow; head: SpaceSnapshot },
  { query, mode, activeDocumentIds: recordedIds, activeEntityIds, filter }: SnapshotQuery,
) {
  const live = yield* filterReadableDocuments(caller, publication.space.key, recordedIds)
  const activeDocumentIds = recordedIds.filter((id) => live.has(id))
  if (recordedIds.length > 0 && activeDocumentIds.length === 0) return undefined
  const body = {
    knowledgeSpaceId: publication.space.id,
    query,
    mode,
    activeDocumentIds,
    activeEntityIds,
    ...omitUndefined({ filter }),
  }
  return { body, admitted: { ...(yield* admit(context, caller, body)), snapshot: publication.head } }
}

/** A passage is kept when its node is found again, or the same text in the same file, which may have a new version. */
function* compareEvidence(
  caller: Caller,
  { space, head }: { space: SpaceRow; head: SpaceSnapshot },
  recorded: readonly SnapshotEvidence[],
  current: readonly SnapshotEvidence[],
): Read<Pick<ReplayedQuery, 'added' | 'lost' | 'kept'>> {
  const live = yield* filterReadableDocuments(
    caller,
    space.key,
    [...recorded, ...current].map(({ documentAssetId }) => documentAssetId),
  )
  const oldIndexByItem = new Map<SnapshotEvidence, number>()
  const matched = new Set<number>()
  for (const same of [isSameNode, isSameText])
    for (const item of current) {
      if (oldIndexByItem.has(item)) continue
      const index = recorded.findIndex((old, oldIndex) => !matched.has(oldIndex) && same(old, item))
      if (index < 0) continue
      oldIndexByItem.set(item, index)
      matched.add(index)
    }
  const references = current.map((item, index) => ({ item, reference: toReference(item, index, live) }))
  const lost: ReplayedQuery['lost'] = []
  for (const [index, item] of recorded.entries()) {
    if (matched.has(index)) continue
    const reason = yield* findLostReason(space.key, head.headRevision, item, live)
    lost.push({ ...toReference(item, index, live), reason })
  }
  return {
    added: references.filter(({ item }) => !oldIndexByItem.has(item)).map(({ reference }) => reference),
    lost,
    kept: references.flatMap(({ item, reference }) => {
      const index = oldIndexByItem.get(item)
      const old = index === undefined ? undefined : recorded[index]
      return index === undefined || old === undefined ? [] : [{ ...reference, recorded: toReference(old, index, live) }]
    }),
  }
}

function isSameNode(a: SnapshotEvidence, b: SnapshotEvidence): boolean {
  return a.nodeId === b.nodeId
}

function isSameText(a: SnapshotEvidence, b: SnapshotEvidence): boolean {
  return a.textHash === b.textHash && (a.documentAssetId === b.documentAssetId || a.filename === b.filename)
}

function* findLostReason(
  spaceKey: number,
  revision: number,
  { nodeId, documentAssetId }: SnapshotEvidence,
  live: ReadonlySet<string>,
): Read<LostEvidenceReason> {
  if (!live.has(documentAssetId)) return 'document-deleted'
  return (yield* isNodeVisible(spaceKey, nodeId, revision)) ? 'not-retrieved' : 'passage-gone'
}
