import type { GraphReading } from '../../../contract/gateway/graph-readings.js'
import { LIMITS } from '../../../contract/limits.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import { parseReadingModel, type ReadingRow } from '../../store/rows/graph/readings.js'
import { isWaitingForProvider, toWorkStatus } from '../../store/rows/space-work.js'
import type { SpaceRow } from '../../store/rows/spaces.js'

export function toReading(space: SpaceRow, row: ReadingRow): GraphReading {
  const model = parseReadingModel(row)
  const message = buildAdvice(row)
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    state: isWaitingForProvider(row) ? 'waiting' : row.state,
    ...omitUndefined({ model }),
    passages: Math.max(row.total, row.done),
    passagesRead: row.done,
    passagesAsked: row.asked,
    passagesUnusable: row.unusable,
    budgetTokens: row.budget,
    usedTokens: row.tokens,
    ...omitUndefined({ message }),
    ...toWorkStatus(row),
  }
}

/** Advice for continuing a reading that ended early. */
function buildAdvice({ state, budget, tokens, done, total, asked }: ReadingRow): string | undefined {
  if (state !== 'budget-spent') return undefined
  const remaining = Math.max(0, total - done)
  const cost = asked === 0 ? budget : Math.ceil((tokens / asked) * remaining)
  const suggestedBudget = Math.min(
    LIMITS.graphReadingTokens.max,
    roundUp(Math.max(cost, LIMITS.graphReadingTokens.min)),
  )
  return `The budget of ${pluralize(budget, 'token')} is spent, with ${formatCount(done)} of ${pluralize(total, 'passage')} read. Start again to continue: the rest takes about ${pluralize(suggestedBudget, 'token')}.`
}

/** Rounds up to two significant digits. */
function roundUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1)
  return Math.ceil(value / unit) * unit
}
