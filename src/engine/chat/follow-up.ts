import type { SessionTurn } from '../query/sessions.js'

/** A question of so few words leans on the one before it. */
const FEW_WORDS = 3
const REFERS_BACK =
  /\b(it|its|they|them|their|that|this|these|those|he|him|his|she|her|there|then|same|also|else|another)\b|^(and|but|or|so|why|how come|what about|how about)\b/i

/**
 * What is searched for a question in a conversation: a question that refers back is completed by the one before it,
 * since a passage cannot be found by "and how much is it?".
 */
export function searchedQuestion(query: string, turns: readonly SessionTurn[]): string {
  const before = turns.at(-1)?.query
  if (before === undefined) return query
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? []
  const spaced = !/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(query)
  return (spaced && words.length <= FEW_WORDS) || REFERS_BACK.test(query) ? `${before}\n${query}` : query
}
