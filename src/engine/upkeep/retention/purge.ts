import { readClock } from '../../base/statements.js'
import { asTenant } from '../../base/tenant-scope.js'
import { type EngineContext, removeUnreferenced, runInSpace } from '../../library/index.js'
import { releaseFreePages } from '../../store/free-pages.js'
import type { Read, Write } from '../../store/program.js'
import { type ChatFileRow, takeExpiredFile } from '../../store/rows/chat/files.js'
import { listObjectKeys } from '../../store/rows/documents.js'
import { listReadersSince } from '../../store/rows/held-leases.js'
import { markUnreferenced } from '../../store/rows/objects.js'
import { removeSession } from '../../store/rows/sessions.js'
import {
  type DeletedDocument,
  findDocumentToPurge,
  findObsoleteVersion,
  type ObsoleteVersion,
  purgeDocumentSlice,
  purgeVersionSlice,
} from '../rows/purge/documents.js'
import { hasExpiredChatFile, listExpiredSessions } from '../rows/purge/sessions.js'
import {
  type DeletedSpace,
  deleteDocumentSlice,
  findDeletedSpace,
  purgeSpaceSlice,
  removeSpaceRows,
} from '../rows/purge/spaces.js'
import { purgeSpaceWorkspaces, purgeWorkspaces } from './purge-workspaces.js'
import { getSnapshotTtlMs } from './snapshot-time.js'

/** number of sessions in one transaction: it blocks the event loop for milliseconds */
const SESSIONS_PER_SLICE = 500

/**
 * Removes some deleted or expired data: rows of documents, versions, spaces and sessions, then bytes without
 * references, then free space in the database file. Every step may be repeated.
 * @returns whether there is more to do
 */
export async function purgeSlice(context: EngineContext, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted || context.objects.isPinned()) return false
  return (
    (await purgeDocument(context)) ||
    (await purgeVersion(context)) ||
    (await purgeWorkspaces(context)) ||
    (await purgeSpace(context)) ||
    (await purgeSessions(context)) ||
    (await purgeChatFile(context)) ||
    (context.databaseFile !== undefined && (await releaseFreePages(context.databaseFile)))
  )
}

/** Removes expired sessions with their questions and answers. */
async function purgeSessions({ db, now }: EngineContext): Promise<boolean> {
  const expired = await db.read(listExpiredSessions(now(), SESSIONS_PER_SLICE))
  if (expired.length === 0) return false
  await db.write(function* () {
    for (const session of expired) yield* removeSession(session)
  })
  return true
}

/** Removes a chat file that was never sent, or whose messages are deleted. */
async function purgeChatFile(context: EngineContext): Promise<boolean> {
  const { db, now } = context
  if (!(await db.read(hasExpiredChatFile(now())))) return false
  const row = await db.write(() => takeExpiredChatFile(now()))
  if (row === undefined) return false
  await asTenant(row.tenant, () => removeUnreferenced(context, row.tenant, [row.object_key]))
  return true
}

function* takeExpiredChatFile(now: number): Write<ChatFileRow | undefined> {
  const row = yield* takeExpiredFile(now)
  if (row !== undefined) yield* markUnreferenced(row.tenant, [row.object_key])
  return row
}

async function purgeDocument(context: EngineContext): Promise<boolean> {
  const { db } = context
  const row = await db.read(getDocumentToPurge(context))
  if (row === undefined) return false
  await asTenant(row.tenant, async () => {
    const more = await db.write(() => purgeDocumentSlice(row), { lock: row.space_key })
    if (!more) await removeUnreferenced(context, row.tenant, listObjectKeys(row))
  })
  return true
}

function* getDocumentToPurge(context: EngineContext): Read<DeletedDocument | undefined> {
  return yield* findDocumentToPurge(yield* listReadersSince(context, yield* readClock()))
}

/** Removes a slice of a version beyond the retention policy's `parseArtifactVersions`. */
async function purgeVersion(context: EngineContext): Promise<boolean> {
  const { db } = context
  const row = await db.read(findVersionToPurge(context))
  if (row === undefined) return false
  await runInSpace(db, row.space_key, () => db.write(() => purgeVersionSlice(row), { lock: row.space_key }))
  return true
}

function* findVersionToPurge(context: EngineContext): Read<ObsoleteVersion | undefined> {
  const now = context.now()
  const row = yield* findObsoleteVersion(yield* listReadersSince(context, now))
  // a paged listing may still show the publication with this version
  if (row === undefined || row.obsolete_at + (yield* getSnapshotTtlMs(row.space_key)) > now) return undefined
  return row
}

/** Removes a slice of a deleted space: first its documents, then other rows, its indexes, and last its own row. */
async function purgeSpace(context: EngineContext): Promise<boolean> {
  const space = await context.db.read(findDeletedSpace())
  if (space === undefined) return false
  await asTenant(space.tenant, () => purgeSpaceStep(context, space))
  return true
}

async function purgeSpaceStep(context: EngineContext, space: DeletedSpace): Promise<void> {
  const { db, indexes } = context
  if ((await db.write(() => deleteDocumentSlice(space), { lock: space.key })) > 0) return
  if (await db.write(() => purgeSpaceSlice(space.key), { lock: space.key })) return
  if (await purgeSpaceWorkspaces(context, space.key)) return
  await indexes.drop(space.id)
  await db.write(() => removeSpaceRows(space.key))
}
