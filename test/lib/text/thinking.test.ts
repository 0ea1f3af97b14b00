import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ThoughtSeparator } from '../../../src/lib/text/thinking.js'
import { stripThoughts } from '../../../src/lib/text/thoughts.js'

describe('thoughts of a model', () => {
  it.each([
    ['<think>\nhm\n</think>\n\nAt nine.', 'At nine.'],
    ['<think></think>At nine.', 'At nine.'],
    ['hm, so\n</think>\n\nAt nine.', 'At nine.'],
    ['One.\n\n<think>and now</think>\nTwo.', 'One.\n\n\nTwo.'],
    ['<think>never told', ''],
  ])('disappear from its answer: %j', (text, said) => {
    expect(stripThoughts(text)).toBe(said)
  })

  it.each([
    'Models write <think> and </think> around it.',
    'A value of less than 5 (x < 5) and a </b> tag.',
    '```\n<think>an example</think>\n```\nThat is it.',
    'The tag `</think>` ends it.',
    '<thinking is hard',
  ])('do not include a text that only mentions the tags: %j', (text) => {
    expect(stripThoughts(text)).toBe(text)
  })

  it('get separated from the answer in the same way, however the text is split into deltas', () => {
    const part = fc.constantFrom('<think>', '</think>', '\n', ' ', 'word', '<', '```', 'th', '5')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), fc.array(fc.nat(9), { maxLength: 60 }), (parts, cuts) => {
        const text = parts.join('')
        const whole = new ThoughtSeparator()
        const said = whole.add(text) + whole.end()
        const pieces = new ThoughtSeparator()
        let grown = ''
        let at = 0
        for (const cut of cuts) {
          grown += pieces.add(text.slice(at, at + cut))
          at += cut
        }
        grown += pieces.add(text.slice(at)) + pieces.end()
        expect([grown, pieces.thought]).toEqual([said, whole.thought])
      }),
      { numRuns: 1000 },
    )
  })
})
