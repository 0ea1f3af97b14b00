import type { KnowledgeSpaceStatus } from '../../contract/gateway/space-status.js'
import type { Caller } from '../base/caller.js'
import { deniedSources } from '../rows/permissions.js'
import type { SpaceRow } from '../rows/spaces.js'
import { missingOf, waitOf } from '../rows/vectors-due.js'
import { type Read, sql } from '../storage/program.js'

type MissingVectors = NonNullable<KnowledgeSpaceStatus['index']['missingVectors']>

/**
 * Which published passages of a space have no vector yet, and what its provider said last. Documents of sources that the
 * caller may not read are counted and not named.
 *
 * @param sample documents that are named at most
 */
export function* missingVectors(
  space: SpaceRow,
  caller: Caller,
  sample: number,
): Read<{ missingVectors?: MissingVectors }> {
  const { due, refused } = yield* missingOf(space.key)
  const wait = yield* waitOf(space.key)
  if (due + refused === 0) return {}
  const documents = yield* sql.all<{ id: string; filename: string; due: number; refused: number }>(
    `SELECT documents.id, documents.filename, due, refused FROM vectors_due
     CROSS JOIN versions INDEXED BY versions_at ON versions.key = vectors_due.version_key
     CROSS JOIN documents ON documents.key = (SELECT doc_key FROM versions own WHERE own.key = vectors_due.version_key)
     WHERE vectors_due.space_key = ? AND versions.from_revision IS NOT NULL AND versions.until_revision IS NULL
       AND (documents.source_id IS NULL OR documents.source_id NOT IN (SELECT value FROM json_each(?)))
     ORDER BY vectors_due.version_key LIMIT ?`,
    [space.key, JSON.stringify(yield* deniedSources(space.key, caller)), sample],
  )
  const count =
    (yield* sql.get<{ n: number }>(
      `SELECT count(*) n FROM vectors_due CROSS JOIN versions INDEXED BY versions_at ON versions.key = vectors_due.version_key
       WHERE vectors_due.space_key = ? AND versions.from_revision IS NOT NULL AND versions.until_revision IS NULL`,
      [space.key],
    ))?.n ?? 0
  return {
    missingVectors: {
      passages: due,
      refused,
      ...(wait === undefined
        ? {}
        : {
            errorClass: wait.error_class,
            error: wait.error,
            permanent: wait.permanent === 1,
            since: new Date(wait.since).toISOString(),
            nextAttemptAt: new Date(wait.next_at).toISOString(),
          }),
      documents: {
        count,
        truncated: count > documents.length,
        items: documents.map((row) => ({
          documentId: row.id,
          filename: row.filename,
          passages: row.due,
          refused: row.refused,
        })),
      },
    },
  }
}
