import { analyzeContent } from '../../lib/text/analyze.js'
import { splitSentences } from '../../lib/text/sentences.js'

/**
 * Whether an answer takes nothing from the passages: of no sentence does one passage contain most of the terms that the
 * question lacks. A model that declines in its own words, in any language, writes such an answer; so does one that
 * invents. The caller checks for citations.
 */
export function takesNothing(answer: string, question: string, passages: readonly string[]): boolean {
  const asked = new Set(analyzeContent(question))
  const content = splitSentences(answer)
    .map(({ start, end }) => new Set(analyzeContent(answer.slice(start, end))))
    .map((terms) => [...terms].filter((term) => !asked.has(term)))
    .filter((terms) => terms.length > 0)
  if (content.length === 0) return false
  const held = passages.map((passage) => new Set(analyzeContent(passage)))
  return !content.some((terms) => held.some((of) => 2 * terms.filter((term) => of.has(term)).length > terms.length))
}
