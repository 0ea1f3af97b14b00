import type { BulkDelete } from '../../../contract/gateway/documents.js'
import type { Caller } from '../../base/caller.js'
import type { ReadLease } from '../../base/leases.js'
import { readClock } from '../../base/statements.js'
import type { Write } from '../../store/program.js'
import { type BulkItem, insertBulkJob } from '../../store/rows/bulk-jobs.js'
import { filterLiveDocuments, listContained, promoteNextParent } from '../../store/rows/contained-documents.js'
import { type DocumentRow, listObjectKeys, lookupDocuments } from '../../store/rows/documents.js'
import { publishNextRevision } from '../../store/rows/publications.js'
import { findSpace, findSpaceByKey } from '../../store/rows/spaces.js'
import { endCommits } from '../../store/rows/staged-commits.js'
import { writeReply } from '../../store/write-reply.js'
import type { EngineContext } from '../context.js'
import { removeUnreferenced } from '../objects/remove.js'
import { cancelJobs, type HiddenDocuments, hideDocuments, listOpenJobs } from '../rows/hide-documents.js'
import { parsePolicies } from '../spaces/manifest.js'

interface DocumentRemovalCounts {
  nodes: number
  artifacts: number
  projections: number
}

/**
 * Deletes documents that the caller may read: no read shows them when this resolves. Rows are purged later; bytes are
 * removed now unless other rows reference them.
 */
export async function deleteDocuments(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  documentIds: string[],
): Promise<BulkDelete> {
  const leases: ReadLease[] = []
  try {
    // listed for the duration of the deletion; a job that compiles one of the documents loses it in the transaction
    for (const { key, row } of await context.db.read(findLiveDocuments(caller, spaceId, documentIds)))
      leases.push(acquireDeleteLease(context, key, row))
    return await removeDocuments(context, caller, spaceId, documentIds)
  } finally {
    for (const lease of leases) lease.release()
  }
}

async function removeDocuments(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  documentIds: string[],
): Promise<BulkDelete> {
  // known only afterwards: whether other rows reference the bytes
  const outcome = await writeReply(context.db, caller, () => deleteInTransaction(caller, spaceId, documentIds), {
    toReply: (done) => toReport(done, new Set()),
    lock: { tenant: caller.tenant, id: spaceId },
  })
  context.wake()
  context.changes.report(caller.tenant, spaceId)
  const removable = outcome.rows.flatMap(({ id, row }) => (row === undefined ? [] : [{ id, row }]))
  const keys = [...removable.map(({ row }) => row), ...outcome.contained].flatMap(listObjectKeys)
  const [followed, removed] = await Promise.allSettled([
    context.indexes.follow(spaceId, outcome.seq),
    removeUnreferenced(context, caller.tenant, keys),
  ])
  if (followed.status === 'rejected') throw followed.reason
  if (removed.status === 'rejected') throw removed.reason
  const removedKeys = removed.value
  const withBytes = removable.flatMap(({ id, row }) => (removedKeys.has(row.object_key) ? [id] : []))
  return toReport(outcome, new Set(withBytes))
}

function* findLiveDocuments(caller: Caller, spaceId: string, documentIds: readonly string[]) {
  const { key } = yield* findSpace(caller.tenant, spaceId)
  const rows = yield* lookupDocuments(caller, key, documentIds)
  return rows.flatMap(({ row }) => (row === undefined ? [] : [{ key, row }]))
}

function* deleteInTransaction(caller: Caller, spaceId: string, documentIds: readonly string[]): Write<DeletionOutcome> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const rows = yield* lookupDocuments(caller, space.key, documentIds)
  const removed = new Map<string, DocumentRemovalCounts>()
  const live = rows.flatMap(({ row }) => (row === undefined ? [] : [row]))
  let seq = 0
  const contained: DocumentRow[] = []
  if (live.length > 0) {
    const { revision } = yield* publishNextRevision(space.key, `delete ${live.map((row) => row.id).join(' ')}`)
    const retired = yield* retireDocuments(space.key, live, revision)
    seq = retired.seq
    contained.push(...retired.retired.slice(live.length))
    for (const [index, { versions, nodes }] of retired.counts.entries())
      removed.set(live[index]?.id ?? '', { nodes, artifacts: versions, projections: nodes * 2 })
  }
  const items = rows.map(
    ({ id, row }): BulkItem => ({
      documentId: id,
      outcome: row === undefined ? 'failed' : 'completed',
    }),
  )
  const bulkJobId = yield* insertBulkJob(space, 'document_delete', items)
  return { bulkJobId, rows, contained, removed, seq }
}

