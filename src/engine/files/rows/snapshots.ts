import type { RecordedQuery } from '../../../contract/gateway/snapshots.js'
import type { Caller } from '../../base/caller.js'
import { FOLDER_END } from '../../base/folders.js'
import { type Read, sql, type Write } from '../../store/program.js'
import { getSubtreeBounds } from '../../store/rows/workspaces.js'

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

const SELECT_SNAPSHOT = `SELECT s.id, s.space_key, spaces.id space_id, s.subject, s.workspace, s.name, s.session_id,
    s.publication_id, s.file_count, s.total_bytes, s.query_count, s.created_at
  FROM workspace_snapshots s JOIN spaces ON spaces.key = s.space_key
  WHERE s.tenant = ? AND s.subject = ? AND s.deleted_at IS NULL AND spaces.deleted_at IS NULL`

/** A snapshot of the caller. */
export function* findSnapshotRow({ tenant, subject }: Caller, id: string): Read<SnapshotRow | undefined> {
  return yield* sql.get<SnapshotRow>(`${SELECT_SNAPSHOT} AND s.id = ?`, [tenant, subject, id])
}

/** The caller's snapshots, newest first; optionally of one space or one workspace, and after a listed one. */
export function* listSnapshotRows(
  { tenant, subject }: Caller,
  filter: { spaceKey: number | undefined; workspace: string | undefined; after: string | undefined },
  limit: number,
): Read<SnapshotRow[]> {
  const { spaceKey = null, workspace = null, after = null } = filter
  return yield* sql.all<SnapshotRow>(
    `${SELECT_SNAPSHOT} AND (? IS NULL OR s.space_key = ?) AND (? IS NULL OR s.workspace = ?) AND (? IS NULL OR s.id < ?)
     ORDER BY s.id DESC LIMIT ?`,
    [tenant, subject, spaceKey, spaceKey, workspace, workspace, after, after, limit],
  )
}

const IN_WORKSPACE = 'space_key = ? AND folder >= ? AND folder < ? AND until_seq IS NULL'

/** Number and bytes of the current files of a workspace, and creation time of the oldest; null without files. */
export function* getWorkspaceSize(
  spaceKey: number,
  workspace: string,
): Read<{ files: number; bytes: number; since: number | null } | undefined> {
  const { first, past } = getSubtreeBounds(workspace + FOLDER_END)
  return yield* sql.get<{ files: number; bytes: number; since: number | null }>(
    `SELECT count(*) files, coalesce(sum(size_bytes), 0) bytes, min(created_at) since FROM workspace_files WHERE ${IN_WORKSPACE}`,
    [spaceKey, first, past],
  )
}

interface NewSnapshot extends Omit<SnapshotRow, 'space_id' | 'query_count'> {
  tenant: string
  /** bodies, in the order of the queries */
  queries: readonly object[]
}

