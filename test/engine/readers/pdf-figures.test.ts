import { describe, expect, it } from 'vitest'
import { read } from './read.js'
import { makePdf, type PdfSheet } from './render/make-pdf.js'

const line = (text: string, x: number, y: number, size = 11) => `BT /F ${size} Tf ${x} ${y} Td (${text}) Tj ET\n`
const body = (from: number) =>
  Array.from({ length: 6 }, (_, row) =>
    line(`The harbour was busy in year ${row} of the survey, as told.`, 60, from - 14 * row),
  ).join('')
/** Axes and bars, 200 points wide and 120 high. */
const chart = (x: number, y: number) =>
  `1 w ${x} ${y} m ${x} ${y + 120} l S ${x} ${y} m ${x + 200} ${y} l S\n` +
  [20, 60, 100, 140].map((at) => `0 0 1 rg ${x + at} ${y} 30 ${40 + at / 2} re f\n`).join('')

const sheet = (content: string, more: Partial<PdfSheet> = {}): PdfSheet => ({
  width: 600,
  height: 800,
  content,
  ...more,
})
const figuresOf = async (sheets: PdfSheet[]) =>
  (await read('a.pdf', makePdf(sheets))).items.filter(({ modality }) => modality === 'image')

describe('pictures that are drawn in a PDF', () => {
  it('cover the drawing above their caption, and have page, box and caption', async () => {
    const content = body(740) + chart(100, 400) + line('Figure 1: Ships by year', 100, 380) + body(340)
    const document = await read('a.pdf', makePdf([sheet(body(740)), sheet(content)]))
    const [figure, ...others] = document.items.filter(({ modality }) => modality === 'image')
    expect(others).toEqual([])
    expect(figure).toMatchObject({ pageNumber: 2, caption: 'Figure 1: Ships by year', drawn: true })
    const { x = 0, y = 0, width = 0, height = 0 } = figure?.boundingBox ?? {}
    // From the top left corner: the axes begin at 100 and 800 - 520.
    expect([x, y, x + width, y + height].map((value) => Math.round(value / 10))).toEqual([10, 28, 30, 40])
    const shown = document.nodes.find(({ text }) => text.includes('Figure 1'))?.shows
    expect(shown).toMatchObject([
      { id: 'image-1', modality: 'image', pageNumber: 2, boundingBox: { x, y, width, height } },
    ])
  })

  it('may be drawn below their caption', async () => {
    const [figure] = await figuresOf([sheet(line('Figure 2. Nets', 100, 700) + chart(100, 560) + body(300))])
    expect(figure).toMatchObject({ caption: 'Figure 2. Nets' })
    expect(Math.round(figure?.boundingBox?.height ?? 0)).toBeGreaterThan(110)
  })

  it('need a caption: lines and boxes without a caption become no picture', async () => {
    expect(await figuresOf([sheet(body(740) + chart(100, 400) + body(340))])).toEqual([])
  })

  it('need a drawing: a sentence that mentions a figure is no caption', async () => {
    expect(await figuresOf([sheet(line('Figure 7 shows no drawing at all here.', 60, 700) + body(600))])).toEqual([])
  })

  it('do not change the text of the document', async () => {
    const text = body(740) + line('Figure 1: Ships by year', 100, 380) + body(340)
    const plain = await read('a.pdf', makePdf([sheet(text)]))
    const drawn = await read('a.pdf', makePdf([sheet(chart(100, 400) + text)]))
    expect(drawn.text).toBe(plain.text)
  })

  it('come in addition to items of pages: each page with content is an item, named by its number', async () => {
    const { items } = await read('a.pdf', makePdf([sheet(body(740)), sheet(''), sheet(body(700))]))
    const { buildItemName: itemName } = await import('../../../src/engine/readers/stored-parts.js')
    const pages = items.map((item, index) => [itemName(item, index), item.drawn])
    expect(pages).toEqual([
      ['page-1', true],
      ['page-3', true],
    ])
  })

  it('cause at worst a read error if the file is damaged', { timeout: 120_000 }, async () => {
    const whole = makePdf([sheet(body(740) + chart(100, 400) + line('Figure 1: Ships by year', 100, 380))])
    let state = 7
    for (let seed = 0; seed < 60; seed++) {
      const broken = Buffer.from(whole)
      for (let change = 0; change < 8; change++) {
        state = (state * 1103515245 + 12345) % 2 ** 31
        broken[state % broken.length] = state % 256
      }
      const ended: unknown = await read('a.pdf', broken).catch((error: unknown) => error)
      if (ended instanceof Error) expect(ended).toMatchObject({ name: 'ReadError' })
    }
  })
})
