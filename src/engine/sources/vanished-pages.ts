import { deleteDocuments } from '../documents/delete.js'
import { crawledPages, missingCrawls, notePagesMissing, notePagesSeen } from '../rows/source-documents.js'
import type { Write } from '../storage/program.js'
import type { ImportPlace } from './import-items.js'

/** Updates of one transaction. */
const STEP = 500

/** What a crawl found out about pages with documents. */
export interface PagesKnown {
  /** addresses that responded */
  seen: readonly string[]
  /** addresses that responded 404 or 410, or redirect elsewhere; `forGood` for 410 */
  gone: readonly { url: string; forGood: boolean }[]
}

/**
 * Records when each page was last seen, and deletes the documents of vanished pages: permanently removed ones at once,
 * those not found or redirected elsewhere after a number of consecutive crawls. Documents of unreachable pages do not
 * change.
 *
 * @param missingAfter number of consecutive crawls; 0 keeps every document
 * @returns count of deleted documents
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
