import type { BulkDelete } from '../../contract/gateway/documents.js'
import type { Caller } from '../base/caller.js'
import type { Lease } from '../base/leases.js'
import type { EngineContext } from '../context.js'
import { insertBulkJob } from '../rows/bulk-jobs.js'
import { type DocumentRow, lookupDocument } from '../rows/documents.js'
import { publishNext } from '../rows/publications.js'
import { findSpace, spaceByKey } from '../rows/spaces.js'
import { endCommit } from '../rows/staged-commits.js'
import { NAMED_BY_WORKSPACE } from '../rows/workspaces.js'
import { policiesOf } from '../spaces/manifest.js'
import { ObjectStore } from '../storage/objects.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

interface NodeRange {
  first: number
  last: number
}

interface Removed {
  nodes: number
  artifacts: number
  projections: number
}

/** Deletes documents, of those that the caller may know of: gone from every read when this resolves. Rows are purged later, bytes now where nobody holds them. */
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
  const removeAll = () => {
    const space = db.now(findSpace(caller.tenant, spaceId))
    const wanted = [...new Set(documentIds)]
    const rows = wanted.map((id) => ({ id, row: db.now(lookupDocument(caller, space.key, id)) }))
    const removed = new Map<string, Removed>()
    const live = rows.flatMap(({ row }) => (row === undefined ? [] : [row]))
    // whoever compiles one of them right now has lost it
    for (const row of live) held.push(leaseOf(context, space.key, row))
    if (live.length > 0) {
      const { revision } = db.now(publishNext(space.key, `delete ${live.map((row) => row.id).join(' ')}`))
      for (const row of live) removed.set(row.id, db.now(retireDocument(row, revision)))
    }
    const bulkJobId = db.now(
      insertBulkJob(
        space,
        'document_delete',
        rows.map(({ id, row }) => ({ documentId: id, outcome: row === undefined ? 'failed' : 'completed' })),
      ),
    )
    const ranges = live.flatMap((row) => db.now(nodeRanges(row.key)))
    const seq = db.now(
      sql.get<{ seq: number | null }>('SELECT max(seq) seq FROM projection_log WHERE space_key = ?', [space.key]),
    )?.seq
    return { bulkJobId, rows, removed, ranges, seq: seq ?? 0 }
  }
  // whether nobody else holds the bytes shows only afterwards
  const outcome = await writeAnswer(db, caller, removeAll, (done) => toReport(done, new Set()))
  if (outcome.ranges.length > 0)
    await context.indexes.apply(spaceId, { seq: outcome.seq, add: [], remove: outcome.ranges.flatMap(keysOf) })
  context.wake()
  const withBytes = new Set<string>()
  for (const { id, row } of outcome.rows)
    if (row !== undefined && (await removeUnreferenced(context, row.object_key))) withBytes.add(id)
  return toReport(outcome, withBytes)
}

interface Outcome {
  bulkJobId: string
  rows: { id: string; row: DocumentRow | undefined }[]
  removed: Map<string, Removed>
}

/** @param withBytes ids of documents whose bytes are gone too */
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

/** Hides a document from `revision` on, inside the caller's transaction. */
export function* retireDocument(row: DocumentRow, revision: number): Write<Removed> {
  const now = Date.now()
  const versions = yield* sql.all<{
    key: number
    node_count: number
    first_node: number | null
    last_node: number | null
  }>('SELECT key, node_count, first_node, last_node FROM versions WHERE doc_key = ? AND version > 0', [row.key])
  for (const version of versions) {
    if (version.first_node === null || version.last_node === null) continue
    yield* sql.run('INSERT INTO projection_log (space_key, op, first_node, last_node) VALUES (?, -1, ?, ?)', [
      row.space_key,
      version.first_node,
      version.last_node,
    ])
  }
  yield* sql.run('UPDATE versions SET until_revision = ? WHERE doc_key = ? AND until_revision IS NULL', [
    revision,
    row.key,
  ])
  yield* sql.run('UPDATE documents SET deleted_at = ?, updated_at = ? WHERE key = ?', [now, now, row.key])
  yield* cancelOpenJobs(row, now)
  const nodes = versions.reduce((sum, version) => sum + version.node_count, 0)
  return { nodes, artifacts: versions.length, projections: nodes * 2 }
}

function* cancelOpenJobs(row: DocumentRow, now: number): Write<void> {
  const open = yield* sql.all<{ id: string }>('SELECT id FROM jobs WHERE doc_key = ? AND completed_at IS NULL', [
    row.key,
  ])
  if (open.length === 0) return
  const space = yield* spaceByKey(row.space_key)
  const days = space === undefined ? 1 : policiesOf(space).retentionPolicy.failedCommitRetentionDays
  for (const { id } of open) {
    yield* sql.run(
      "UPDATE jobs SET stage = 'canceled', claimed_by = NULL, updated_at = ?, completed_at = ? WHERE id = ?",
      [now, now, id],
    )
    yield* endCommit(id, 'canceled', undefined, days)
  }
}

function* nodeRanges(docKey: number): Read<NodeRange[]> {
  return yield* sql.all<NodeRange>(
    'SELECT first_node first, last_node last FROM versions WHERE doc_key = ? AND first_node IS NOT NULL AND version > 0',
    [docKey],
  )
}

function keysOf({ first, last }: NodeRange): number[] {
  return Array.from({ length: last - first + 1 }, (_, place) => first + place)
}

/**
 * Removes bytes that nothing names any more. A key that has no form of one names no bytes: it is told in the log, and
 * what else is to be removed is removed.
 * @returns whether the bytes are gone now
 */
export async function removeUnreferenced({ db, objects, log }: EngineContext, key: string): Promise<boolean> {
  if (ObjectStore.isKey(key)) return objects.remove(key, () => db.now(isReferenced(key)))
  log.error({ key: key.slice(0, 200) }, 'a row named an object by what is no key; nothing was removed for it')
  return false
}

/** Whether an object is named by a live document, by a commit that may still become one, by a file of a chat or of an agent. */
export function* isReferenced(objectKey: string): Read<boolean> {
  const row = yield* sql.get<{ held: number }>(
    `SELECT EXISTS (SELECT 1 FROM documents WHERE object_key = ? AND deleted_at IS NULL)
       OR EXISTS (SELECT 1 FROM staged_commits WHERE published_object_key = ?
                  AND status IN ('received', 'object-staged', 'object-verified'))
       OR EXISTS (SELECT 1 FROM chat_files WHERE object_key = ?) OR ${NAMED_BY_WORKSPACE} held`,
    [objectKey, objectKey, objectKey, objectKey, objectKey],
  )
  return row?.held === 1
}
