import { sqlHoldsTime } from '../../../store/formats.js'
import { type Read, sql, type Write } from '../../../store/program.js'
import { markUnreferenced } from '../../../store/rows/objects.js'

/** A row that references the bytes of a file. */
export interface FileBytesRow {
  key: number
  object_key: string
  tenant: string
}

/** The tables of files that agents wrote: those of workspaces, and those of snapshots. */
export type FileTable = 'workspace_files' | 'snapshot_files'

export interface EndedFileRow extends FileBytesRow {
  space_key: number
  until_at: number
}

/** SQL: the tenant of a row's space. */
const TENANT_COLUMN = "coalesce((SELECT tenant FROM spaces WHERE spaces.key = space_key), '') tenant"

/** Files that were removed, or versions that were overwritten, the longest ago first. */
export function* listEndedFiles(removed: 0 | 1, limit: number): Read<EndedFileRow[]> {
  return yield* sql.all<EndedFileRow>(
    `SELECT key, space_key, object_key, until_at, ${TENANT_COLUMN} FROM workspace_files INDEXED BY workspace_files_ended
       WHERE until_seq IS NOT NULL AND removed = ? AND ${sqlHoldsTime('until_at')} ORDER BY until_at LIMIT ?`,
    [removed, limit],
  )
}

export interface DeletedSnapshot {
  tenant: string
  id: string
  files: FileBytesRow[]
}

/** A deleted snapshot with some of its files. */
export function* findDeletedSnapshot(limit: number): Read<DeletedSnapshot | undefined> {
  const deleted = yield* sql.get<Omit<DeletedSnapshot, 'files'>>(
    `SELECT tenant, id FROM workspace_snapshots WHERE ${sqlHoldsTime('deleted_at')} ORDER BY deleted_at LIMIT 1`,
  )
  if (deleted === undefined) return undefined
  const files = yield* sql.all<FileBytesRow>(
    'SELECT key, object_key, tenant FROM snapshot_files WHERE tenant = ? AND snapshot_id = ? LIMIT ?',
    [deleted.tenant, deleted.id, limit],
  )
  return { ...deleted, files }
}

/** Removes a deleted snapshot without files. */
export function* removeSnapshot({ tenant, id }: Omit<DeletedSnapshot, 'files'>): Write<void> {
  yield* sql.run('DELETE FROM snapshot_queries WHERE tenant = ? AND snapshot_id = ?', [tenant, id])
  yield* sql.run('DELETE FROM workspace_snapshots WHERE tenant = ? AND id = ? AND deleted_at IS NOT NULL', [tenant, id])
}

/** Some files that a space's agents wrote, of one table. */
export function* listSpaceFiles(
  spaceKey: number,
  limit: number,
): Read<{ table: FileTable; files: FileBytesRow[] } | undefined> {
  for (const table of ['workspace_files', 'snapshot_files'] as const) {
    const files = yield* sql.all<FileBytesRow>(
      `SELECT key, object_key, ${TENANT_COLUMN} FROM ${table} WHERE space_key = ? LIMIT ?`,
      [spaceKey, limit],
    )
    if (files.length > 0) return { table, files }
  }
  return undefined
}

export function* removeFileRows(table: FileTable, files: readonly FileBytesRow[]): Write<void> {
  yield* sql.runEach(
    `DELETE FROM ${table} WHERE key = ?`,
    files.map(({ key }) => [key]),
  )
  const keysByTenant = new Map<string, string[]>()
  for (const { tenant, object_key } of files)
    keysByTenant.set(tenant, [...(keysByTenant.get(tenant) ?? []), object_key])
  for (const [tenant, tenantKeys] of keysByTenant) yield* markUnreferenced(tenant, tenantKeys)
}
