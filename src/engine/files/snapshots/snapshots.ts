import { KsError, notFoundError } from '../../../contract/errors.js'
import type { CatResult } from '../../../contract/gateway/fs.js'
import type {
  CreateSnapshotBody,
  ListSnapshotsQuery,
  SnapshotFileQuery,
  WorkspaceSnapshot,
  WorkspaceSnapshotDetail,
} from '../../../contract/gateway/snapshots.js'
import { LIMITS } from '../../../contract/limits.js'
import { isUuid, newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { Page } from '../../base/page.js'
import { type EngineContext, parseWorkspaceName } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell, readablePage } from '../../store/readable.js'
import { filterReadableDocuments } from '../../store/rows/documents.js'
import { findSpace } from '../../store/rows/spaces.js'
import { getSnapshotsSize } from '../../store/rows/workspaces.js'
import { writeReply } from '../../store/write-reply.js'
import {
  findSnapshotFile,
  findSnapshotRow,
  getWorkspaceSize,
  hideSnapshot,
  insertSnapshot,
  listQueryBodies,
  listSnapshotFiles,
  listSnapshotRows,
  type SnapshotRow,
} from '../rows/snapshots.js'
import { cat } from '../vfs/cat.js'
import { makeNode } from '../vfs/namespace.js'
import { readWorkspaceObject } from '../vfs/workspaces.js'
import { findWorkspaceSession, loadSessionQueries, type SnapshotQuery, toReference } from './snapshot-queries.js'

/**
 * Freezes the files of a workspace, all at one moment, and the queries of its session.
 *
 * @throws KsError `not-found` for a workspace without files, `quota-exceeded`
 */
export async function createSnapshot(
  { db, now }: EngineContext,
  caller: Caller,
  body: CreateSnapshotBody,
): Promise<WorkspaceSnapshot> {
  return writeReply(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, body.knowledgeSpaceId)
    const workspace = parseWorkspaceName(body.workspace)
    const workspaceSize = yield* getWorkspaceSize(space.key, workspace)
    if (workspaceSize === undefined || workspaceSize.since === null) throw notFoundError('workspace', workspace)
    yield* assertSnapshotQuota(space.key, workspaceSize.bytes)
    const criteria = { workspace, sessionId: body.sessionId, since: workspaceSize.since, now: now() }
    const sessionId = yield* findWorkspaceSession(caller, space, criteria)
    const id = newId()
    yield* insertSnapshot({
      id,
      tenant: caller.tenant,
      space_key: space.key,
      subject: caller.subject,
      workspace,
      name: body.name ?? null,
      session_id: sessionId ?? null,
      publication_id: space.publication_id,
      file_count: workspaceSize.files,
      total_bytes: workspaceSize.bytes,
      queries: sessionId === undefined ? [] : yield* loadSessionQueries(caller, space, sessionId),
      created_at: criteria.now,
    })
    return toSnapshot(yield* findSnapshot(caller, id))
  })
}

function* assertSnapshotQuota(spaceKey: number, addedBytes: number): Read<void> {
  const size = yield* getSnapshotsSize(spaceKey)
  if (size.count >= LIMITS.snapshotsPerSpace)
    throw new KsError(
      'quota-exceeded',
      `the space has ${pluralize(size.count, 'snapshot')}, at most ${formatCount(LIMITS.snapshotsPerSpace)} are possible; delete one first`,
    )
  if (size.bytes + addedBytes > LIMITS.snapshotBytes)
    throw new KsError(
      'quota-exceeded',
      `the snapshots of the space would have ${formatCount(size.bytes + addedBytes)} bytes, at most ${formatCount(LIMITS.snapshotBytes)} are possible; delete one first`,
    )
}

/** Finds a snapshot of the caller. @throws KsError `not-found` in every other case */
export function* findSnapshot(caller: Caller, id: string): Read<SnapshotRow> {
  const row = isUuid(id) ? yield* findSnapshotRow(caller, id) : undefined
  if (row === undefined) throw notFoundError('snapshot', id)
  return row
}

