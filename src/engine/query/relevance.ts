import { type AskedOf, weightOf } from './confidence.js'
import type { RankedPassage } from './evidence.js'
import { aloneOf } from './why.js'

/**
 * A passage whose score is less than this share of the best's stands clearly behind it. Chosen with the two below so that
 * nDCG@10 of no set falls (bench/meaning/evidence.ts).
 */
const CLEARLY_BEHIND = 0.25
/** A passage that answers by itself with this share of the most certain one's confidence belongs to the evidence. */
const ANSWERS_TOO = 0.05
/**
 * So does one that holds this share of the question's weight that none before it holds: another part of a question. A
 * tenth lost the second half of two-hop questions (`npm run bench:multihop`).
 */
const COVERS_MORE = 0.02
/** Such a passage looks weak to a comparison with the whole question, and is given a score to stand where it does. */
const SECOND_HOP = 'second-hop'
/** Places that a profile gives where nobody asks for more. */
const USUAL_PLACES = 10

/**
 * Which of the passages are evidence: those up to the last one that comes near the best, answers too, or covers more of
 * the question; behind it nothing is to be expected. What came over a second hop always belongs to it. The best passage
 * always is evidence; so is everything where passages were not compared with the question (research, which walks to its
 * pages, and profiles that do not rerank), and where a profile asks for more places than usual, for their sake.
 *
 * @param ranked in rank order
 * @param topK places of the profile
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
