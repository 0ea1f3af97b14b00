import { KsError } from '../../../contract/errors.js'
import { secondsUntilMidnight } from '../../models/index.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import type { EngineContext } from '../context.js'
import { getQuotas } from './quota.js'
import { createBudgetStore } from './stored-budget.js'

const COUNTER = 'parserPages'

/**
 * The number of pages that exceed the day's budget is known only after parsing. So a space accepts documents as long as
 * the budget has one page for each, and every accepted document is parsed completely.
 *
 * @param documents number of documents, with at least one page each
 * @throws KsError `quota-exceeded`, with the seconds until the next UTC day
 */
export async function assertPageBudget(context: EngineContext, space: SpaceRow, documents: number): Promise<void> {
  const limit = getQuotas(context, space).providerBudgets.maxParserPagesPerDay
  if (limit === null || documents === 0) return
  const used = await createBudgetStore(context.db).used(space, getUtcDay(context), COUNTER)
  if (used + documents <= limit) return
  throw new KsError(
    'quota-exceeded',
    `${used} pages were parsed today; ${documents} more documents would exceed maxParserPagesPerDay, ${limit}`,
    { retryAfter: secondsUntilMidnight(context.now()) },
  )
}

/** Counts parsed pages, if they have a budget; a file without pages counts as one. */
export function countPages(context: EngineContext, space: SpaceRow, metadata: Record<string, unknown>[]): void {
  if (metadata.length === 0 || getQuotas(context, space).providerBudgets.maxParserPagesPerDay === null) return
  const pages = metadata.reduce((sum, { pageCount }) => sum + (typeof pageCount === 'number' ? pageCount : 1), 0)
  createBudgetStore(context.db).add(space, getUtcDay(context), COUNTER, pages)
}

function getUtcDay({ now }: EngineContext): string {
  return new Date(now()).toISOString().slice(0, 10)
}
