import { findRequestedTime, isWithin, type RequestedTime } from '../../../lib/text/requested-time.js'
import type { RankedPassage } from './evidence.js'

/**
 * Minimum score of a passage that is compared by day, as a fraction of the best: the second of two similar passages may
 * have a third.
 */
const MIN_SCORE_FRACTION = 0.2
/** Minimum fraction of the best passage's matched terms that it must contain; `current` itself may be missing. */
const MIN_SHARED_TERMS_FRACTION = 0.7

/**
 * Orders passages of dated documents for a question that asks for the latest, the earliest or a period. Passages with
 * most of the best one's matched terms exchange their ranks in the order of their days. Passages without a day, or with
 * fewer terms, keep their rank. Scores stay with the ranks.
 */
export function preferDays(query: string, ranked: RankedPassage[]): RankedPassage[] {
  const time = findRequestedTime(query)
  const [best] = ranked
  if (time === undefined || best === undefined) return ranked
  const needed = best.held ?? []
  const ranks = ranked.flatMap(({ passage, final, held }, rank) => {
    const shared = needed.filter((term) => held?.includes(term) === true).length
    const isComparable = final >= MIN_SCORE_FRACTION * best.final && shared >= MIN_SHARED_TERMS_FRACTION * needed.length
    return isComparable && passage.document_date !== null ? [rank] : []
  })
  const ordered = ranks.flatMap((rank) => ranked[rank] ?? []).sort((one, two) => compareDays(one, two, time))
  const preferred = [...ranked]
  for (const [index, rank] of ranks.entries()) {
    const [passage, before] = [ordered[index], ranked[rank]]
    if (passage !== undefined && before !== undefined) preferred[rank] = { ...passage, final: before.final }
  }
  return preferred
}

function compareDays(one: RankedPassage, two: RankedPassage, time: RequestedTime): number {
  const [a, b] = [one, two].map(({ passage }) => passage.document_date ?? '')
  if (a === undefined || b === undefined) return 0
  if ('order' in time) return time.order === 'latest' ? b.localeCompare(a) : a.localeCompare(b)
  return Number(isWithin(b, time)) - Number(isWithin(a, time))
}
