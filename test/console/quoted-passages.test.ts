import { expect, it } from 'vitest'
import { splitQuotation } from '../../src/console/pages/ask/quoted-passages.js'

it('a quotation is split into passages and marked ranges, and citation marks of a document remain text', () => {
  const text = 'Closest passages:\n\n[1] a [2].md › Lamps\n\nLit in 1908 [3].\n\n[4] b.md\n\nThe boat.\n\nThe sea.'
  const blockOf = (cited: number, quoted: string, marked: string[]) => {
    const rangeOf = (part: string) => ({ start: text.indexOf(part), end: text.indexOf(part) + part.length })
    return { cited, ...rangeOf(quoted), marks: marked.map(rangeOf) }
  }
  const blocks = [blockOf(1, 'Lit in 1908 [3].', ['1908']), blockOf(4, 'The boat.\n\nThe sea.', ['The boat.', 'sea.'])]
  const shown = splitQuotation(text, blocks).map(({ start: _, parts, ...passage }) => ({
    ...passage,
    parts: parts.map((part) => (part.isMarked ? { marked: part.text } : part.text)),
  }))
  expect(shown).toEqual([
    {
      ...{ opening: 'Closest passages:', cited: 1, location: 'a [2].md › Lamps' },
      parts: ['Lit in ', { marked: '1908' }, ' [3].'],
    },
    {
      ...{ opening: '', cited: 4, location: 'b.md' },
      parts: [{ marked: 'The boat.' }, '\n\nThe ', { marked: 'sea.' }],
    },
  ])
})
