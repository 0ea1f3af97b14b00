import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { FOLDER_END, getFolderUpperBound } from '../../base/folders.js'
import { joinVirtualPath } from '../../base/virtual-paths.js'
import { type Read, sql, type Write } from '../program.js'

/** A version of a file in listings. */
export interface WorkspaceFile {
  key: number
  id: string
  folder: string
  base: string
  object_key: string
  sha256: string
  size_bytes: number
  content_type: string
  version: number
  subject: string
  created_at: number
  updated_at: number
}

const COLUMNS = `key, id, folder, base, object_key, sha256, size_bytes, content_type, version, subject, created_at,
  updated_at`

/** Position of a file within the workspaces of a space. */
export type WorkspaceFilePosition = readonly [folder: string, base: string]

export function toFolder(segments: readonly string[]): string {
  return segments.map((part) => part + FOLDER_END).join('')
}

/** Bounds of a folder with its content, the upper one exclusive. */
export function getSubtreeBounds(folder: string): { first: string; past: string } {
  return { first: folder, past: getFolderUpperBound(folder) }
}

export function toSegments({ folder, base }: Pick<WorkspaceFile, 'folder' | 'base'>): string[] {
  return [...folder.split(FOLDER_END).slice(0, -1), base]
}

/** Number of the last change in the workspaces of a space. */
export function* getLastWorkspaceChange(spaceKey: number): Read<number> {
  return (
    (yield* sql.get<{ seq: number }>('SELECT seq FROM workspace_changes WHERE space_key = ?', [spaceKey]))?.seq ?? 0
  )
}

/** Counts a new change, inside the caller's transaction. @returns its number */
export function* addWorkspaceChange(spaceKey: number): Write<number> {
  yield* sql.run(
    `INSERT INTO workspace_changes (space_key, seq) VALUES (?, 1) ON CONFLICT (space_key) DO UPDATE SET seq = seq + 1`,
    [spaceKey],
  )
  return yield* getLastWorkspaceChange(spaceKey)
}

/** Files as of a change, between two positions, both exclusive. */
export function* listWorkspaceFiles(
  asOf: { spaceKey: number; seq: number },
  range: { after: WorkspaceFilePosition; before: WorkspaceFilePosition },
  limit: number,
): Read<WorkspaceFile[]> {
  return yield* sql.all<WorkspaceFile>(
    `SELECT ${COLUMNS} FROM workspace_files INDEXED BY workspace_files_place
     WHERE space_key = ? AND removed = 0 AND from_seq <= ? AND (until_seq IS NULL OR until_seq > ?)
       AND (folder, base) > (?, ?) AND (folder, base) < (?, ?)
     ORDER BY folder, base LIMIT +?`,
    [asOf.spaceKey, asOf.seq, asOf.seq, ...range.after, ...range.before, limit],
  )
}

export function* findFileAsOf(
  asOf: { spaceKey: number; seq: number },
  folder: string,
  base: string,
): Read<WorkspaceFile | undefined> {
  return yield* sql.get<WorkspaceFile>(
    `SELECT ${COLUMNS} FROM workspace_files INDEXED BY workspace_files_place
     WHERE space_key = ? AND folder = ? AND base = ? AND removed = 0 AND from_seq <= ?
       AND (until_seq IS NULL OR until_seq > ?)`,
    [asOf.spaceKey, folder, base, asOf.seq, asOf.seq],
  )
}

/** The current file with a name. */
export function* findLiveFile(spaceKey: number, folder: string, base: string): Read<WorkspaceFile | undefined> {
  return yield* sql.get<WorkspaceFile>(
    `SELECT ${COLUMNS} FROM workspace_files WHERE space_key = ? AND folder = ? AND base = ? AND until_seq IS NULL`,
    [spaceKey, folder, base],
  )
}

/** Size of the current content of a folder. */
export function* getFolderSize(
  spaceKey: number,
  folder: string,
): Read<{ files: number; bytes: number; longest: number }> {
  const { first, past } = getSubtreeBounds(folder)
  const sum = yield* sql.get<{ files: number; bytes: number; longest: number }>(
    `SELECT count(*) files, coalesce(sum(size_bytes), 0) bytes,
       coalesce(max(octet_length(folder) + octet_length(base)), 0) longest
     FROM workspace_files WHERE space_key = ? AND until_seq IS NULL AND folder >= ? AND folder < ?`,
    [spaceKey, first, past],
  )
  return sum ?? { files: 0, bytes: 0, longest: 0 }
}

/** The position of a row that a cursor refers to, visible or not. */
export function* findFilePosition(spaceKey: number, key: number): Read<WorkspaceFilePosition | undefined> {
  const row = yield* sql.get<{ folder: string; base: string }>(
    'SELECT folder, base FROM workspace_files WHERE space_key = ? AND key = ?',
    [spaceKey, key],
  )
  return row === undefined ? undefined : [row.folder, row.base]
}

/** SQL: whether a file or a snapshot references an object. @param key SQL expression of the object's key */
export function sqlIsReferencedByWorkspace(key: string): string {
  return `EXISTS (SELECT 1 FROM workspace_files WHERE object_key = ${key})
  OR EXISTS (SELECT 1 FROM snapshot_files WHERE object_key = ${key})`
}

export function toFileItem(row: WorkspaceFile): VirtualItem {
  const segments = toSegments(row)
  return {
    kind: 'resource',
    name: row.base,
    path: joinVirtualPath('workspaces', segments),
    metadata: {
      sizeBytes: row.size_bytes,
      sha256: row.sha256,
      contentType: row.content_type,
      createdAt: new Date(row.created_at).toISOString(),
      updatedAt: new Date(row.updated_at).toISOString(),
      updatedBy: row.subject,
    },
    resourceType: 'workspace',
    targetId: row.id,
    version: row.version,
  }
}

export function toFolderItem(folder: string): VirtualItem {
  const segments = folder.split(FOLDER_END).slice(0, -1)
  return {
    kind: 'directory',
    name: segments[segments.length - 1] ?? 'workspaces',
    path: joinVirtualPath('workspaces', segments),
    metadata: {},
    ...(segments.length === 0 ? {} : { resourceType: 'workspace' }),
  }
}

/** Number of current files in the workspaces of a space, and their bytes. */
export function* getWorkspacesSize(spaceKey: number): Read<{ files: number; bytes: number }> {
  const size = yield* sql.get<{ files: number; bytes: number }>(
    `SELECT count(*) files, coalesce(sum(size_bytes), 0) bytes FROM workspace_files INDEXED BY workspace_files_size
     WHERE space_key = ? AND until_seq IS NULL`,
    [spaceKey],
  )
  return size ?? { files: 0, bytes: 0 }
}

/** Number of snapshots of a space, and the bytes of their files. */
export function* getSnapshotsSize(spaceKey: number): Read<{ count: number; bytes: number }> {
  const size = yield* sql.get<{ count: number; bytes: number }>(
    `SELECT count(*) count, coalesce(sum(total_bytes), 0) bytes FROM workspace_snapshots
     WHERE space_key = ? AND deleted_at IS NULL`,
    [spaceKey],
  )
  return size ?? { count: 0, bytes: 0 }
}

/** Number of current files in workspaces, and bytes of these and of all files in snapshots. */
export function* getWorkspaceUsage(spaceKey: number): Read<{ workspaceFileCount: number; workspaceBytes: number }> {
  const { files, bytes } = yield* getWorkspacesSize(spaceKey)
  const frozen = yield* getSnapshotsSize(spaceKey)
  return { workspaceFileCount: files, workspaceBytes: bytes + frozen.bytes }
}
