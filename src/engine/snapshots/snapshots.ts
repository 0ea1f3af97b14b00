import { KsError, notFound } from '../../contract/errors.js'
import type { CatResult } from '../../contract/gateway/fs.js'
import type {
  CreateSnapshotBody,
  ListSnapshotsQuery,
  SnapshotFileQuery,
  WorkspaceSnapshot,
  WorkspaceSnapshotDetail,
} from '../../contract/gateway/snapshots.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import { isUuid, newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import { decodeCursor, encodeCursor, filterHash } from '../base/cursor.js'
import type { Page } from '../base/page.js'
import type { EngineContext } from '../context.js'
import { knownDocuments } from '../rows/documents.js'
import {
  hideSnapshot,
  insertSnapshot,
  type SnapshotRow,
  snapshotFile,
  snapshotFiles,
  snapshotQueries,
  snapshotRow,
  snapshotRows,
  workspaceNow,
} from '../rows/snapshots.js'
import { findSpace } from '../rows/spaces.js'
import { snapshotSize } from '../rows/workspaces.js'
import type { Read } from '../storage/program.js'
import { fromCell, readablePage } from '../storage/readable.js'
import { writeAnswer } from '../storage/write-answer.js'
import { cat } from '../vfs/cat.js'
import { placeOf } from '../vfs/namespace.js'
import { readObject } from '../vfs/workspaces.js'
import { workspaceName } from '../workspaces/paths.js'
import { type KeptQuery, queriesOf, referenceOf, sessionOf } from './recorded.js'

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
  return writeAnswer(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, body.knowledgeSpaceId)
    const workspace = workspaceName(body.workspace)
    const held = yield* workspaceNow(space.key, workspace)
    if (held === undefined || held.since === null) throw notFound('workspace', workspace)
    yield* assertRoom(space.key, held.bytes)
    const at = { workspace, sessionId: body.sessionId, since: held.since, now: now() }
    const sessionId = yield* sessionOf(caller, space, at)
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
      file_count: held.files,
      total_bytes: held.bytes,
      queries: sessionId === undefined ? [] : yield* queriesOf(caller, space, sessionId),
      created_at: at.now,
    })
    return toSnapshot(yield* findSnapshot(caller, id))
  })
}

function* assertRoom(spaceKey: number, more: number): Read<void> {
  const held = yield* snapshotSize(spaceKey)
  if (held.count >= LIMITS.snapshotsPerSpace)
    throw new KsError(
      'quota-exceeded',
      `the space has ${held.count} snapshots, at most ${LIMITS.snapshotsPerSpace} are kept`,
    )
  if (held.bytes + more > LIMITS.snapshotBytes)
    throw new KsError(
      'quota-exceeded',
      `the snapshots of the space would hold ${held.bytes + more} bytes, at most ${LIMITS.snapshotBytes} are kept`,
    )
}

/** Finds a snapshot of the caller. @throws KsError `not-found` in every other case */
export function* findSnapshot(caller: Caller, id: string): Read<SnapshotRow> {
  const row = isUuid(id) ? yield* snapshotRow(caller, id) : undefined
  if (row === undefined) throw notFound('snapshot', id)
  return row
}

/** Lists the caller's own snapshots, newest first. @throws KsError `not-found` for a missing space */
export function* listSnapshots(caller: Caller, query: ListSnapshotsQuery): Read<Page<WorkspaceSnapshot>> {
  const { knowledgeSpaceId, workspace, limit, cursor } = query
  const space = knowledgeSpaceId === undefined ? undefined : yield* findSpace(caller.tenant, knowledgeSpaceId)
  const filter = filterHash('snapshots', caller.tenant, caller.subject, space?.id, workspace)
  const after = cursor === undefined ? undefined : String(decodeCursor(cursor, filter).after[0] ?? '')
  const rows = yield* snapshotRows(caller, { spaceKey: space?.key, workspace, after }, limit + 1)
  return readablePage(rows, limit, toSnapshot, ({ id }) => encodeCursor({ after: [id] }, filter))
}

export function* snapshotDetail(caller: Caller, id: string): Read<WorkspaceSnapshotDetail> {
  const row = yield* findSnapshot(caller, id)
  const files = yield* snapshotFiles(caller.tenant, row.id)
  const queries = yield* keptQueries(caller.tenant, row.id)
  const cited = queries.flatMap(({ evidence }) => evidence.map(({ documentAssetId }) => documentAssetId))
  const live = yield* knownDocuments(caller, row.space_key, cited)
  return {
    ...toSnapshot(row),
    files: files.map(({ path, sha256, size, type, version, at }) => ({
      path,
      sizeBytes: size,
      sha256,
      contentType: type,
      version,
      updatedAt: new Date(at).toISOString(),
    })),
    queries: queries.map(({ traceId, query, requestedMode, mode, askedAt, evidenceState, evidence }) => ({
      traceId,
      query,
      requestedMode,
      mode,
      askedAt,
      evidenceState,
      evidence: evidence.map((kept, index) => referenceOf(kept, index, live)),
    })),
  }
}

/** The queries of a snapshot in their original order. */
export function* keptQueries(tenant: string, snapshotId: string): Read<KeptQuery[]> {
  return (yield* snapshotQueries(tenant, snapshotId)).map(({ body }): KeptQuery => fromCell(body))
}

/** @throws KsError `not-found`, also for a path that is not in the snapshot */
export async function readSnapshotFile(
  { db, objects }: EngineContext,
  caller: Caller,
  id: string,
  query: SnapshotFileQuery,
): Promise<CatResult> {
  const { row, file } = await db.read(fileOf(caller, id, query.path))
  const { object_key, content_type, version } = file
  const place = placeOf(
    {
      kind: 'resource',
      name: query.path,
      path: query.path,
      resourceType: 'workspace',
      version,
      metadata: { snapshotId: row.id, workspace: row.workspace },
    },
    { read: () => readObject(objects, { object_key, content_type }) },
  )
  return { path: query.path, ...(await cat(place, query)) }
}

function* fileOf(caller: Caller, id: string, path: string) {
  const row = yield* findSnapshot(caller, id)
  const file = yield* snapshotFile(caller.tenant, row.id, path)
  if (file === undefined) throw notFound('path', path)
  return { row, file }
}

/** Hides a snapshot from all reads at once; rows and bytes are deleted in the background. */
export async function deleteSnapshot({ db, now, wake }: EngineContext, caller: Caller, id: string): Promise<void> {
  await writeAnswer(db, caller, function* () {
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
    ...defined({ name: row.name ?? undefined, sessionId: row.session_id ?? undefined }),
    createdBy: row.subject,
    createdAt: new Date(row.created_at).toISOString(),
    publicationId: row.publication_id,
    fileCount: row.file_count,
    totalBytes: row.total_bytes,
    queryCount: row.query_count,
  }
}
