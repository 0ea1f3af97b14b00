import { describe, expect, it } from 'vitest'
import { read } from './read.js'
import { type OnPage, pdfOfPages, row } from './table-pdf.js'

async function textOf(...page: OnPage[]): Promise<string> {
  const { elements } = await read('a.pdf', pdfOfPages([[...page, ...row(600, [60, 'The mill stood still.'])]]))
  return elements.map(({ text }) => text).join('|')
}
const at = (x: number, y: number, text: string, size = 10): OnPage => ({ at: [x, y], text, size })

describe('a text that is drawn several times at nearly one place', () => {
  it('becomes one text: whole, in other pieces, letter by letter, or as a shadow below it', async () => {
    const words = 'Harbour rules'
    const letters = (shift: number) => [...words].map((letter, index) => at(60 + 6 * index + shift, 700, letter))
    const pairs = [...words].flatMap((letter, index) =>
      [0, 0.3].map((shift) => at(60 + 6 * index + shift, 700, letter)),
    )
    const pages: OnPage[][] = [
      [at(60, 700, words), at(60.4, 700, words), at(60, 700.4, words)],
      [at(60, 700, words), at(60.3, 700, 'Harbour'), at(108.3, 700, 'rules')],
      [at(60, 700, 'Harbour '), at(108, 700, 'rules'), at(60.3, 700, words)],
      [at(61, 699, words), at(60, 700, words)],
      [at(60, 700, words), ...letters(0.3)],
      [...letters(0), ...letters(0.3)],
      pairs,
    ]
    for (const page of pages) expect(await textOf(...page)).toBe('Harbour rules|The mill stood still.')
  })

  it('becomes one word within a line', async () => {
    expect(await textOf(at(60, 700, 'Never smoke near pumps'), at(96.3, 700, 'smoke'))).toMatch(
      /^Never smoke near pumps\|/,
    )
    expect(await textOf(at(96.3, 700, 'smoke'), at(60, 700, 'Never smoke near pumps'))).toMatch(
      /^Never smoke near pumps\|/,
    )
  })

  it('differs from a word that is written twice, and from equal values of a table or of close lines', async () => {
    expect(await textOf(at(60, 700, 'very '), at(90, 700, 'very'), at(120, 700, 'old'))).toMatch(/^very very old\|/)
    expect(await textOf(at(60, 700, 'very very'), at(120, 700, 'very old'))).toMatch(/^very very very old\|/)
    expect(await textOf(at(60, 700, '12'), at(120, 700, '12'), at(180, 700, '12'))).toMatch(/^12 12 12\|/)
    expect(await textOf(at(60, 700, 'same'), at(60, 690, 'same'))).toMatch(/^same same\|/)
    expect(await textOf(at(60, 700, 'mm'), at(66, 700, 'mm'))).toMatch(/mm/)
  })

  it('stays where other letters are drawn over it', async () => {
    expect(await textOf(at(60, 700, 'abcd'), at(60, 700, '/'))).toMatch(/abcd.*\//)
  })
})
