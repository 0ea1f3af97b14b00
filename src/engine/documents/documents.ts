import type { CheckDocumentsBody, CheckedDocuments, DocumentAsset } from '../../contract/gateway/documents.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import { storedName } from '../base/file-names.js'
import type { Page, PageRequest } from '../base/page.js'
import type { EngineContext } from '../context.js'
import { type DocumentRow, documentsNamed, findDocument, toAsset } from '../rows/documents.js'
import { endedInVain, latestJob } from '../rows/jobs.js'
import { askerOf, mayKnow } from '../rows/permissions.js'
import { findSource } from '../rows/sources.js'
import { findSpace } from '../rows/spaces.js'
import { type Read, sql } from '../storage/program.js'
import { readablePage } from '../storage/readable.js'

/** files whose sizes are asked for together */
const DESCRIBED_AT_ONCE = 32

export function* listDocuments(caller: Caller, spaceId: string, page: PageRequest): Read<Page<DocumentAsset>> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const limit = Math.min(page.limit, LIMITS.documentsPage.max)
  const rows = yield* sql.all<DocumentRow>(
    `SELECT * FROM documents WHERE space_key = ? AND deleted_at IS NULL AND id > ?
       AND ${mayKnow('documents.source_id')} ORDER BY id LIMIT ?`,
    [space.key, page.cursor ?? '', askerOf(caller), limit + 1],
  )
  return readablePage(
    rows,
    limit,
    (row) => toAsset(row, space.id),
    ({ id }) => id,
  )
}

export function* getDocument(caller: Caller, spaceId: string, documentId: string): Read<DocumentAsset> {
  const space = yield* findSpace(caller.tenant, spaceId)
  return toAsset(yield* findDocument(caller, space.key, documentId), space.id)
}

/**
 * Says for each name and hash whether sending the bytes would change anything. A document whose bytes are missing or of
 * another size is `changed`, since sending them again heals it; damage that keeps the size is found by `fsck`. One whose
 * last compilation failed or was canceled is `failed`: sending its bytes begins another.
 */
export async function checkDocuments(
  { db, objects }: EngineContext,
  caller: Caller,
  spaceId: string,
  body: CheckDocumentsBody,
): Promise<CheckedDocuments> {
  const space = db.now(findSpace(caller.tenant, spaceId))
  if (body.sourceId !== undefined) db.now(findSource(caller, space, body.sourceId))
  const items: CheckedDocuments['items'] = []
  for (let from = 0; from < body.items.length; from += DESCRIBED_AT_ONCE)
    items.push(
      ...(await Promise.all(
        body.items.slice(from, from + DESCRIBED_AT_ONCE).map(async ({ filename, sha256 }) => {
          const row = db.now(documentsNamed(space.key, body.sourceId ?? null, storedName(filename)))[0]
          if (row === undefined) return { filename, status: 'new' as const }
          const held = row.sha256 === sha256 && (await objects.describe(row.object_key))?.size === row.size_bytes
          if (!held) return { filename, status: 'changed' as const, documentId: row.id }
          return {
            filename,
            status: endedInVain(db.now(latestJob(row.key))) ? ('failed' as const) : ('unchanged' as const),
            documentId: row.id,
            parserStatus: row.parser_status,
            ...defined({ error: row.error ?? undefined }),
          }
        }),
      )),
    )
  return { items }
}
