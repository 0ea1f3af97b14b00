import { deleteDocuments } from '../documents/delete.js'
import { crawledPages, missingCrawls, notePagesMissing, notePagesSeen } from '../rows/source-documents.js'
import type { Write } from '../storage/program.js'
import type { ImportPlace } from './import-items.js'

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
  const documents = await db.read(crawledPages(source))
  const at = new Date(now()).toISOString()
  const idsOf = (urls: readonly string[]) => urls.flatMap((url) => documents.get(url)?.documentAssetId ?? [])
  const inSteps = async (ids: readonly string[], note: (ids: readonly string[]) => Write<void>) => {
    for (let start = 0; start < ids.length; start += STEP) await db.write(() => note(ids.slice(start, start + STEP)))
  }
  await inSteps(idsOf(seen), (ids) => notePagesSeen(source.space_key, ids, at))
  const missingIds = idsOf(gone.map(({ url }) => url))
  await inSteps(missingIds, (ids) => notePagesMissing(source.space_key, ids))
  if (missingAfter === 0 || missingIds.length === 0) return 0
  const forGood = new Set(idsOf(gone.flatMap(({ url, forGood }) => (forGood ? url : []))))
  const ended = (await db.read(missingCrawls(source, missingIds)))
    .filter(({ id, missing }) => forGood.has(id) || missing >= missingAfter)
    .map(({ id }) => id)
  if (ended.length > 0) await deleteDocuments(context, caller, spaceId, ended)
  return ended.length
}
