import { holdsTime } from '../../storage/formats.js'
import { type Read, sql, type Write } from '../../storage/program.js'
import { loosen } from '../objects.js'

/** A row that references the bytes of a file. */
export interface NamedBytes {
  key: number
  object_key: string
  tenant: string
}

/** The tables of files that agents wrote: those of workspaces, and those of snapshots. */
export type FileTable = 'workspace_files' | 'snapshot_files'

export interface EndedFile extends NamedBytes {
  space_key: number
  until_at: number
}

/** SQL: the tenant of a row's space. */
const TENANT = "coalesce((SELECT tenant FROM spaces WHERE spaces.key = space_key), '') tenant"

/** Files that were removed, or versions that were overwritten, the longest ago first. */
export function* endedFiles(removed: 0 | 1, most: number): Read<EndedFile[]> {
  return yield* sql.all<EndedFile>(
    `SELECT key, space_key, object_key, until_at, ${TENANT} FROM workspace_files INDEXED BY workspace_files_ended
       WHERE until_seq IS NOT NULL AND removed = ? AND ${holdsTime('until_at')} ORDER BY until_at LIMIT ?`,
    [removed, most],
  )
}

export interface DeletedSnapshot {
  tenant: string
  id: string
  files: NamedBytes[]
}

/** A deleted snapshot with some of its files. */
export function* deletedSnapshot(most: number): Read<DeletedSnapshot | undefined> {
  const deleted = yield* sql.get<Omit<DeletedSnapshot, 'files'>>(
    `SELECT tenant, id FROM workspace_snapshots WHERE ${holdsTime('deleted_at')} ORDER BY deleted_at LIMIT 1`,
  )
  if (deleted === undefined) return undefined
  const files = yield* sql.all<NamedBytes>(
    'SELECT key, object_key, tenant FROM snapshot_files WHERE tenant = ? AND snapshot_id = ? LIMIT ?',
    [deleted.tenant, deleted.id, most],
  )
  return { ...deleted, files }
}

/** Removes a deleted snapshot without files. */
export function* removeSnapshot({ tenant, id }: Omit<DeletedSnapshot, 'files'>): Write<void> {
  yield* sql.run('DELETE FROM snapshot_queries WHERE tenant = ? AND snapshot_id = ?', [tenant, id])
  yield* sql.run('DELETE FROM workspace_snapshots WHERE tenant = ? AND id = ? AND deleted_at IS NOT NULL', [tenant, id])
}

/** Some files that a space's agents wrote, of one table. */
export function* filesOfSpace(
  spaceKey: number,
  most: number,
): Read<{ table: FileTable; files: NamedBytes[] } | undefined> {
  for (const table of ['workspace_files', 'snapshot_files'] as const) {
    const files = yield* sql.all<NamedBytes>(
      `SELECT key, object_key, ${TENANT} FROM ${table} WHERE space_key = ? LIMIT ?`,
      [spaceKey, most],
    )
    if (files.length > 0) return { table, files }
  }
  return undefined
}

export function* removeFiles(table: FileTable, files: readonly NamedBytes[]): Write<void> {
  yield* sql.runEach(
    `DELETE FROM ${table} WHERE key = ?`,
    files.map(({ key }) => [key]),
  )
  const keys = new Map<string, string[]>()
  for (const { tenant, object_key } of files) keys.set(tenant, [...(keys.get(tenant) ?? []), object_key])
  for (const [tenant, ofTenant] of keys) yield* loosen(tenant, ofTenant, Date.now())
}
