import { deleteDocuments } from '../../library/index.js'
import type { Write } from '../../store/program.js'
import { countMissingCrawls, listCrawledPages, markPagesMissing, markPagesSeen } from '../rows/source-documents.js'
import type { ImportContext } from './import-items.js'

/** Updates of one transaction. */
const STEP_ROWS = 500

/** What a crawl found out about pages with documents. */
export interface CrawledAddresses {
  /** addresses that responded */
  seen: readonly string[]
  /** addresses that responded 404 or 410, or redirect elsewhere; `isPermanent` for 410 */
  gone: readonly { url: string; isPermanent: boolean }[]
}

/**
 * Records when each page was last seen, and deletes the documents of vanished pages: permanently removed ones at once,
 * those not found or redirected elsewhere after a number of consecutive crawls. Documents of unreachable pages do not
 * change.
 *
 * @param missingAfter number of consecutive crawls; 0 keeps every document
 * @returns count of deleted documents
 */
export async function deleteVanishedPages(
  { context, caller, spaceId, source }: ImportContext,
  { seen, gone }: CrawledAddresses,
  missingAfter: number,
): Promise<number> {
  const { db, now } = context
  const documents = await db.read(listCrawledPages(source))
  const at = new Date(now()).toISOString()
  const idsOf = (urls: readonly string[]) => urls.flatMap((url) => documents.get(url)?.documentAssetId ?? [])
  const inSteps = async (ids: readonly string[], note: (ids: readonly string[]) => Write<void>) => {
    for (let start = 0; start < ids.length; start += STEP_ROWS)
      await db.write(() => note(ids.slice(start, start + STEP_ROWS)))
  }
  await inSteps(idsOf(seen), (ids) => markPagesSeen(source.space_key, ids, at))
  const missingIds = idsOf(gone.map(({ url }) => url))
  await inSteps(missingIds, (ids) => markPagesMissing(source.space_key, ids))
  if (missingAfter === 0 || missingIds.length === 0) return 0
  const isPermanent = new Set(idsOf(gone.flatMap(({ url, isPermanent }) => (isPermanent ? url : []))))
  const vanishedIds = (await db.read(countMissingCrawls(source, missingIds)))
    .filter(({ id, missing }) => isPermanent.has(id) || missing >= missingAfter)
    .map(({ id }) => id)
  if (vanishedIds.length > 0) await deleteDocuments(context, caller, spaceId, vanishedIds)
  return vanishedIds.length
}
