import { analyzeQuery } from '../../lib/text/analyze.js'
import type { SessionTurn } from './sessions.js'

/** A question of fewer distinct terms leaves something unsaid when others came before it. */
const COMPLETE_FROM = 2
/** Words that stand for what was named before; English and Chinese. */
const POINTS_BACK =
  /\b(?:it|its|they|them|their|he|him|his|she|her|hers|this|that|these|those|there|then|one|ones|same|former|latter)\b|[它他她这這那其]|^\s*(?:and|but|so|what about|how about|why|also)\b/iu

/**
 * The question as it is searched: a follow-up takes the words of the last question of the session that stood by itself.
 *
 * @param turns of the session, oldest first
 */
export function searchedQuery(query: string, turns: readonly SessionTurn[]): string {
  if (turns.length === 0 || !isFollowUp(query)) return query
  const anchor = turns.findLast((turn) => !isFollowUp(turn.query)) ?? turns[0]
  return anchor === undefined ? query : `${query}\n\n${anchor.query}`
}

function isFollowUp(query: string): boolean {
  return POINTS_BACK.test(query) || new Set(analyzeQuery(query)).size < COMPLETE_FROM
}
