import { describe, expect, it } from 'vitest'
import { moveNotes } from '../../../src/engine/readers/pdf/pdf-notes.js'
import { read } from './read.js'
import { type OnPage, pdfOfPages, row } from './table-pdf.js'

async function blocks(...pages: OnPage[][]): Promise<[string, string | undefined, unknown][]> {
  const { elements } = await read('a.pdf', pdfOfPages(pages))
  return elements.map(({ type, text, metadata }) => [type, text, metadata.role])
}

/** Text with a small raised mark after its words. */
const marked = (y: number, text: string, mark: string, more = ''): OnPage[] => [
  { at: [60, y], text },
  { at: [60 + text.length * 6, y + 4], text: mark, size: 6 },
  ...(more === '' ? [] : [{ at: [60 + text.length * 6 + mark.length * 3.6, y] as [number, number], text: more }]),
]
/** A note with its mark, raised or in line. */
const note = (y: number, mark: string, text: string, size = 8): OnPage[] => [
  { at: [60, y + 3], text: mark, size: size * 0.6 },
  { at: [60 + mark.length * size * 0.36 + 1, y], text, size },
]
const small = (y: number, text: string): OnPage => ({ at: [60, y], text, size: 8 })
const body = (y: number): OnPage[] => row(y, [60, 'The river was high that year, and the mill stood still for'])

describe('footnotes of a PDF', () => {
  it('follow the paragraph that refers to them, with all their lines and the mark in brackets', async () => {
    const page = [
      ...marked(700, 'The boat was sold', '1', '. Nobody had asked for it,'),
      ...row(688, [60, 'and it was bought back a year later by the miller.']),
      ...body(660),
      ...marked(648, 'all of the summer.', '2'),
      ...note(100, '1', 'To the miller of Hod, who had a shed'),
      small(90, 'behind the mill for it.'),
      ...note(80, '2', 'It runs again.'),
      ...row(40, [300, '17']),
    ]
    expect(await blocks(page)).toEqual([
      [
        'paragraph',
        'The boat was sold[1]. Nobody had asked for it, and it was bought back a year later by the miller.',
        undefined,
      ],
      ['paragraph', '[1] To the miller of Hod, who had a shed behind the mill for it.', 'footnote'],
      ['paragraph', expect.stringMatching(/summer\.\[2\]$/), undefined],
      ['paragraph', '[2] It runs again.', 'footnote'],
      ['paragraph', '17', undefined],
    ])
  })

  it('do not follow from an exponent after a variable, a unit, or a letter next to an operator', async () => {
    const foot = note(90, '2', 'It runs again.')
    for (const text of ['The mill is as wide as x', 'It has a yard of 3 km', 'We take it that E = M'])
      expect((await blocks([...marked(700, text, '2'), ...body(688), ...foot])).at(-1)?.[2]).toBeUndefined()
    const page = [...marked(700, 'It grows by x', '2'), ...body(688), ...marked(660, 'This was Plan B', '2'), ...foot]
    expect((await blocks(page)).map(([, text]) => text)).toContainEqual(expect.stringMatching(/Plan B\[2\]$/))
  })

  it('may have the letter size of the text, or an asterisk as mark', async () => {
    const large = [
      ...marked(700, 'The boat was sold', '1', ' in May.'),
      ...body(688),
      ...note(90, '1', 'To the miller.', 10),
    ]
    expect((await blocks(large)).at(-1)).toEqual(['paragraph', '[1] To the miller.', 'footnote'])
    const sign = [...row(700, [60, 'The boat was sold* in May.']), ...body(688), small(90, '* To the miller.')]
    expect(await blocks(sign)).toEqual([
      ['paragraph', expect.stringContaining('sold[*] in May.'), undefined],
      ['paragraph', '[*] To the miller.', 'footnote'],
    ])
  })

  it('belong to the mark on their page if each page restarts the numbers', async () => {
    const page = (text: string, words: string): OnPage[] => [
      ...marked(700, text, '1', ' and so on.'),
      ...body(688),
      ...note(90, '1', words),
    ]
    const made = await blocks(page('The boat', 'First page.'), page('The barn', 'Second page.'))
    expect(made.filter(([, , role]) => role === 'footnote').map(([, text]) => text)).toEqual([
      '[1] First page.',
      '[1] Second page.',
    ])
    expect(made.findIndex(([, text]) => text === '[1] First page.')).toBeLessThan(
      made.findIndex(([, text]) => text?.startsWith('The barn[1]')),
    )
  })

  it('exclude small type that no mark refers to or that has text below', async () => {
    const alone = [...body(700), small(90, '1 Printed in York.')]
    const above = [
      ...marked(700, 'The boat', '1', ' was sold.'),
      small(680, '1 University of York'),
      ...body(640),
      ...body(628),
    ]
    const power = [...marked(700, 'An area of x', '2', ' was sold.'), ...body(688)]
    for (const page of [alone, above, power]) {
      const made = await blocks(page)
      expect(made.some(([, text, role]) => role !== undefined || text?.includes('['))).toBe(false)
    }
  })
})

describe('lists of a PDF', () => {
  it('keep the indents of their items', async () => {
    const page = [
      ...row(700, [60, '- first']),
      ...row(688, [80, '- inner']),
      ...row(676, [100, '- deepest']),
      ...row(664, [80, '- inner again']),
      ...row(652, [60, '- second']),
    ]
    expect(await blocks(page)).toEqual([
      ['list', '- first\n  - inner\n    - deepest\n  - inner again\n- second', undefined],
    ])
  })
})

it('keeps notes to which only notes refer, or which refer to each other, and two notes with one mark', () => {
  const block = (text: string, refers: string[], label?: string) => ({
    type: 'paragraph' as const,
    ...{ text, refers, pageNumber: 1, size: 10, y: 0, lineCount: 1, turned: false },
    ...(label === undefined ? {} : { note: label }),
  })
  const texts = (...blocks: Parameters<typeof moveNotes>[0]) => moveNotes(blocks).map(({ text }) => text)
  const [one, two] = [block('one', ['2'], '1'), block('two', ['1'], '2')]
  expect(texts(block('text', ['1']), block('more', []), one, two)).toEqual(['text', 'one', 'two', 'more'])
  expect(texts(block('text', []), one, two)).toEqual(['text', 'one', 'two'])
  expect(texts(block('text', ['1']), block('first', [], '1'), block('second', [], '1'))).toEqual([
    'text',
    'second',
    'first',
  ])
})
