import { setImmediate as turn } from 'node:timers/promises'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { deleteDocuments } from '../documents/delete.js'
import { keptScope } from '../rows/permissions.js'
import { findSource } from '../rows/sources.js'
import { findSpace } from '../rows/spaces.js'
import { sql } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

/** Documents of one step, so that the event loop is held for milliseconds. */
const STEP = 200

/** Hides a source from every read and every upload; its documents follow. @returns once that is durable */
export function hideSource(
  { db, now }: EngineContext,
  caller: Caller,
  spaceId: string,
  id: string,
  documents: 'cascade' | 'keep',
): Promise<void> {
  return writeAnswer(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    yield* findSource(caller, space, id)
    yield* sql.run(
      `UPDATE sources SET deleted_at = ?, deletes_documents = ?, credentials = NULL, sync_started_at = NULL,
         next_sync_at = NULL, version = version + 1, updated_at = ? WHERE tenant = ? AND id = ?`,
      [now(), documents === 'cascade' ? 1 : 0, now(), space.tenant, id],
    )
  })
}

interface Hidden {
  id: string
  tenant: string
  space_key: number
  space_id: string
  deletes_documents: number
}

/** Deletes or lets go the documents of hidden sources, then the sources. Whatever was cut off is taken up by the next call. */
export async function finishDeletions(context: EngineContext, signal: AbortSignal): Promise<void> {
  const hidden = context.db.now(
    sql.all<Hidden>(
      `SELECT sources.id, sources.tenant, space_key, spaces.id space_id, deletes_documents FROM sources
     JOIN spaces ON spaces.key = space_key WHERE sources.deleted_at IS NOT NULL AND spaces.deleted_at IS NULL`,
    ),
  )
  for (const source of hidden) {
    while (!signal.aborted && (await releaseSome(context, source))) await turn()
    if (signal.aborted) return
    await context.db.write(() =>
      sql.run('DELETE FROM sources WHERE tenant = ? AND id = ? AND deleted_at IS NOT NULL', [source.tenant, source.id]),
    )
  }
}

/** @returns whether there may be more */
async function releaseSome(context: EngineContext, source: Hidden): Promise<boolean> {
  const { db } = context
  const rows = db.now(
    sql.all<{ key: number; id: string }>(
      'SELECT key, id FROM documents WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL LIMIT ?',
      [source.space_key, source.id, STEP],
    ),
  )
  if (rows.length === 0) return false
  if (source.deletes_documents === 1) {
    const caller: Caller = { tenant: source.tenant, subject: 'source-deletion', isDaemon: true }
    await deleteDocuments(
      context,
      caller,
      source.space_id,
      rows.map(({ id }) => id),
    )
  } else {
    await db.write(function* () {
      const scope = yield* keptScope(source.id)
      for (const { key } of rows) yield* sql.run('UPDATE documents SET source_id = ? WHERE key = ?', [scope, key])
    })
  }
  return true
}