/** Lists the caller's own snapshots, newest first. @throws KsError `not-found` for a missing space */
export function* listSnapshots(caller: Caller, query: ListSnapshotsQuery): Read<Page<WorkspaceSnapshot>> {
  const { knowledgeSpaceId, workspace, limit, cursor } = query
  const space = knowledgeSpaceId === undefined ? undefined : yield* findSpace(caller.tenant, knowledgeSpaceId)
  const filter = hashFilter('snapshots', caller.tenant, caller.subject, space?.id, workspace)
  const after = cursor === undefined ? undefined : String(decodeCursor(cursor, filter).after[0] ?? '')
  const rows = yield* listSnapshotRows(caller, { spaceKey: space?.key, workspace, after }, limit + 1)
  return readablePage(rows, limit, toSnapshot, ({ id }) => encodeCursor({ after: [id] }, filter))
}

export function* readSnapshotDetail(caller: Caller, id: string): Read<WorkspaceSnapshotDetail> {
  const row = yield* findSnapshot(caller, id)
  const files = yield* listSnapshotFiles(caller.tenant, row.id)
  const queries = yield* listSnapshotQueries(caller.tenant, row.id)
  const cited = queries.flatMap(({ evidence }) => evidence.map(({ documentAssetId }) => documentAssetId))
  const live = yield* filterReadableDocuments(caller, row.space_key, cited)
  return {
    ...toSnapshot(row),
    files: files.map(({ path, sha256, size, type, version, updated_at }) => ({
      path,
      sizeBytes: size,
      sha256,
      contentType: type,
      version,
      updatedAt: new Date(updated_at).toISOString(),
    })),
    queries: queries.map(({ traceId, query, requestedMode, mode, askedAt, evidenceState, evidence }) => ({
      traceId,
      query,
      requestedMode,
      mode,
      askedAt,
      evidenceState,
      evidence: evidence.map((item, index) => toReference(item, index, live)),
    })),
  }
}

/** The queries of a snapshot in their original order. */
export function* listSnapshotQueries(tenant: string, snapshotId: string): Read<SnapshotQuery[]> {
  return (yield* listQueryBodies(tenant, snapshotId)).map(({ body }): SnapshotQuery => parseJsonCell(body))
}

/** @throws KsError `not-found`, also for a path that is not in the snapshot */
export async function readSnapshotFile(
  { db, objects }: EngineContext,
  caller: Caller,
  id: string,
  query: SnapshotFileQuery,
): Promise<CatResult> {
  const { row, file } = await db.read(findFile(caller, id, query.path))
  const { object_key, content_type, version } = file
  const node = makeNode(
    {
      kind: 'resource',
      name: query.path,
      path: query.path,
      resourceType: 'workspace',
      version,
      metadata: { snapshotId: row.id, workspace: row.workspace },
    },
    { read: () => readWorkspaceObject(objects, { object_key, content_type }) },
  )
  return { path: query.path, ...(await cat(node, query)) }
}

function* findFile(caller: Caller, id: string, path: string) {
  const row = yield* findSnapshot(caller, id)
  const file = yield* findSnapshotFile(caller.tenant, row.id, path)
  if (file === undefined) throw notFoundError('path', path)
  return { row, file }
}

/** Hides a snapshot from all reads at once; rows and bytes are deleted in the background. */
export async function deleteSnapshot({ db, now, wake }: EngineContext, caller: Caller, id: string): Promise<void> {
  await writeReply(db, caller, function* () {
    const row = yield* findSnapshot(caller, id)
    yield* hideSnapshot(caller.tenant, row.id, now())
  })
  wake()
}

function toSnapshot(row: SnapshotRow): WorkspaceSnapshot {
  return {
    id: row.id,
    knowledgeSpaceId: row.space_id,
    workspace: row.workspace,
    ...omitUndefined({ name: row.name ?? undefined, sessionId: row.session_id ?? undefined }),
    createdBy: row.subject,
    createdAt: new Date(row.created_at).toISOString(),
    publicationId: row.publication_id,
    fileCount: row.file_count,
    totalBytes: row.total_bytes,
    queryCount: row.query_count,
  }
}
