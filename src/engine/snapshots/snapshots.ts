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
import { FOLDER_END } from '../base/folders.js'
import type { Page } from '../base/page.js'
import type { EngineContext } from '../context.js'
import { knownDocuments } from '../rows/documents.js'
import { findSpace } from '../rows/spaces.js'
import { subtreeOf } from '../rows/workspaces.js'
import { type Read, sql } from '../storage/program.js'
import { fromCell, readablePage } from '../storage/readable.js'
import { writeAnswer } from '../storage/write-answer.js'
import { cat } from '../vfs/cat.js'
import { placeOf } from '../vfs/namespace.js'
import { readObject } from '../vfs/workspaces.js'
import { workspaceName } from '../workspaces/paths.js'
import { type KeptQuery, queriesOf, referenceOf, sessionOf } from './recorded.js'

/** A row of `workspace_snapshots` with its space. */
export interface SnapshotRow {
  id: string
  space_key: number
  space_id: string
  subject: string
  workspace: string
  name: string | null
  session_id: string | null
  publication_id: string
  file_count: number
  total_bytes: number
  query_count: number
  created_at: number
}

const SELECT = `SELECT s.id, s.space_key, spaces.id space_id, s.subject, s.workspace, s.name, s.session_id,
    s.publication_id, s.file_count, s.total_bytes, s.query_count, s.created_at
  FROM workspace_snapshots s JOIN spaces ON spaces.key = s.space_key
  WHERE s.tenant = ? AND s.subject = ? AND s.deleted_at IS NULL AND spaces.deleted_at IS NULL`

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
  const space = db.now(findSpace(caller.tenant, body.knowledgeSpaceId))
  const workspace = workspaceName(body.workspace)
  const { first, past } = subtreeOf(workspace + FOLDER_END)
  const where = 'space_key = ? AND folder >= ? AND folder < ? AND until_seq IS NULL'
  return writeAnswer(db, caller, function* () {
    const live = yield* findSpace(caller.tenant, space.id)
    const held = yield* sql.get<{ files: number; bytes: number; since: number | null }>(
      `SELECT count(*) files, coalesce(sum(size_bytes), 0) bytes, min(created_at) since FROM workspace_files WHERE ${where}`,
      [live.key, first, past],
    )
    if (held === undefined || held.since === null) throw notFound('workspace', workspace)
    yield* assertRoom(live.key, held.bytes)
    const at = { workspace, sessionId: body.sessionId, since: held.since, now: now() }
    const sessionId = yield* sessionOf(caller, live, at)
    const queries = sessionId === undefined ? [] : yield* queriesOf(db, caller, live, sessionId)
    const id = newId()
    yield* sql.run(
      `INSERT INTO workspace_snapshots (id, tenant, space_key, subject, workspace, name, session_id, publication_id,
         file_count, total_bytes, query_count, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        id,
        caller.tenant,
        live.key,
        caller.subject,
        workspace,
        body.name ?? null,
        sessionId ?? null,
        live.publication_id,
        held.files,
        held.bytes,
        queries.length,
        at.now,
      ],
    )
    yield* sql.run(
      `INSERT INTO snapshot_files (snapshot_id, space_key, path, object_key, sha256, size_bytes, content_type, version,
         updated_at)
       SELECT ?, space_key, replace(substr(folder || base, ?), char(1), '/'), object_key, sha256, size_bytes,
         content_type, version, updated_at FROM workspace_files WHERE ${where} ORDER BY folder, base`,
      [id, [...workspace].length + 2, live.key, first, past],
    )
    for (const [place, query] of queries.entries())
      yield* sql.run('INSERT INTO snapshot_queries (snapshot_id, place, space_key, body) VALUES (?, ?, ?, ?)', [
        id,
        place,
        live.key,
        JSON.stringify(query),
      ])
    return toSnapshot(yield* findSnapshot(caller, id))
  })
}

function* assertRoom(spaceKey: number, more: number): Read<void> {
  const held = yield* sql.get<{ count: number; bytes: number }>(
    `SELECT count(*) count, coalesce(sum(total_bytes), 0) bytes FROM workspace_snapshots
     WHERE space_key = ? AND deleted_at IS NULL`,
    [spaceKey],
  )
  if (held === undefined) return
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

/** A snapshot of the caller's own. @throws KsError `not-found` in every other case */
export function* findSnapshot(caller: Caller, id: string): Read<SnapshotRow> {
  const row = isUuid(id)
    ? yield* sql.get<SnapshotRow>(`${SELECT} AND s.id = ?`, [caller.tenant, caller.subject, id])
    : undefined
  if (row === undefined) throw notFound('snapshot', id)
  return row
}

/** The caller's own snapshots, newest first. @throws KsError `not-found` for a space that is not there */
export function* listSnapshots(caller: Caller, query: ListSnapshotsQuery): Read<Page<WorkspaceSnapshot>> {
  const { knowledgeSpaceId, workspace, limit, cursor } = query
  const space = knowledgeSpaceId === undefined ? undefined : yield* findSpace(caller.tenant, knowledgeSpaceId)
  const filter = filterHash('snapshots', caller.tenant, caller.subject, space?.id, workspace)
  const after = cursor === undefined ? undefined : String(decodeCursor(cursor, filter).after[0] ?? '')
  const rows = yield* sql.all<SnapshotRow>(
    `${SELECT} AND (? IS NULL OR s.space_key = ?) AND (? IS NULL OR s.workspace = ?) AND (? IS NULL OR s.id < ?)
     ORDER BY s.id DESC LIMIT ?`,
    [
      caller.tenant,
      caller.subject,
      space?.key ?? null,
      space?.key ?? null,
      workspace ?? null,
      workspace ?? null,
      after ?? null,
      after ?? null,
      limit + 1,
    ],
  )
  return readablePage(rows, limit, toSnapshot, ({ id }) => encodeCursor({ after: [id] }, filter))
}

export function* snapshotDetail(caller: Caller, id: string): Read<WorkspaceSnapshotDetail> {
  const row = yield* findSnapshot(caller, id)
  const files = yield* sql.all<{
    path: string
    sha256: string
    size: number
    type: string
    version: number
    at: number
  }>(
    `SELECT path, sha256, size_bytes size, content_type type, version, updated_at at FROM snapshot_files
     WHERE snapshot_id = ? ORDER BY path`,
    [row.id],
  )
  const queries = yield* keptQueries(row.id)
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

/** The queries of a snapshot in the order they were asked. */
export function* keptQueries(snapshotId: string): Read<KeptQuery[]> {
  return (yield* sql.all<{ body: string }>('SELECT body FROM snapshot_queries WHERE snapshot_id = ? ORDER BY place', [
    snapshotId,
  ])).map(({ body }): KeptQuery => fromCell(body))
}

/** @throws KsError `not-found` also for a path that the snapshot does not hold */
export async function readSnapshotFile(
  { db, objects }: EngineContext,
  caller: Caller,
  id: string,
  query: SnapshotFileQuery,
): Promise<CatResult> {
  const row = db.now(findSnapshot(caller, id))
  const file = db.now(
    sql.get<{ object_key: string; content_type: string; version: number }>(
      'SELECT object_key, content_type, version FROM snapshot_files WHERE snapshot_id = ? AND path = ?',
      [row.id, query.path],
    ),
  )
  if (file === undefined) throw notFound('path', query.path)
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

/** Gone from every read at once; rows and bytes go in the background. */
export async function deleteSnapshot({ db, now, wake }: EngineContext, caller: Caller, id: string): Promise<void> {
  await writeAnswer(db, caller, function* () {
    const row = yield* findSnapshot(caller, id)
    yield* sql.run('UPDATE workspace_snapshots SET deleted_at = ? WHERE id = ?', [now(), row.id])
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
