import { analyzeContent, analyzeQuery } from '../../../lib/text/analyze.js'
import type { SessionTurn } from '../../store/rows/sessions.js'

/** After earlier questions, a question with fewer distinct terms is incomplete. */
const MIN_COMPLETE_TERMS = 2
/** Words that refer to something named before; English and Chinese. */
const BACK_REFERENCE =
  /\b(?:it|its|they|them|their|he|him|his|she|her|hers|this|that|these|those|there|then|one|ones|same|former|latter)\b|[它他她这這那其]|^\s*(?:and|but|so|what about|how about|why|also)\b/iu
/** Terms among them that have no content but that the analyser keeps. */
const EMPTY_WORDS = new Set(analyzeContent('one ones same former latter also else'))

export interface FollowUp {
  /** the last complete question of the session */
  anchor: string
  /** terms of the follow-up itself; none in `and then?` */
  ownTerms: string[]
  /** too short on its own: the answer must also be about the anchor */
  isShort: boolean
}

/**
 * Finds the question that a follow-up continues; undefined for a complete question. @param turns of the session, oldest
 * first
 */
export function findFollowUp(query: string, turns: readonly SessionTurn[]): FollowUp | undefined {
  if (turns.length === 0 || !isFollowUp(query)) return undefined
  const anchor = turns.findLast((turn) => !isFollowUp(turn.query)) ?? turns[0]
  if (anchor === undefined) return undefined
  const ownTerms = [...new Set(analyzeContent(query))].filter((term) => !EMPTY_WORDS.has(term))
  return { anchor: anchor.query, ownTerms, isShort: ownTerms.length < MIN_COMPLETE_TERMS }
}

/**
 * Returns the question as it is searched: a follow-up is extended by the last complete question of the session.
 *
 * @param turns of the session, oldest first
 */
export function toSearchedQuery(query: string, turns: readonly SessionTurn[]): string {
  const followUp = findFollowUp(query, turns)
  return followUp === undefined ? query : `${query}\n\n${followUp.anchor}`
}

function isFollowUp(query: string): boolean {
  return BACK_REFERENCE.test(query) || new Set(analyzeQuery(query)).size < MIN_COMPLETE_TERMS
}
