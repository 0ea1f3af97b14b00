import { asTenant } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { removeUnreferenced } from '../objects/remove.js'
import {
  deletedSnapshot,
  type EndedFile,
  endedFiles,
  type FileTable,
  filesOfSpace,
  type NamedBytes,
  removeFiles,
  removeSnapshot,
} from '../rows/purge/workspaces.js'
import type { Read } from '../storage/program.js'
import { snapshotTime } from './snapshot-time.js'

const ROWS = 200

/**
 * Removes some files that no read can show any more: first their rows, then bytes without other references. @returns
 * whether there may be more
 */
export async function purgeWorkspaces(context: EngineContext): Promise<boolean> {
  return (await purgeFiles(context)) || (await purgeSnapshot(context))
}

async function purgeFiles(context: EngineContext): Promise<boolean> {
  const files = await context.db.read(filesToPurge(context.now()))
  if (files.length === 0) return false
  await forget(context, 'workspace_files', files)
  return true
}

function* filesToPurge(now: number): Read<EndedFile[]> {
  const removed = yield* endedFiles(1, ROWS)
  if (removed.length > 0) return removed
  const over: EndedFile[] = []
  // a paged listing may still show an overwritten version
  for (const file of yield* endedFiles(0, ROWS))
    if (file.until_at + (yield* snapshotTime(file.space_key)) <= now) over.push(file)
  return over
}

async function purgeSnapshot(context: EngineContext): Promise<boolean> {
  const { db } = context
  const deleted = await db.read(deletedSnapshot(ROWS))
  if (deleted === undefined) return false
  await forget(context, 'snapshot_files', deleted.files)
  if (deleted.files.length < ROWS) await db.write(() => removeSnapshot(deleted))
  return true
}

/** Removes a slice of the workspace files and snapshots of a deleted space. @returns whether there may be more */
export async function purgeWorkspacesOf(context: EngineContext, spaceKey: number): Promise<boolean> {
  const some = await context.db.read(filesOfSpace(spaceKey, ROWS))
  if (some === undefined) return false
  await forget(context, some.table, some.files)
  return true
}

async function forget(context: EngineContext, table: FileTable, files: readonly NamedBytes[]): Promise<void> {
  if (files.length === 0) return
  await context.db.write(() => removeFiles(table, files))
  for (const tenant of new Set(files.map((file) => file.tenant))) {
    const ours = files.filter((file) => file.tenant === tenant)
    const keys = ours.map((file) => file.object_key)
    await asTenant(tenant, () => removeUnreferenced(context, tenant, keys))
  }
}
