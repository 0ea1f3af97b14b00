import { asTenant } from '../../base/tenant-scope.js'
import { type EngineContext, removeUnreferenced } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import {
  type EndedFileRow,
  type FileBytesRow,
  type FileTable,
  findDeletedSnapshot,
  listEndedFiles,
  listSpaceFiles,
  removeFileRows,
  removeSnapshot,
} from '../rows/purge/workspaces.js'
import { getSnapshotTtlMs } from './snapshot-time.js'

const ROWS_PER_SLICE = 200

/**
 * Removes some files that no read can show any more: first their rows, then bytes without other references. @returns
 * whether there may be more
 */
export async function purgeWorkspaces(context: EngineContext): Promise<boolean> {
  return (await purgeFiles(context)) || (await purgeSnapshot(context))
}

async function purgeFiles(context: EngineContext): Promise<boolean> {
  const files = await context.db.read(listFilesToPurge(context.now()))
  if (files.length === 0) return false
  await removeFileSlice(context, 'workspace_files', files)
  return true
}

function* listFilesToPurge(now: number): Read<EndedFileRow[]> {
  const removed = yield* listEndedFiles(1, ROWS_PER_SLICE)
  if (removed.length > 0) return removed
  const expired: EndedFileRow[] = []
  // a paged listing may still show an overwritten version
  for (const file of yield* listEndedFiles(0, ROWS_PER_SLICE))
    if (file.until_at + (yield* getSnapshotTtlMs(file.space_key)) <= now) expired.push(file)
  return expired
}

async function purgeSnapshot(context: EngineContext): Promise<boolean> {
  const { db } = context
  const deleted = await db.read(findDeletedSnapshot(ROWS_PER_SLICE))
  if (deleted === undefined) return false
  await removeFileSlice(context, 'snapshot_files', deleted.files)
  if (deleted.files.length < ROWS_PER_SLICE) await db.write(() => removeSnapshot(deleted))
  return true
}

/** Removes a slice of the workspace files and snapshots of a deleted space. @returns whether there may be more */
export async function purgeSpaceWorkspaces(context: EngineContext, spaceKey: number): Promise<boolean> {
  const slice = await context.db.read(listSpaceFiles(spaceKey, ROWS_PER_SLICE))
  if (slice === undefined) return false
  await removeFileSlice(context, slice.table, slice.files)
  return true
}

async function removeFileSlice(
  context: EngineContext,
  table: FileTable,
  files: readonly FileBytesRow[],
): Promise<void> {
  if (files.length === 0) return
  await context.db.write(() => removeFileRows(table, files))
  for (const tenant of new Set(files.map((file) => file.tenant))) {
    const tenantFiles = files.filter((file) => file.tenant === tenant)
    const keys = tenantFiles.map((file) => file.object_key)
    await asTenant(tenant, () => removeUnreferenced(context, tenant, keys))
  }
}
