import { LIMITS } from '../../contract/limits.js'
import { sql, type Write } from '../storage/program.js'
import { subtreeOf, type WorkspaceFile } from './workspaces.js'

/** When the workspaces of a space change, and the number of the change. */
export interface ChangeAt {
  spaceKey: number
  seq: number
  now: number
}

/** Lets a version of a file end, so that a snapshot-consistent listing under way still shows it. */
export function* endVersion(key: number, at: ChangeAt): Write<void> {
  yield* sql.run('UPDATE workspace_files SET until_seq = ?, until_at = ? WHERE key = ?', [at.seq, at.now, key])
}

/** Writes a version of a file, created at `created_at` and updated now. */
export function* insertVersion(at: ChangeAt, file: Omit<WorkspaceFile, 'key' | 'updated_at'>): Write<void> {
  yield* sql.run(
    `INSERT INTO workspace_files (id, space_key, folder, base, object_key, sha256, size_bytes, content_type, version,
       subject, created_at, updated_at, from_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      file.id,
      at.spaceKey,
      file.folder,
      file.base,
      file.object_key,
      file.sha256,
      file.size_bytes,
      file.content_type,
      file.version,
      file.subject,
      file.created_at,
      at.now,
      at.seq,
    ],
  )
}

/** Overwritten versions are kept for listings under way; past their bound the oldest are given up. */
export function* forgetOld(spaceKey: number): Write<void> {
  const old =
    (yield* sql.get<{ bytes: number }>(
      `SELECT coalesce(sum(size_bytes), 0) bytes FROM workspace_files INDEXED BY workspace_files_old
       WHERE space_key = ? AND until_seq IS NOT NULL AND removed = 0`,
      [spaceKey],
    ))?.bytes ?? 0
  if (old <= LIMITS.workspaceHistoryBytes) return
  yield* sql.run(
    `UPDATE workspace_files SET removed = 1 WHERE key IN (SELECT key FROM (
       SELECT key, sum(size_bytes) OVER (ORDER BY until_at, key) - size_bytes before FROM workspace_files
       WHERE space_key = ? AND until_seq IS NOT NULL AND removed = 0) WHERE before < ?)`,
    [spaceKey, old - LIMITS.workspaceHistoryBytes],
  )
}

/** A file of this row to a place, or all that stands in a folder or below to another folder. */
export type Move = { one: number; folder: string; base: string } | { source: string; target: string }

/**
 * The old rows end, so that a snapshot-consistent listing under way still shows them; new ones begin.
 * @returns how many files moved
 */
export function* moveRows(at: ChangeAt, move: Move): Write<number> {
  const where = 'one' in move ? 'key = ?' : 'space_key = ? AND folder >= ? AND folder < ?'
  const { first, past } = 'one' in move ? { first: '', past: '' } : subtreeOf(move.source)
  const which = 'one' in move ? [move.one] : [at.spaceKey, first, past]
  const place = 'one' in move ? '?, ?' : '? || substr(folder, ?), base'
  const placed = 'one' in move ? [move.folder, move.base] : [move.target, [...move.source].length + 1]
  yield* sql.run(
    `INSERT INTO workspace_files (id, space_key, folder, base, object_key, sha256, size_bytes, content_type, version,
       subject, created_at, updated_at, from_seq)
     SELECT id, space_key, ${place}, object_key, sha256, size_bytes, content_type, version, subject, created_at,
       updated_at, ? FROM workspace_files WHERE ${where} AND until_seq IS NULL`,
    [...placed, at.seq, ...which],
  )
  const { changes } = yield* sql.run(
    `UPDATE workspace_files SET until_seq = ?, until_at = ? WHERE ${where} AND until_seq IS NULL`,
    [at.seq, at.now, ...which],
  )
  yield* forgetOld(at.spaceKey)
  return changes
}

/** Removes a file, or what stands in a folder or below, with all its versions: no read shows them any more. */
export function* removeRows(at: ChangeAt, which: { folder: string; base: string } | { tree: string }): Write<void> {
  const { first, past } = 'tree' in which ? subtreeOf(which.tree) : { first: which.folder, past: which.base }
  const where = 'tree' in which ? 'folder >= ? AND folder < ?' : 'folder = ? AND base = ?'
  yield* sql.run(
    `UPDATE workspace_files SET removed = 1, until_seq = coalesce(until_seq, ?), until_at = coalesce(until_at, ?)
       WHERE id IN (SELECT id FROM workspace_files WHERE space_key = ? AND until_seq IS NULL AND ${where})`,
    [at.seq, at.now, at.spaceKey, first, past],
  )
}
