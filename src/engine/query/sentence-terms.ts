import { LRUCache } from 'lru-cache'
import { forEachTerm } from '../../lib/text/analyze.js'
import { latinTermsOf } from '../../lib/text/hashed-terms.js'

/** Sentences and titles of some questions' evidence; longer texts are read each time. */
const RECENT = 512
const LONGEST = 1000

const recent = new LRUCache<string, readonly string[]>({ max: RECENT })

/** Terms of a sentence or a title, as `forEachTerm` gives them: looking for contradictions and answering read the same. */
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
