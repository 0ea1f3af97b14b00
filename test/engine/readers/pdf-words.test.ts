import { describe, expect, it } from 'vitest'
import { read } from './read.js'
import { type OnPage, pdfOfPages, row } from './table-pdf.js'

async function textOf(...page: OnPage[]): Promise<string[]> {
  const { elements } = await read('a.pdf', pdfOfPages([page]))
  return elements.map(({ text = '' }) => text)
}
const lines = (...texts: string[]): OnPage[] => texts.flatMap((text, index) => row(700 - 12 * index, [60, text]))

describe('a word at the end of a line of a PDF', () => {
  it('keeps the hyphen of a compound, and loses that of a syllable', async () => {
    const texts: [string, string, string][] = [
      [
        'The harbour has a well-',
        'known lighthouse on its pier.',
        'The harbour has a well-known lighthouse on its pier.',
      ],
      ['The crew went on train-', 'ing for the whole summer.', 'The crew went on training for the whole summer.'],
      ['The boats came in to-', 'gether with the tide.', 'The boats came in together with the tide.'],
      ['The pilot gave the under-', 'standing that was asked.', 'The pilot gave the understanding that was asked.'],
      ['The line of Smith-', 'Jones is the older one.', 'The line of Smith-Jones is the older one.'],
      ['The rules of the HAR-', 'BOUR are posted.', 'The rules of the HARBOUR are posted.'],
      ['The books are pre-', 'and post-war prints.', 'The books are pre- and post-war prints.'],
      ['Der Haupt-', 'bahnhof ist alt.', 'Der Hauptbahnhof ist alt.'],
      ['Der Ein-', 'und Ausgang ist zu.', 'Der Ein- und Ausgang ist zu.'],
    ]
    for (const [first, second, text] of texts) expect(await textOf(...lines(first, second))).toEqual([text])
  })

  it('follows the other places of the document, whole or with a hyphen', async () => {
    const joined = await textOf(...lines('The light-', 'house is old. A lighthouse', 'is a tower.'))
    expect(joined[0]).toMatch(/^The lighthouse is old/)
    const hyphen = await textOf(...lines('The re-', 'entry was slow. A re-entry', 'is hard.'))
    expect(hyphen[0]).toMatch(/^The re-entry was slow/)
  })

  it('may be an ordinal, which ends no sentence', async () => {
    const text =
      'Die Anmeldung für den Liegeplatz läuft noch bis zum 31. Juli des Jahres, danach ist sie nicht möglich.'
    for (const at of [' Juli', ' 31.']) {
      const [first = '', second = ''] = [text.slice(0, text.indexOf(at)), text.slice(text.indexOf(at) + 1)]
      expect(
        await textOf(...lines('1. Die Regeln gelten für alle Boote im Hafen und auf der Reede,', first, second)),
      ).toHaveLength(1)
    }
  })
})

describe('a drop cap', () => {
  const cap = (letter: string, y: number): OnPage => ({ at: [60, y], text: letter, size: 32 })
  const beside = (...texts: string[]): OnPage[] => texts.flatMap((text, index) => row(700 - 12 * index, [82, text]))

  it('becomes the first letter of the word next to it', async () => {
    const rest = beside('he river was high that year, and', 'the mill stood still for a month.')
    expect((await textOf(cap('T', 688), ...rest)).join(' ')).toMatch(/^The river was high that year, and the mill/)
    expect((await textOf(...rest, cap('T', 688))).join(' ')).toMatch(/^The river was high that year, and the mill/)
  })

  it('may be a word', async () => {
    const rest = beside('river runs through the town, and', 'the mill stood still for a month.')
    expect((await textOf(cap('A', 688), ...rest)).join(' ')).toMatch(/^A river runs through the town, and the mill/)
  })
})
