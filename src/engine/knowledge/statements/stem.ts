import { LRUCache } from 'lru-cache'
import { forEachTerm } from '../../../lib/text/analyze.js'

const MAX_CACHED_STEMS = 4000
const stemCache = new LRUCache<string, string>({ max: MAX_CACHED_STEMS })

/** Stem of a word in lower case: the analyser's first term. */
export function stemOf(word: string): string {
  const cached = stemCache.get(word)
  if (cached !== undefined) return cached
  let stem = ''
  forEachTerm(word, (term) => {
    if (stem === '') stem = term
  })
  const found = stem === '' ? word : stem
  stemCache.set(word, found)
  return found
}
