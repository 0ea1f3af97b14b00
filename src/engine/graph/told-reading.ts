import type { GraphReading } from '../../contract/gateway/graph-readings.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import { modelOf, type ReadingRow } from '../rows/graph/readings.js'
import { isWaiting, toldOf } from '../rows/space-work.js'
import type { SpaceRow } from '../rows/spaces.js'

export function toReading(space: SpaceRow, row: ReadingRow): GraphReading {
  const model = modelOf(row)
  const message = messageOf(row)
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    state: isWaiting(row) ? 'waiting' : row.state,
    ...defined({ model }),
    passages: Math.max(row.total, row.done),
    passagesRead: row.done,
    passagesAsked: row.asked,
    passagesUnusable: row.unusable,
    budgetTokens: row.budget,
    usedTokens: row.tokens,
    ...defined({ message }),
    ...toldOf(row),
  }
}

/** Advice for continuing a reading that ended early. */
function messageOf({ state, budget, tokens, done, total, asked }: ReadingRow): string | undefined {
  if (state !== 'budget-spent') return undefined
  const left = Math.max(0, total - done)
  const cost = asked === 0 ? budget : Math.ceil((tokens / asked) * left)
  const wanted = Math.min(LIMITS.graphReadingTokens.max, roundedUp(Math.max(cost, LIMITS.graphReadingTokens.min)))
  return `The budget of ${budget} tokens is spent, with ${done} of ${total} passages read. Start again to continue: the rest takes about ${wanted} tokens.`
}

/** Rounds up to two significant digits. */
function roundedUp(value: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1)
  return Math.ceil(value / unit) * unit
}
