import type { EngineContext } from '../context.js'
import { removeUnreferenced } from '../documents/delete.js'
import { spaceByKey } from '../rows/spaces.js'
import {
  type ByteTable,
  deletedSnapshot,
  deleteRows,
  deleteSnapshotRow,
  endedVersions,
  type NamedBytes,
  namedBytesOf,
} from '../rows/workspace-changes.js'
import { policiesOf } from '../spaces/manifest.js'
import type { Read } from '../storage/program.js'

const ROWS = 200

/** Removes some files that nobody can be shown any more, first their rows and then bytes that nothing else names. */
export async function purgeWorkspaces(context: EngineContext): Promise<boolean> {
  return (await purgeFiles(context)) || (await purgeSnapshot(context))
}

async function purgeFiles(context: EngineContext): Promise<boolean> {
  const rows = await context.db.read(overVersions(context.now()))
  if (rows.length === 0) return false
  await forget(context, 'workspace_files', rows)
  return true
}

/** Versions that nobody can be shown: removed ones, and behind them those whose listings are over. */
function* overVersions(now: number): Read<NamedBytes[]> {
  const removed = yield* endedVersions(true, ROWS)
  if (removed.length > 0) return removed
  const over: NamedBytes[] = []
  for (const row of yield* endedVersions(false, ROWS)) if (yield* isOver(row, now)) over.push(row)
  return over
}

/** A listing that goes on page by page may still show a version that was overwritten. */
function* isOver(row: { space_key: number; until_at: number }, now: number): Read<boolean> {
  const space = yield* spaceByKey(row.space_key)
  if (space === undefined) return true
  return row.until_at + policiesOf(space).consistencyPolicy.snapshotTtlSeconds * 1000 <= now
}

async function purgeSnapshot(context: EngineContext): Promise<boolean> {
  const { db } = context
  const deleted = await db.read(deletedSnapshot(ROWS))
  if (deleted === undefined) return false
  await forget(context, 'snapshot_files', deleted.files)
  if (deleted.files.length < ROWS) await db.write(() => deleteSnapshotRow(deleted.id))
  return true
}

/** A slice of all that a deleted space's agents wrote. @returns whether there may be more */
export async function purgeWorkspacesOf(context: EngineContext, spaceKey: number): Promise<boolean> {
  const { db } = context
  for (const table of ['workspace_files', 'snapshot_files'] as const) {
    const rows = await db.read(namedBytesOf(table, spaceKey, ROWS))
    if (rows.length === 0) continue
    await forget(context, table, rows)
    return true
  }
  return false
}

async function forget(context: EngineContext, table: ByteTable, rows: readonly NamedBytes[]): Promise<void> {
  if (rows.length === 0) return
  await context.db.write(() => deleteRows(table, rows))
  for (const key of new Set(rows.map((row) => row.object_key))) await removeUnreferenced(context, key)
}
