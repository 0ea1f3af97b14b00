import { deleteDocuments } from '../documents/delete.js'
import { sql } from '../storage/program.js'
import { jsonAt } from '../storage/readable.js'
import type { ImportPlace } from './import-items.js'
import { crawledPages } from './store.js'

/** Updates of one transaction. */
const STEP = 500

/** What a crawl learned of pages that have documents. */
export interface PagesKnown {
  /** addresses that answered */
  seen: readonly string[]
  /** addresses that answered 404 or 410, or lead elsewhere now; `forGood` for 410 */
  gone: readonly { url: string; forGood: boolean }[]
}

/**
 * Notes when each page was last seen, and ends the documents of pages that are gone: those that say so for good at once,
 * those that are merely not found, or lead elsewhere, when as many crawls in a row have not found them. Of a page that was not reached nothing
 * new is known, so its document stays as it is.
 *
 * @param missingAfter crawls in a row; 0 keeps every document
 * @returns how many documents were ended
 */
export async function settlePages(
  { context, caller, spaceId, source }: ImportPlace,
  { seen, gone }: PagesKnown,
  missingAfter: number,
): Promise<number> {
  const { db, now } = context
  const documents = db.now(crawledPages(source))
  const at = new Date(now()).toISOString()
  const note = async (urls: readonly string[], change: string, ...values: string[]) => {
    const ids = urls.flatMap((url) => documents.get(url)?.documentAssetId ?? [])
    for (let start = 0; start < ids.length; start += STEP)
      await db.write(function* () {
        for (const id of ids.slice(start, start + STEP))
          yield* sql.run(
            `UPDATE documents SET metadata = ${change} WHERE space_key = ? AND id = ? AND deleted_at IS NULL
               AND json_valid(metadata)`,
            [...values, source.space_key, id],
          )
      })
    return ids
  }
  await note(seen, "json_remove(json_set(metadata, '$.lastSeenAt', ?), '$.missingCrawls')", at)
  const missing = gone.map(({ url }) => url)
  const missingIds = await note(
    missing,
    "json_set(metadata, '$.missingCrawls', coalesce(json_extract(metadata, '$.missingCrawls'), 0) + 1)",
  )
  if (missingAfter === 0 || missingIds.length === 0) return 0
  const forGood = new Set(
    gone.flatMap(({ url, forGood }) => (forGood ? (documents.get(url)?.documentAssetId ?? []) : [])),
  )
  const ended = db
    .now(
      sql.all<{ id: string; missing: number }>(
        `SELECT documents.id, ${jsonAt('metadata', '$.missingCrawls')} missing FROM json_each(?) wanted
       JOIN documents ON documents.id = wanted.value WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL`,
        [JSON.stringify(missingIds), source.space_key, source.id],
      ),
    )
    .filter(({ id, missing: crawls }) => forGood.has(id) || crawls >= missingAfter)
    .map(({ id }) => id)
  if (ended.length > 0) await deleteDocuments(context, caller, spaceId, ended)
  return ended.length
}
