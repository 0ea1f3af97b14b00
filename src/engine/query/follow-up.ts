import { analyzeContent, analyzeQuery } from '../../lib/text/analyze.js'
import type { SessionTurn } from '../rows/sessions.js'

/** A question of fewer distinct terms leaves something unsaid when others came before it. */
const COMPLETE_FROM = 2
/** Words that stand for what was named before; English and Chinese. */
const POINTS_BACK =
  /\b(?:it|its|they|them|their|he|him|his|she|her|hers|this|that|these|those|there|then|one|ones|same|former|latter)\b|[它他她这這那其]|^\s*(?:and|but|so|what about|how about|why|also)\b/iu
/** Of those, words that say nothing of their own and that the analyser keeps. */
const EMPTY_WORDS = new Set(analyzeContent('one ones same former latter also else'))

export interface FollowUp {
  /** the last question of the session that stood by itself */
  anchor: string
  /** what the follow-up itself asks about; none in `and then?` */
  ownTerms: string[]
  /** too short to stand by itself, so that what answers it has to be about the anchor too */
  isShort: boolean
}

/** What a question goes on from; undefined where it stands by itself. @param turns of the session, oldest first */
export function followUpOf(query: string, turns: readonly SessionTurn[]): FollowUp | undefined {
  if (turns.length === 0 || !isFollowUp(query)) return undefined
  const anchor = turns.findLast((turn) => !isFollowUp(turn.query)) ?? turns[0]
  if (anchor === undefined) return undefined
  const ownTerms = [...new Set(analyzeContent(query))].filter((term) => !EMPTY_WORDS.has(term))
  return { anchor: anchor.query, ownTerms, isShort: ownTerms.length < COMPLETE_FROM }
}

/**
 * The question as it is searched: a follow-up takes the words of the last question of the session that stood by itself.
 *
 * @param turns of the session, oldest first
 */
export function searchedQuery(query: string, turns: readonly SessionTurn[]): string {
  const followUp = followUpOf(query, turns)
  return followUp === undefined ? query : `${query}\n\n${followUp.anchor}`
}

function isFollowUp(query: string): boolean {
  return POINTS_BACK.test(query) || new Set(analyzeQuery(query)).size < COMPLETE_FROM
}
