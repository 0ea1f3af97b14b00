import type { RecordSkippedFilesBody, SkippedFile } from '../../../contract/gateway/documents.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { toStoredName } from '../../base/file-names.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { findSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import {
  insertSkippedFiles,
  listRecordedSkips,
  listUnreadableDocuments,
  removeSkippedFiles,
} from '../rows/skipped-files.js'

/**
 * Lists the files of a space that are no documents, by name: those that clients skipped, and those that were received and
 * could not be read. A file leaves the list when it is received again, or when its client no longer skips it.
 */
export function* listSkippedFiles(
  caller: Caller,
  spaceId: string,
  { limit, after = '' }: { limit: number; after?: string | undefined },
): Read<{ items: SkippedFile[]; nextAfter?: string }> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const recorded = (yield* listRecordedSkips(space.key, after, limit + 1)).map(
    ({ filename, reason, size_bytes: size, created_at: at }): SkippedFile => ({
      filename,
      reason,
      ...omitUndefined({ sizeBytes: size ?? undefined }),
      skippedAt: new Date(at).toISOString(),
    }),
  )
  const unreadable = (yield* listUnreadableDocuments(caller, space.key, after, limit + 1)).map(
    ({ id, filename, error, size_bytes: sizeBytes, updated_at: at }): SkippedFile => ({
      filename,
      reason: error,
      sizeBytes,
      documentId: id,
      skippedAt: new Date(at).toISOString(),
    }),
  )
  const received = new Set(unreadable.map(({ filename }) => filename))
  const unsent = recorded.filter(({ filename }) => !received.has(filename))
  const all = [...unsent, ...unreadable].sort((a, b) => (a.filename < b.filename ? -1 : 1))
  const items = all.slice(0, limit)
  const last = items.at(-1)
  return { items, ...(all.length > limit && last !== undefined ? { nextAfter: last.filename } : {}) }
}

export function recordSkippedFiles(
  db: Driver,
  caller: Caller,
  spaceId: string,
  body: RecordSkippedFilesBody,
): Promise<{ recorded: number; forgotten: number }> {
  return writeReply(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    const forgotten = yield* removeSkippedFiles(space.key, body.forget.map(toStoredName))
    yield* insertSkippedFiles(
      space.key,
      body.files.map(({ filename, reason, sizeBytes }) => ({
        filename: toStoredName(filename),
        reason,
        sizeBytes: sizeBytes ?? null,
      })),
    )
    return { recorded: body.files.length, forgotten }
  })
}
