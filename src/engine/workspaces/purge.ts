import type { EngineContext } from '../context.js'
import { removeUnreferenced } from '../documents/delete.js'
import { spaceByKey } from '../rows/spaces.js'
import { policiesOf } from '../spaces/manifest.js'
import { type Read, sql } from '../storage/program.js'

const ROWS = 200

interface Ended {
  key: number
  space_key: number
  object_key: string
  until_at: number
}

/** Removes some files that nobody can be shown any more, first their rows and then bytes that nothing else names. */
export async function purgeWorkspaces(context: EngineContext): Promise<boolean> {
  return (await purgeFiles(context)) || (await purgeSnapshot(context))
}

async function purgeFiles(context: EngineContext): Promise<boolean> {
  const { db, now } = context
  function* ended(removed: 0 | 1) {
    return yield* sql.all<Ended>(
      `SELECT key, space_key, object_key, until_at FROM workspace_files INDEXED BY workspace_files_ended
       WHERE until_seq IS NOT NULL AND removed = ? ORDER BY until_at LIMIT ?`,
      [removed, ROWS],
    )
  }
  const removed = db.now(ended(1))
  const rows = removed.length > 0 ? removed : db.now(ended(0)).filter((row) => context.db.now(isOver(row, now())))
  if (rows.length === 0) return false
  await forget(context, 'workspace_files', rows)
  return true
}

/** A listing that goes on page by page may still show a version that was overwritten. */
function* isOver(row: Ended, now: number): Read<boolean> {
  const space = yield* spaceByKey(row.space_key)
  if (space === undefined) return true
  return row.until_at + policiesOf(space).consistencyPolicy.snapshotTtlSeconds * 1000 <= now
}

async function purgeSnapshot(context: EngineContext): Promise<boolean> {
  const { db } = context
  const deleted = db.now(
    sql.get<{ id: string }>(
      'SELECT id FROM workspace_snapshots WHERE deleted_at IS NOT NULL ORDER BY deleted_at LIMIT 1',
    ),
  )
  if (deleted === undefined) return false
  const files = db.now(
    sql.all<{ key: number; object_key: string }>(
      'SELECT key, object_key FROM snapshot_files WHERE snapshot_id = ? LIMIT ?',
      [deleted.id, ROWS],
    ),
  )
  await forget(context, 'snapshot_files', files)
  if (files.length < ROWS)
    await db.write(function* () {
      yield* sql.run('DELETE FROM snapshot_queries WHERE snapshot_id = ?', [deleted.id])
      yield* sql.run('DELETE FROM workspace_snapshots WHERE id = ? AND deleted_at IS NOT NULL', [deleted.id])
    })
  return true
}

/** A slice of all that a deleted space's agents wrote. @returns whether there may be more */
export async function purgeWorkspacesOf(context: EngineContext, spaceKey: number): Promise<boolean> {
  const { db } = context
  for (const table of ['workspace_files', 'snapshot_files'] as const) {
    const rows = db.now(
      sql.all<{ key: number; object_key: string }>(`SELECT key, object_key FROM ${table} WHERE space_key = ? LIMIT ?`, [
        spaceKey,
        ROWS,
      ]),
    )
    if (rows.length === 0) continue
    await forget(context, table, rows)
    return true
  }
  return false
}

async function forget(
  context: EngineContext,
  table: 'workspace_files' | 'snapshot_files',
  rows: readonly { key: number; object_key: string }[],
): Promise<void> {
  if (rows.length === 0) return
  const { db } = context
  await db.write(function* () {
    for (const { key } of rows) yield* sql.run(`DELETE FROM ${table} WHERE key = ?`, [key])
  })
  for (const key of new Set(rows.map((row) => row.object_key))) await removeUnreferenced(context, key)
}
