import { LRUCache } from 'lru-cache'
import { forEachTerm } from '../../lib/text/analyze.js'
import { latinTermsOf } from '../../lib/text/hashed-terms.js'

/** Cache size: sentences and titles of the evidence of some questions. Longer texts are not cached. */
const RECENT = 512
const LONGEST = 1000

const recent = new LRUCache<string, readonly string[]>({ max: RECENT })

/**
 * Terms of a sentence or title, as from `forEachTerm`. Cached, since conflict detection and answering read the same
 * texts.
 */
export function sentenceTerms(text: string): readonly string[] {
  if (text.length > LONGEST) return termsOf(text)
  const known = recent.get(text)
  if (known !== undefined) return known
  const terms = termsOf(text)
  recent.set(text, terms)
  return terms
}

function termsOf(text: string): readonly string[] {
  const latin = latinTermsOf(text)
  if (latin !== undefined) return latin
  const terms: string[] = []
  forEachTerm(text, (term) => terms.push(term))
  return terms
}
