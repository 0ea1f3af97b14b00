import { type AskedOf, weightOf } from './confidence.js'
import type { RankedPassage } from './evidence.js'
import { aloneOf } from './why.js'

/**
 * Minimum score of a relevant passage, as a fraction of the best one's. Chosen with the two values below so that
 * nDCG@10 of no set falls (bench/meaning/evidence.ts).
 */
const CLEARLY_BEHIND = 0.25
/** A passage whose own confidence is at least this fraction of the highest one is also evidence. */
const ANSWERS_TOO = 0.05
/**
 * So is a passage that adds at least this fraction of the question's weight in new terms: it covers another part of the
 * question. A tenth lost the second half of two-hop questions (`npm run bench:multihop`).
 */
const COVERS_MORE = 0.02
/** Such a passage scores low against the complete question; its score was assigned for its rank. */
const SECOND_HOP = 'second-hop'
/** Usual number of passages of a profile. */
const USUAL_PLACES = 10

/**
 * Selects the passages that are evidence: all up to the last one that scores near the best, answers itself, or covers
 * more of the question. Second-hop passages and the best passage are always evidence. Everything is evidence when
 * passages were not compared with the question (research mode, profiles without rerank), and when a profile asks for
 * more passages than usual.
 *
 * @param ranked in rank order
 * @param topK number of passages of the profile
 */
export function relevantPassages<T extends Omit<RankedPassage, 'passage'>>(
  ranked: readonly T[],
  { idf, asked, topK }: { idf: (term: string) => number; asked: AskedOf; topK: number },
): T[] {
  const alone = ranked.map((one) => (one.navigation === undefined ? aloneOf(one, asked) : undefined))
  if (topK > USUAL_PLACES || alone.includes(undefined)) return [...ranked]
  const best = Math.max(0, ...ranked.map(({ final }) => final))
  const surest = Math.max(0, ...alone.map((confidence = 0) => confidence))
  const before = new Set<string>()
  let count = 1
  for (const [place, one] of ranked.entries()) {
    const { final, held = [], byGraph, byMeaning } = one
    const more = weightOf(
      held.filter((term) => !before.has(term)),
      idf,
    )
    for (const term of held) before.add(term)
    const isNear = final >= CLEARLY_BEHIND * best && byGraph !== SECOND_HOP
    const answersToo = (alone[place] ?? 0) >= ANSWERS_TOO * surest
    const coversMore = more >= COVERS_MORE * asked.weight
    const speaks = asked.byVectors !== undefined && byMeaning === true
    if (isNear || answersToo || coversMore || speaks) count = place + 1
  }
  return ranked.filter(({ byGraph }, place) => place < count || byGraph === SECOND_HOP)
}
