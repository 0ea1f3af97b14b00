import { LRUCache } from 'lru-cache'
import { forEachTerm } from '../../../lib/text/analyze.js'

const RECENT = 4000
const recent = new LRUCache<string, string>({ max: RECENT })

/** Stem of a word in lower case: the analyser's first term. */
export function stemOf(word: string): string {
  const known = recent.get(word)
  if (known !== undefined) return known
  let stem = ''
  forEachTerm(word, (term) => {
    if (stem === '') stem = term
  })
  const found = stem === '' ? word : stem
  recent.set(word, found)
  return found
}
