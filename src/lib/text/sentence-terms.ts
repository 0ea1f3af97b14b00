import { LRUCache } from 'lru-cache'
import { forEachTerm } from './analyze.js'
import { analyzeLatin } from './hashed-terms.js'

/** Cache size: sentences and titles of the evidence of some questions. Longer texts are not cached. */
const MAX_CACHED_TEXTS = 512
const MAX_CACHED_LENGTH = 1000

const termCache = new LRUCache<string, readonly string[]>({ max: MAX_CACHED_TEXTS })

/**
 * Terms of a sentence or title, as from `forEachTerm`. Cached, since conflict detection and answering read the same
 * texts.
 */
export function sentenceTerms(text: string): readonly string[] {
  if (text.length > MAX_CACHED_LENGTH) return computeTerms(text)
  const cached = termCache.get(text)
  if (cached !== undefined) return cached
  const terms = computeTerms(text)
  termCache.set(text, terms)
  return terms
}

function computeTerms(text: string): readonly string[] {
  const latin = analyzeLatin(text)
  if (latin !== undefined) return latin
  const terms: string[] = []
  forEachTerm(text, (term) => terms.push(term))
  return terms
}
