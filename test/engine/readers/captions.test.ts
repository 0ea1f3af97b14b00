import { describe, expect, it } from 'vitest'
import { type PdfPage, removeRunningLines } from '../../../src/engine/readers/pdf/pdf-blocks.js'
import { read } from './read.js'

describe('captions in HTML', () => {
  it('belong to the picture above them and to the table below them', async () => {
    const table = '<table><tr><th>Year</th><th>Lamps</th></tr><tr><td>2024</td><td>12</td></tr></table>'
    const { items, elements } = await read(
      'a.html',
      `<html><body><h1>Lamps</h1><img src="https://a.example/a.png" alt="a lamp"><p>Figure 3. The lamp of Brest.</p>
       <p>Figure 4 of the book shows another.</p><p>Tabelle 2: Lampen</p>${table}<p>Table of all lamps</p></body></html>`,
    )
    expect(items.map(({ modality, caption }) => [modality, caption])).toEqual([
      ['image', 'Figure 3. The lamp of Brest.'],
      ['table', 'Tabelle 2: Lampen'],
    ])
    const roles = elements.flatMap(({ text, metadata }) => (metadata.role === 'caption' ? [text] : []))
    expect(roles).toEqual(['Figure 3. The lamp of Brest.', 'Tabelle 2: Lampen'])
  })
})

describe('running heads of a PDF', () => {
  const line = (text: string, y: number) => ({ text, left: 50, right: 200, y, size: 10, turned: false })
  const pages = (heads: string[]): PdfPage[] =>
    heads.map((head, at) => ({
      number: at + 1,
      lines: [
        line(head, 780),
        ...['one', 'two', 'three', 'four', 'five'].map((word, row) =>
          line(`Line ${word} of ${'abcdefghij'[at]}`, 700 - 20 * row),
        ),
      ],
    }))
  const headsOf = (list: PdfPage[]) => list.map(({ lines }) => lines[0]?.text)

  it('remain only on the first page of a chapter with four or more pages', () => {
    const book = pages(['Oil 1', 'Oil 2', 'Oil 3', 'Oil 4', 'Wicks', 'Wicks', 'Lamps', 'Lamps', 'Lamps', 'Lamps'])
    removeRunningLines(book)
    expect(headsOf(book)).toEqual([
      'Oil 1',
      ...['Line one of b', 'Line one of c', 'Line one of d'],
      'Wicks',
      'Wicks',
      'Lamps',
      ...['Line one of h', 'Line one of i', 'Line one of j'],
    ])
  })
})
