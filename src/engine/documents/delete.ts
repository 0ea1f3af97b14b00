import type { BulkDelete } from '../../contract/gateway/documents.js'
import type { Caller } from '../base/caller.js'
import type { Lease } from '../base/leases.js'
import type { EngineContext } from '../context.js'
import { removeUnreferenced } from '../objects/remove.js'
import { type BulkItem, insertBulkJob } from '../rows/bulk-jobs.js'
import { containedIn, inherit, liveDocuments } from '../rows/contained-documents.js'
import { cancelJobs, type Hidden, hideDocuments, openJobsOf } from '../rows/document-ends.js'
import { type DocumentRow, lookupDocuments } from '../rows/documents.js'
import { publishNext } from '../rows/publications.js'
import { findSpace, spaceByKey } from '../rows/spaces.js'
import { endCommits } from '../rows/staged-commits.js'
import { policiesOf } from '../spaces/manifest.js'
import type { Write } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

interface Removed {
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
  const held: Lease[] = []
  try {
    return await removeDocuments(context, caller, spaceId, documentIds, held)
  } finally {
    for (const lease of held) lease.release()
  }
}

async function removeDocuments(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  documentIds: string[],
  held: Lease[],
): Promise<BulkDelete> {
  const { db } = context
  // leases are listed for the duration of the deletion; a job that compiles one of the documents loses it in the
  // transaction
  for (const { key, row } of await db.read(liveOf(caller, spaceId, documentIds))) held.push(leaseOf(context, key, row))
  // known only afterwards: whether other rows reference the bytes
  const outcome = await writeAnswer(db, caller, () => removeAll(caller, spaceId, documentIds), {
    answer: (done) => toReport(done, new Set()),
    lock: { tenant: caller.tenant, id: spaceId },
  })
  context.wake()
  context.changes.changed(caller.tenant, spaceId)
  const named = outcome.rows.flatMap(({ id, row }) => (row === undefined ? [] : [{ id, key: row.object_key }]))
  const keys = [...named.map(({ key }) => key), ...outcome.within.map((row) => row.object_key)]
  const [followed, removed] = await Promise.allSettled([
    context.indexes.follow(spaceId, outcome.seq),
    removeUnreferenced(context, caller.tenant, keys),
  ])
  if (followed.status === 'rejected') throw followed.reason
  if (removed.status === 'rejected') throw removed.reason
  const gone = removed.value
  const withBytes = named.flatMap(({ id, key }) => (gone.has(key) ? [id] : []))
  return toReport(outcome, new Set(withBytes))
}

function* liveOf(caller: Caller, spaceId: string, documentIds: readonly string[]) {
  const { key } = yield* findSpace(caller.tenant, spaceId)
  const rows = yield* lookupDocuments(caller, key, documentIds)
  return rows.flatMap(({ row }) => (row === undefined ? [] : [{ key, row }]))
}

function* removeAll(caller: Caller, spaceId: string, documentIds: readonly string[]): Write<Outcome> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const rows = yield* lookupDocuments(caller, space.key, documentIds)
  const removed = new Map<string, Removed>()
  const live = rows.flatMap(({ row }) => (row === undefined ? [] : [row]))
  let seq = 0
  const within: DocumentRow[] = []
  if (live.length > 0) {
    const { revision } = yield* publishNext(space.key, `delete ${live.map((row) => row.id).join(' ')}`)
    const retired = yield* retireDocuments(space.key, live, revision)
    seq = retired.seq
    within.push(...retired.retired.slice(live.length))
    for (const [place, { versions, nodes }] of retired.made.entries())
      removed.set(live[place]?.id ?? '', { nodes, artifacts: versions, projections: nodes * 2 })
  }
  const items = rows.map(
    ({ id, row }): BulkItem => ({
      documentId: id,
      outcome: row === undefined ? 'failed' : 'completed',
    }),
  )
  const bulkJobId = yield* insertBulkJob(space, 'document_delete', items)
  return { bulkJobId, rows, within, removed, seq }
}

interface Outcome {
  bulkJobId: string
  rows: { id: string; row: DocumentRow | undefined }[]
  /** their contained documents */
  within: DocumentRow[]
  removed: Map<string, Removed>
  /** the index log's last entry for the nodes; 0 if there are none */
  seq: number
}

/** @param withBytes ids of documents whose bytes are removed, too */
function toReport({ bulkJobId, rows, removed }: Outcome, withBytes: ReadonlySet<string>): BulkDelete {
  const items = rows.map(({ id, row }): BulkDelete['items'][number] => {
    const gone = removed.get(id)
    return {
      documentId: id,
      status: row === undefined ? 'not_found' : 'deleted',
      objectDeleted: withBytes.has(id),
      artifactsDeleted: gone?.artifacts ?? 0,
      nodesDeleted: gone?.nodes ?? 0,
      projectionsDeleted: gone?.projections ?? 0,
    }
  })
  return { bulkJobId, total: items.length, items }
}

function leaseOf({ leases }: EngineContext, spaceKey: number, { id, version }: DocumentRow): Lease {
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
export interface Retired extends Hidden {
  /** the requested documents, then their contained ones */
  retired: DocumentRow[]
}

/**
 * Hides documents of a space from `revision` on, with their contained documents, inside the caller's transaction.
 * Contained documents that a newer file contains too move to that one.
 */
export function* retireDocuments(spaceKey: number, rows: readonly DocumentRow[], revision: number): Write<Retired> {
  if (rows.length === 0) return { made: [], seq: 0, retired: [] }
  const now = Date.now()
  const retired = yield* withContained(rows)
  const hidden = yield* hideDocuments(spaceKey, retired, revision, now)
  yield* cancelOpenJobs(spaceKey, retired, now)
  return { ...hidden, retired }
}

/** The documents and all contained ones that are deleted with them. */
function* withContained(rows: readonly DocumentRow[]): Write<DocumentRow[]> {
  const going = new Map(rows.map((row) => [row.key, row]))
  for (let level: readonly DocumentRow[] = rows; level.length > 0; ) {
    const held = (yield* containedIn(level)).flat().filter(({ key }) => !going.has(key))
    const gone = new Set([...going.values()].map(({ id }) => id))
    const heirs = held.flatMap(({ next_parent_id: heir }) => (heir === null || gone.has(heir) ? [] : [heir]))
    const [first] = held
    const live = first === undefined ? new Set<string>() : yield* liveDocuments(first, heirs)
    const isTaken = ({ next_parent_id: heir }: DocumentRow) => heir !== null && live.has(heir)
    yield* inherit(held.filter(isTaken))
    level = held.filter((row) => !isTaken(row))
    for (const row of level) going.set(row.key, row)
  }
  return [...going.values()]
}

function* cancelOpenJobs(spaceKey: number, rows: readonly DocumentRow[], now: number): Write<void> {
  const open = yield* openJobsOf(rows.map(({ key }) => key))
  if (open.length === 0) return
  const space = yield* spaceByKey(spaceKey)
  const days = space === undefined ? 1 : policiesOf(space).retentionPolicy.failedCommitRetentionDays
  yield* cancelJobs(open, now)
  yield* endCommits(open, 'canceled', undefined, days)
}
