import { type AskedOf, answerConfidence } from './confidence.js'
import type { FoundBy, RankedPassage, Why } from './evidence.js'

/**
 * Explains why each passage is included.
 *
 * @param ranked in rank order
 * @param wordsOf gives the question's words for terms of it (`parseQuestionWords`)
 */
export function whyOf(
  ranked: readonly RankedPassage[],
  wordsOf: (terms: ReadonlySet<string>) => string[],
  asked: AskedOf,
): Why[] {
  const before = new Set<string>()
  return ranked.map((one): Why => {
    const held = one.held ?? []
    const added = new Set(held.filter((term) => !before.has(term)))
    for (const term of held) before.add(term)
    const confidence = aloneOf(one, asked)
    return {
      by: foundBy(one),
      words: wordsOf(new Set(held)),
      adds: wordsOf(added),
      ...(confidence === undefined ? {} : { confidence: Math.round(confidence * 10_000) / 10_000 }),
    }
  })
}

/** Probability that a passage answers by itself, 0 to 1; undefined when its text was not compared with the question. */
export function aloneOf(
  { alone, features }: Pick<RankedPassage, 'alone' | 'features'>,
  asked: AskedOf,
): number | undefined {
  return alone ?? (features === undefined ? undefined : answerConfidence(features, asked))
}

function foundBy({ navigation, byGraph, byMeaning = false, held = [] }: RankedPassage): FoundBy {
  if (navigation !== undefined) return 'sections'
  if (byGraph !== undefined) return byGraph
  if (held.length === 0) return 'meaning'
  return byMeaning ? 'words-and-meaning' : 'words'
}
