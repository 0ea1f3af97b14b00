import { KsError } from '../../contract/errors.js'
import type { EngineContext } from '../context.js'
import { secondsToMidnight } from '../models/budget.js'
import type { SpaceRow } from '../rows/spaces.js'
import { quotasOf } from './quota.js'
import { createBudgetStore } from './stored-budget.js'

const COUNTER = 'parserPages'

/**
 * How many pages are known to be over the day's budget only when documents have been read. So a space takes documents as
 * long as a page for each is left, and what is accepted is read in full.
 *
 * @param documents that would be read, a page each at least
 * @throws KsError `quota-exceeded`, with the seconds until the next UTC day
 */
export async function assertRoomForPages(context: EngineContext, space: SpaceRow, documents: number): Promise<void> {
  const limit = quotasOf(context, space).providerBudgets.maxParserPagesPerDay
  if (limit === null || documents === 0) return
  const used = await createBudgetStore(context.db).used(space, today(context), COUNTER)
  if (used + documents <= limit) return
  throw new KsError(
    'quota-exceeded',
    `${used} pages were read today and ${documents} documents more would be over maxParserPagesPerDay, which is ${limit}`,
    { retryAfter: secondsToMidnight(context.now()) },
  )
}

/** Counts pages that were read, where there is a budget of them; a file without pages counts as one. */
export function countPages(context: EngineContext, space: SpaceRow, metadata: Record<string, unknown>[]): void {
  if (metadata.length === 0 || quotasOf(context, space).providerBudgets.maxParserPagesPerDay === null) return
  const pages = metadata.reduce((sum, { pageCount }) => sum + (typeof pageCount === 'number' ? pageCount : 1), 0)
  createBudgetStore(context.db).add(space, today(context), COUNTER, pages)
}

function today({ now }: EngineContext): string {
  return new Date(now()).toISOString().slice(0, 10)
}
