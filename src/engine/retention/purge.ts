import { asTenant } from '../base/tenant-scope.js'
import type { EngineContext } from '../context.js'
import { removeUnreferenced } from '../objects/remove.js'
import { type FileRow, takeExpired } from '../rows/chat/files.js'
import { readersSince } from '../rows/held-leases.js'
import { loosen } from '../rows/objects.js'
import {
  type DeletedDocument,
  deletedDocument,
  type ObsoleteVersion,
  obsoleteVersion,
  removeSomeOfDocument,
  removeSomeOfVersion,
} from '../rows/purge/documents.js'
import { expiredSessions, hasExpiredChatFile } from '../rows/purge/sessions.js'
import {
  type DeletedSpace,
  deletedSpace,
  deleteSomeDocuments,
  removeSomeOfSpace,
  removeSpace,
} from '../rows/purge/spaces.js'
import { removeSession } from '../rows/sessions.js'
import { inSpace } from '../spaces/in-space.js'
import { giveBackPages } from '../storage/free-pages.js'
import type { Read, Write } from '../storage/program.js'
import { purgeWorkspaces, purgeWorkspacesOf } from './purge-workspaces.js'
import { snapshotTime } from './snapshot-time.js'

/** number of sessions in one transaction: it blocks the event loop for milliseconds */
const SESSIONS = 500

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
    (context.databaseFile !== undefined && (await giveBackPages(context.databaseFile)))
  )
}

/** Removes expired sessions with their questions and answers. */
async function purgeSessions({ db, now }: EngineContext): Promise<boolean> {
  const expired = await db.read(expiredSessions(now(), SESSIONS))
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
  const row = await db.write(() => takeExpiredFile(now()))
  if (row === undefined) return false
  await asTenant(row.tenant, () => removeUnreferenced(context, row.tenant, [row.object_key]))
  return true
}

function* takeExpiredFile(now: number): Write<FileRow | undefined> {
  const row = yield* takeExpired(now)
  if (row !== undefined) yield* loosen(row.tenant, [row.object_key], now)
  return row
}

async function purgeDocument(context: EngineContext): Promise<boolean> {
  const { db } = context
  const row = await db.read(documentToPurge(context))
  if (row === undefined) return false
  await asTenant(row.tenant, async () => {
    const more = await db.write(() => removeSomeOfDocument(row), { lock: row.space_key })
    if (!more) await removeUnreferenced(context, row.tenant, [row.object_key])
  })
  return true
}

function* documentToPurge(context: EngineContext): Read<DeletedDocument | undefined> {
  return yield* deletedDocument(yield* readersSince(context, Date.now()))
}

/** Removes a slice of a version beyond the retention policy's `parseArtifactVersions`. */
async function purgeVersion(context: EngineContext): Promise<boolean> {
  const { db } = context
  const row = await db.read(versionToPurge(context))
  if (row === undefined) return false
  await inSpace(db, row.space_key, () => db.write(() => removeSomeOfVersion(row), { lock: row.space_key }))
  return true
}

function* versionToPurge(context: EngineContext): Read<ObsoleteVersion | undefined> {
  const now = context.now()
  const row = yield* obsoleteVersion(yield* readersSince(context, now))
  // a paged listing may still show the publication with this version
  if (row === undefined || row.obsolete_at + (yield* snapshotTime(row.space_key)) > now) return undefined
  return row
}

/** Removes a slice of a deleted space: first its documents, then other rows, its indexes, and last its own row. */
async function purgeSpace(context: EngineContext): Promise<boolean> {
  const space = await context.db.read(deletedSpace())
  if (space === undefined) return false
  await asTenant(space.tenant, () => purgeSomeOf(context, space))
  return true
}

async function purgeSomeOf(context: EngineContext, space: DeletedSpace): Promise<void> {
  const { db, indexes } = context
  if ((await db.write(() => deleteSomeDocuments(space), { lock: space.key })) > 0) return
  if (await db.write(() => removeSomeOfSpace(space.key), { lock: space.key })) return
  if (await purgeWorkspacesOf(context, space.key)) return
  await indexes.drop(space.id)
  await db.write(() => removeSpace(space.key))
}