interface DeletionOutcome {
  bulkJobId: string
  rows: { id: string; row: DocumentRow | undefined }[]
  /** their contained documents */
  contained: DocumentRow[]
  removed: Map<string, DocumentRemovalCounts>
  /** the index log's last entry for the nodes; 0 if there are none */
  seq: number
}

/** @param withBytes ids of documents whose bytes are removed, too */
function toReport({ bulkJobId, rows, removed }: DeletionOutcome, withBytes: ReadonlySet<string>): BulkDelete {
  const items = rows.map(({ id, row }): BulkDelete['items'][number] => {
    const counts = removed.get(id)
    return {
      documentId: id,
      status: row === undefined ? 'not_found' : 'deleted',
      objectDeleted: withBytes.has(id),
      artifactsDeleted: counts?.artifacts ?? 0,
      nodesDeleted: counts?.nodes ?? 0,
      projectionsDeleted: counts?.projections ?? 0,
    }
  })
  return { bulkJobId, total: items.length, items }
}

function acquireDeleteLease({ leases }: EngineContext, spaceKey: number, { id, version }: DocumentRow): ReadLease {
  const lease = leases.acquire({
    spaceKey,
    sessionId: id,
    type: 'delete',
    targetType: 'document',
    targetId: id,
    targetVersion: version,
    virtualPath: `/knowledge/documents/${id}`,
  })
  lease.keepAlive()
  return lease
}

/** Documents that were hidden from every later revision. */
export interface RetiredDocuments extends HiddenDocuments {
  /** the requested documents, then their contained ones */
  retired: DocumentRow[]
}

/**
 * Hides documents of a space from `revision` on, with their contained documents, inside the caller's transaction.
 * Contained documents that a newer file contains too move to that one.
 */
export function* retireDocuments(
  spaceKey: number,
  rows: readonly DocumentRow[],
  revision: number,
): Write<RetiredDocuments> {
  if (rows.length === 0) return { counts: [], seq: 0, retired: [] }
  const now = yield* readClock()
  const retired = yield* collectWithContained(rows)
  const hidden = yield* hideDocuments(spaceKey, retired, revision, now)
  yield* cancelOpenJobs(spaceKey, retired, now)
  return { ...hidden, retired }
}

/** The documents and all contained ones that are deleted with them. */
function* collectWithContained(rows: readonly DocumentRow[]): Write<DocumentRow[]> {
  const retiring = new Map(rows.map((row) => [row.key, row]))
  for (let level: readonly DocumentRow[] = rows; level.length > 0; ) {
    const children = (yield* listContained(level)).flat().filter(({ key }) => !retiring.has(key))
    const retiringIds = new Set([...retiring.values()].map(({ id }) => id))
    const nextParentIds = children.flatMap(({ next_parent_id: nextParentId }) =>
      nextParentId === null || retiringIds.has(nextParentId) ? [] : [nextParentId],
    )
    const [first] = children
    const live = first === undefined ? new Set<string>() : yield* filterLiveDocuments(first, nextParentIds)
    const hasLiveNextParent = ({ next_parent_id: nextParentId }: DocumentRow) =>
      nextParentId !== null && live.has(nextParentId)
    yield* promoteNextParent(children.filter(hasLiveNextParent))
    level = children.filter((row) => !hasLiveNextParent(row))
    for (const row of level) retiring.set(row.key, row)
  }
  return [...retiring.values()]
}

function* cancelOpenJobs(spaceKey: number, rows: readonly DocumentRow[], now: number): Write<void> {
  const jobIds = yield* listOpenJobs(rows.map(({ key }) => key))
  if (jobIds.length === 0) return
  const space = yield* findSpaceByKey(spaceKey)
  const days = space === undefined ? 1 : parsePolicies(space).retentionPolicy.failedCommitRetentionDays
  yield* cancelJobs(jobIds, now)
  yield* endCommits(jobIds, 'canceled', undefined, days)
}