/** Inserts a snapshot with copies of the current file rows of its workspace. */
export function* insertSnapshot(snapshot: NewSnapshot): Write<void> {
  yield* sql.run(
    `INSERT INTO workspace_snapshots (id, tenant, space_key, subject, workspace, name, session_id, publication_id,
         file_count, total_bytes, query_count, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      snapshot.id,
      snapshot.tenant,
      snapshot.space_key,
      snapshot.subject,
      snapshot.workspace,
      snapshot.name,
      snapshot.session_id,
      snapshot.publication_id,
      snapshot.file_count,
      snapshot.total_bytes,
      snapshot.queries.length,
      snapshot.created_at,
    ],
  )
  const { first, past } = getSubtreeBounds(snapshot.workspace + FOLDER_END)
  yield* sql.run(
    `INSERT INTO snapshot_files (tenant, snapshot_id, space_key, path, object_key, sha256, size_bytes, content_type, version,
         updated_at)
       SELECT ?, ?, space_key, replace(substr(folder || base, ?), char(1), '/'), object_key, sha256, size_bytes,
         content_type, version, updated_at FROM workspace_files WHERE ${IN_WORKSPACE} ORDER BY folder, base`,
    [snapshot.tenant, snapshot.id, [...snapshot.workspace].length + 2, snapshot.space_key, first, past],
  )
  for (const [index, query] of snapshot.queries.entries())
    yield* sql.run(
      'INSERT INTO snapshot_queries (tenant, snapshot_id, place, space_key, body) VALUES (?, ?, ?, ?, ?)',
      [snapshot.tenant, snapshot.id, index, snapshot.space_key, JSON.stringify(query)],
    )
}

/** Hides a snapshot from every read. */
export function* hideSnapshot(tenant: string, id: string, now: number): Write<void> {
  yield* sql.run('UPDATE workspace_snapshots SET deleted_at = ? WHERE tenant = ? AND id = ?', [now, tenant, id])
}

interface SnapshotFile {
  path: string
  sha256: string
  size: number
  type: string
  version: number
  updated_at: number
}

export function* listSnapshotFiles(tenant: string, snapshotId: string): Read<SnapshotFile[]> {
  return yield* sql.all<SnapshotFile>(
    `SELECT path, sha256, size_bytes size, content_type type, version, updated_at FROM snapshot_files
     WHERE tenant = ? AND snapshot_id = ? ORDER BY path`,
    [tenant, snapshotId],
  )
}

/** The file of a snapshot at a path. */
export function* findSnapshotFile(
  tenant: string,
  snapshotId: string,
  path: string,
): Read<{ object_key: string; content_type: string; version: number } | undefined> {
  return yield* sql.get<{ object_key: string; content_type: string; version: number }>(
    'SELECT object_key, content_type, version FROM snapshot_files WHERE tenant = ? AND snapshot_id = ? AND path = ?',
    [tenant, snapshotId, path],
  )
}

/** The bodies of a snapshot's queries in order. */
export function* listQueryBodies(tenant: string, snapshotId: string): Read<{ body: string }[]> {
  return yield* sql.all<{ body: string }>(
    'SELECT body FROM snapshot_queries WHERE tenant = ? AND snapshot_id = ? ORDER BY place',
    [tenant, snapshotId],
  )
}

/** A subject in a space, as the owner of queries. */
export interface SpaceSubject {
  tenant: string
  subject: string
  spaceKey: number
}

/** Whether a session belongs, or belonged, to a subject. */
export function* isOwnedSession({ tenant, subject, spaceKey }: SpaceSubject, id: string): Read<boolean> {
  const owner = [tenant, subject, spaceKey]
  const row = yield* sql.get<{ one: number }>(
    `SELECT 1 one WHERE EXISTS (SELECT 1 FROM sessions WHERE id = ? AND tenant = ? AND subject = ? AND space_key = ?)
         OR EXISTS (SELECT 1 FROM traces WHERE session_id = ? AND tenant = ? AND subject = ? AND space_key = ?)`,
    [id, ...owner, id, ...owner],
  )
  return row !== undefined
}

/** The session with the subject's latest query, and the time of that. */
export function* findLastSession({
  tenant,
  subject,
  spaceKey,
}: SpaceSubject): Read<{ session_id: string; created_at: number } | undefined> {
  return yield* sql.get<{ session_id: string; created_at: number }>(
    `SELECT session_id, created_at FROM traces INDEXED BY traces_space
     WHERE space_key = ? AND subject = ? AND tenant = ? AND session_id IS NOT NULL ORDER BY id DESC LIMIT 1`,
    [spaceKey, subject, tenant],
  )
}

export function* isSessionOpen(tenant: string, id: string, now: number): Read<boolean> {
  const row = yield* sql.get<{ one: number }>(
    'SELECT 1 one FROM sessions WHERE tenant = ? AND id = ? AND expires_at > ?',
    [tenant, id, now],
  )
  return row !== undefined
}

/** A query of a session. */
export interface SessionTrace {
  id: string
  query: string
  mode: 'fast' | 'deep' | 'research'
  requested_mode: RecordedQuery['requestedMode']
  bundle_id: string | null
  steps: string
  created_at: number
}

/** The last answered queries of a session, oldest first. */
export function* listSessionTraces(
  { tenant, subject, spaceKey }: SpaceSubject,
  sessionId: string,
  limit: number,
): Read<SessionTrace[]> {
  return (yield* sql.all<SessionTrace>(
    `SELECT id, query, mode, requested_mode, bundle_id, steps, created_at FROM traces INDEXED BY traces_session
       WHERE session_id = ? AND tenant = ? AND subject = ? AND space_key = ? AND completed = 1
       ORDER BY id DESC LIMIT ?`,
    [sessionId, tenant, subject, spaceKey, limit],
  )).reverse()
}

/** Whether a passage is visible in a revision of a space. */
export function* isNodeVisible(spaceKey: number, nodeId: string, revision: number): Read<boolean> {
  const visible = yield* sql.get<{ one: number }>(
    `SELECT 1 one FROM nodes JOIN versions ON versions.key = nodes.version_key
     WHERE nodes.id = ? AND nodes.space_key = ? AND versions.from_revision <= ?
       AND (versions.until_revision IS NULL OR versions.until_revision > ?)`,
    [nodeId, spaceKey, revision, revision],
  )
  return visible !== undefined
}
