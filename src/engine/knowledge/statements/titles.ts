import { stemOf } from './stem.js'

const TOKEN = /[\p{L}\p{M}\p{N}]+|[:：–—/|]/gu
const SEPARATOR = /^[:：–—/|]$/u
/** `part 2`, `b`: numbers copies and names nothing. */
const COUNTER = /^(?:\d{1,2}|\p{L})$/u

/** A longer word before the differing one is not a preposition. */
const MAX_PREPOSITION_LENGTH = 3

/**
 * Whether two titles name two things of one kind, that is, differ in one word: `Manual of Atlas` and `Manual of
 * Borealis`. A differing word is a topic instead when it follows a colon, when the question or the sentences use it, or
 * when it ends the title of a kind that they do not mention: `handbook-leave`; but `branch-oslo` in sentences about the
 * branch is a branch.
 */
export function areTitlesOfThings(one: string, two: string, isTopic: (stem: string) => boolean): boolean {
  const [a, b] = [one, two].map((title) => title.toLowerCase().match(TOKEN) ?? [])
  if (a === undefined || b === undefined || a.length < 2 || a.length !== b.length) return false
  const differing = a.flatMap((token, index) => (token === b[index] ? [] : [index]))
  const [index] = differing
  if (index === undefined || differing.length > 1) return false
  const words = [a[index] ?? '', b[index] ?? '']
  if (SEPARATOR.test(a[index - 1] ?? '')) return false
  if (words.some((word) => COUNTER.test(word) || isTopic(stemOf(word)))) return false
  const isAfterKind = index === a.length - 1 && (a[index - 1]?.length ?? 0) > MAX_PREPOSITION_LENGTH
  return !isAfterKind || a.slice(0, index).some((word) => isTopic(stemOf(word)))
}
