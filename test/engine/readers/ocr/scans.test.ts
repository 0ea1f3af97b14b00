import { describe, expect, it } from 'vitest'
import { isLegible } from '../../../../src/engine/readers/ocr/legible.js'
import { read } from '../read.js'
import { makePdf, makeScan, type PdfSheet, scansOf, sheetOf } from '../render/make-pdf.js'

const TIMEOUT_MS = 120_000
const SHEET = ['# Yearly report', 'The mill of Port Ellery ground forty tons of flour.', 'No wheel was broken.']
const PLAIN =
  'The harbour of the town is deep enough for ships of every size, and its light can be seen from far away. '

/** Each letter shifted by three, like a font without a Unicode mapping. */
function shifted(text: string): string {
  return text.toLowerCase().replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 94) % 26) + 97))
}

describe('the recognition of scanned PDF pages', { timeout: TIMEOUT_MS }, () => {
  it('reads a scanned page after a page with good text, which stays unchanged', async () => {
    const [scan] = await scansOf([sheetOf(SHEET)], 150)
    const good = sheetOf([PLAIN.slice(0, 60), PLAIN.slice(60), PLAIN.slice(0, 60), PLAIN.slice(60)])
    const document = await read(
      'mixed.pdf',
      makePdf([good, { ...good, ...(scan === undefined ? {} : { picture: scan }) }]),
    )
    expect(document.text).toContain('light can be seen from far away')
    expect(document.nodes.find(({ text }) => text.includes('forty tons of flour'))?.pageNumber).toBe(2)
    expect(document.metadata).toMatchObject({
      pageCount: 2,
      ocr: { pages: 1 },
      ocrPages: expect.stringMatching(/^2:\d+$/),
    })
    const first = document.elements.find(({ pageNumber }) => pageNumber === 1)
    expect(first?.metadata).not.toHaveProperty('ocr')
  })

  it('reads a page that is rotated by 90 degrees', async () => {
    const [scan] = await scansOf([sheetOf(SHEET)], 150)
    const sheet: PdfSheet = {
      width: 595,
      height: 842,
      content: '',
      rotate: 90,
      ...(scan === undefined ? {} : { picture: scan }),
    }
    expect((await read('turned.pdf', makePdf([sheet]))).text).toContain('forty tons of flour')
  })

  it('reads a page whose text layer is illegible', async () => {
    const lines = Array.from({ length: 12 }, () => shifted(PLAIN.slice(0, 80)))
    const hidden = `3 Tr ${sheetOf(lines).content}`
    const [scan] = await scansOf([sheetOf(SHEET)], 150)
    // Hidden text over the picture of the page.
    const document = await read(
      'shifted.pdf',
      makePdf([{ ...sheetOf(SHEET), over: hidden, ...(scan === undefined ? {} : { picture: scan }) }]),
    )
    expect(document.text).toContain('forty tons of flour')
    expect(document.text).not.toContain(shifted('harbour'))
  })

  it('accepts a blank page before a page with text', async () => {
    const blank: PdfSheet = { width: 595, height: 842, content: '' }
    const scan = await makeScan([blank, sheetOf(SHEET)], 150)
    const document = await read('half.pdf', scan)
    expect(document.text).toContain('No wheel was broken')
  })
})

describe('the check for illegible text', () => {
  it('accepts text in several languages, numbers and capitals, and rejects shifted and unmapped letters', () => {
    expect(isLegible(PLAIN.repeat(2))).toBe(true)
    expect(
      isLegible('Přístav města je dost hluboký pro lodě všech velikostí a jeho světlo je vidět z dálky. '.repeat(3)),
    ).toBe(true)
    expect(isLegible('12 340 1,200 88.2 % 4711 USD 12 EUR 99 B2B Q1 Q2 Q3 FY24 '.repeat(5))).toBe(true)
    expect(isLegible('港の灯台は町の誇りです。船はどの大きさでも入れます。'.repeat(5))).toBe(true)
    expect(isLegible('THE HARBOUR OF THE TOWN, ITS LIGHT AND ITS SHIPS. LLC INC CORP LTD '.repeat(4))).toBe(true)
    expect(isLegible(PLAIN.replace(/[a-z]/g, '\ufffd').repeat(2))).toBe(false)
    expect(isLegible('\ue001\ue002\ue003 \ue004\ue005 '.repeat(40))).toBe(false)
    expect(isLegible('(cid:12)(cid:44)(cid:8) '.repeat(30))).toBe(false)
    expect(isLegible(shifted(PLAIN).repeat(2))).toBe(false)
  })
})
