import { analyzeQuery } from '../../../../lib/text/analyze.js'
import { UNSPACED } from '../../../../lib/text/unspaced.js'

/**
 * Parses a question once, so that terms can be shown as the question spells them.
 *
 * @returns a function that gives the words of the question that contain any of some terms, each once, in question
 * order; in scripts without spaces, the matching ranges
 */
export function parseQuestionWords(query: string): (terms: ReadonlySet<string>) => string[] {
  const words = [...query.matchAll(/[\p{L}\p{M}\p{N}_'’]+/gu)].map(([word]) => ({ word, terms: analyzeQuery(word) }))
  return (selected) => {
    const found = new Set<string>()
    for (const { word, terms } of words) {
      const own = terms.filter((term) => selected.has(term))
      if (own.length === 0) continue
      if (UNSPACED.test(word)) for (const stretch of mergePairs(word, own)) found.add(stretch)
      else found.add(word)
    }
    return [...found]
  }
}

/** Merges overlapping character pairs to the ranges of text that they cover. */
function mergePairs(word: string, pairs: readonly string[]): string[] {
  const covered = new Set<number>()
  for (const pair of pairs) {
    const position = word.toLowerCase().indexOf(pair)
    if (position >= 0) for (let i = 0; i < pair.length; i++) covered.add(position + i)
  }
  const marked = Array.from({ length: word.length }, (_, i) => (covered.has(i) ? word.slice(i, i + 1) : ' ')).join('')
  return marked.split(' ').filter((stretch) => stretch !== '')
}
