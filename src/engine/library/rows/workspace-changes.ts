import { LIMITS } from '../../../contract/limits.js'
import { sql, type Write } from '../../store/program.js'
import { getSubtreeBounds, type WorkspaceFile } from '../../store/rows/workspaces.js'

/** The space, number and time of a change in workspaces. */
export interface WorkspaceChange {
  spaceKey: number
  seq: number
  now: number
}

/** Ends a version of a file; a running snapshot-consistent listing still shows it. */
export function* endFileVersion(key: number, change: WorkspaceChange): Write<void> {
  yield* sql.run('UPDATE workspace_files SET until_seq = ?, until_at = ? WHERE key = ?', [change.seq, change.now, key])
}

/** Inserts a version of a file, created at `created_at` and updated now. */
export function* insertFileVersion(
  change: WorkspaceChange,
  file: Omit<WorkspaceFile, 'key' | 'updated_at'>,
): Write<void> {
  yield* sql.run(
    `INSERT INTO workspace_files (id, space_key, folder, base, object_key, sha256, size_bytes, content_type, version,
       subject, created_at, updated_at, from_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      file.id,
      change.spaceKey,
      file.folder,
      file.base,
      file.object_key,
      file.sha256,
      file.size_bytes,
      file.content_type,
      file.version,
      file.subject,
      file.created_at,
      change.now,
      change.seq,
    ],
  )
}

/**
 * Marks the oldest overwritten versions for removal once they exceed their limit; they are kept for running listings.
 */
export function* trimFileHistory(spaceKey: number): Write<void> {
  const historyBytes =
    (yield* sql.get<{ bytes: number }>(
      `SELECT coalesce(sum(size_bytes), 0) bytes FROM workspace_files INDEXED BY workspace_files_old
       WHERE space_key = ? AND until_seq IS NOT NULL AND removed = 0`,
      [spaceKey],
    ))?.bytes ?? 0
  if (historyBytes <= LIMITS.workspaceHistoryBytes) return
  yield* sql.run(
    `UPDATE workspace_files SET removed = 1 WHERE key IN (SELECT key FROM (
       SELECT key, sum(size_bytes) OVER (ORDER BY until_at, key) - size_bytes before FROM workspace_files
       WHERE space_key = ? AND until_seq IS NOT NULL AND removed = 0) WHERE before < ?)`,
    [spaceKey, historyBytes - LIMITS.workspaceHistoryBytes],
  )
}

/** A move of one file (by row key) to a location, or of a folder with its content to another folder. */
export type WorkspaceFileMove = { one: number; folder: string; base: string } | { source: string; target: string }

/**
 * Ends the old rows, so that a running snapshot-consistent listing still shows them, and inserts new ones.
 * @returns number of moved files
 */
export function* moveFileRows(change: WorkspaceChange, move: WorkspaceFileMove): Write<number> {
  const where = 'one' in move ? 'key = ?' : 'space_key = ? AND folder >= ? AND folder < ?'
  const { first, past } = 'one' in move ? { first: '', past: '' } : getSubtreeBounds(move.source)
  const selection = 'one' in move ? [move.one] : [change.spaceKey, first, past]
  const location = 'one' in move ? '?, ?' : '? || substr(folder, ?), base'
  const locationValues = 'one' in move ? [move.folder, move.base] : [move.target, [...move.source].length + 1]
  yield* sql.run(
    `INSERT INTO workspace_files (id, space_key, folder, base, object_key, sha256, size_bytes, content_type, version,
       subject, created_at, updated_at, from_seq)
     SELECT id, space_key, ${location}, object_key, sha256, size_bytes, content_type, version, subject, created_at,
       updated_at, ? FROM workspace_files WHERE ${where} AND until_seq IS NULL`,
    [...locationValues, change.seq, ...selection],
  )
  const { changes } = yield* sql.run(
    `UPDATE workspace_files SET until_seq = ?, until_at = ? WHERE ${where} AND until_seq IS NULL`,
    [change.seq, change.now, ...selection],
  )
  yield* trimFileHistory(change.spaceKey)
  return changes
}

/** Removes a file, or a folder with its content, with all versions: no read shows them any more. */
export function* removeFileVersions(
  change: WorkspaceChange,
  target: { folder: string; base: string } | { tree: string },
): Write<void> {
  const { first, past } = 'tree' in target ? getSubtreeBounds(target.tree) : { first: target.folder, past: target.base }
  const where = 'tree' in target ? 'folder >= ? AND folder < ?' : 'folder = ? AND base = ?'
  yield* sql.run(
    `UPDATE workspace_files SET removed = 1, until_seq = coalesce(until_seq, ?), until_at = coalesce(until_at, ?)
       WHERE id IN (SELECT id FROM workspace_files WHERE space_key = ? AND until_seq IS NULL AND ${where})`,
    [change.seq, change.now, change.spaceKey, first, past],
  )
}
