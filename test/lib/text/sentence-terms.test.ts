import fc from 'fast-check'
import { expect, it } from 'vitest'
import { forEachTerm } from '../../../src/lib/text/analyze.js'
import { sentenceTerms } from '../../../src/lib/text/sentence-terms.js'

const SAID = [
  "the reader's ticket costs 1,577 dollars and isn't valid",
  'die Gebühren für das Parken sind nicht hoch',
  'le chat ne dort pas sur la table',
  'Кошка спит на столе',
  '灯台は1908年に建てられました',
  'readPart snake_case_name DNAs',
  'Parken',
  '\n',
]

it('sentenceTerms returns the same terms as the analyser, for lines in any mix of languages', () => {
  const texts = fc.array(fc.oneof(fc.constantFrom(...SAID), fc.string({ unit: 'binary' })), { maxLength: 8 })
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join(' ')
      const terms: string[] = []
      forEachTerm(text, (term) => terms.push(term))
      expect(sentenceTerms(text)).toEqual(terms)
    }),
  )
})
