import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitSentences } from '../../../src/lib/text/sentences.js'

const cut = (text: string): string[] => splitSentences(text).map(({ start, end }) => text.slice(start, end))

describe('splitSentences', () => {
  it('ends a sentence at closing punctuation, with its quotes', () => {
    expect(cut('One. "Two?" she asked! Three')).toEqual(['One.', '"Two?" she asked!', 'Three'])
  })

  it('does not end one at abbreviations, initials and numbers', () => {
    expect(cut('Dr. J. R. Smith et al. paid 3.5 dollars in Jan. 2004. He left.')).toEqual([
      'Dr. J. R. Smith et al. paid 3.5 dollars in Jan. 2004.',
      'He left.',
    ])
  })

  it('cuts Chinese at its full stops, without a space', () => {
    expect(cut('他说：“你好。”然后走了！真的吗？是')).toEqual(['他说：“你好。”', '然后走了！', '真的吗？', '是'])
  })

  it('cuts at empty lines and before list entries, not at wrapped lines', () => {
    expect(cut('Heading\n\n- one\n- two\n\nwrapped\nline. End')).toEqual([
      'Heading',
      '- one',
      '- two',
      'wrapped\nline.',
      'End',
    ])
  })

  it('reads tokenised text in lower case', () => {
    expect(cut('an experiment was made . a wing was used .')).toEqual(['an experiment was made .', 'a wing was used .'])
  })

  it('cuts text without stops into quotable lengths', () => {
    const sentences = cut('word '.repeat(1000))
    expect(Math.max(...sentences.map((sentence) => sentence.length))).toBeLessThanOrEqual(800)
    expect(sentences.join(' ').split(' ')).toHaveLength(1000)
  })

  it('leaves nothing but white space out, in order, for any text', () => {
    const text = fc.string({ unit: fc.constantFrom(...'aA.!? \n"。中1-|') })
    fc.assert(
      fc.property(text, (value) => {
        let at = 0
        for (const { start, end } of splitSentences(value)) {
          expect(value.slice(at, start).trim()).toBe('')
          expect(end).toBeGreaterThan(start)
          at = end
        }
        expect(value.slice(at).trim()).toBe('')
      }),
    )
  })
})
