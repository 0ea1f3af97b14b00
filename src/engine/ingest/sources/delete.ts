import { setImmediate as turn } from 'node:timers/promises'
import type { Caller } from '../../base/caller.js'
import { asDeployment, asTenant } from '../../base/tenant-scope.js'
import { deleteDocuments, type EngineContext } from '../../library/index.js'
import { createRetainedScope } from '../../store/rows/permissions.js'
import {
  findSource,
  type HiddenSource,
  hideSource,
  listHiddenSources,
  removeHiddenSource,
} from '../../store/rows/sources.js'
import { findSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import { listSourceDocuments, setDocumentSource } from '../rows/source-documents.js'

/** Documents of one step, so that the event loop is blocked only for milliseconds. */
const STEP_DOCUMENTS = 200

/**
 * Hides a source from every read and upload; its documents are deleted or released later. @returns once that is durable
 */
export function beginDeletion(
  { db, now }: EngineContext,
  caller: Caller,
  spaceId: string,
  { id, documents }: { id: string; documents: 'cascade' | 'keep' },
): Promise<void> {
  return writeReply(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    yield* hideSource(yield* findSource(caller, space, id), documents, now())
  })
}

/**
 * Deletes or releases the documents of hidden sources, then the sources. The next call continues an interrupted one.
 */
export async function finishDeletions(context: EngineContext, signal: AbortSignal): Promise<void> {
  const hidden = await asDeployment(() => context.db.read(listHiddenSources()))
  for (const source of hidden) await asTenant(source.tenant, () => finishDeletion(context, source, signal))
}

async function finishDeletion(context: EngineContext, source: HiddenSource, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await releaseSome(context, source))) await turn()
  if (!signal.aborted) await context.db.write(() => removeHiddenSource(source))
}

/** @returns whether there may be more */
async function releaseSome(context: EngineContext, source: HiddenSource): Promise<boolean> {
  const { db } = context
  const rows = await db.read(listSourceDocuments(source, STEP_DOCUMENTS))
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
      yield* setDocumentSource(rows, yield* createRetainedScope(source.id))
    })
  }
  return true
}

/** Deletes documents of a source, if there are any. */
export async function deleteIfAny(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  ids: string[],
): Promise<void> {
  if (ids.length > 0) await deleteDocuments(context, caller, spaceId, ids)
}
