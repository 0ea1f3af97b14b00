import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../../../src/engine/readers/limits.js'
import { DEFAULT_OCR } from '../../../../src/engine/readers/ocr/budget.js'
import { compileBytes } from '../../../../src/engine/readers/read-document.js'
import type { Bitmap } from '../../../../src/engine/readers/render/bitmap.js'
import type { OcrRequest } from '../../../../src/engine/store/recognised-pages.js'
import { encodePng } from '../../../helpers/png.js'
import { makeEpub, makeOdf, makePptx } from '../office.js'
import { picture } from '../picture.js'
import { failureOf, makeDocx, read, wordParagraph } from '../read.js'
import { makePdf, scansOf, sheetOf } from '../render/make-pdf.js'

const TIMEOUT_MS = 120_000
const WORDS = ['The ferry to Port Ellery', 'leaves at seventeen past nine', 'from the northern quay.']
const NEEDLE = 'leaves at seventeen past nine'

/** The text as a screenshot. */
async function shotOf(lines: readonly string[], dpi = 110): Promise<Bitmap> {
  const [scan] = await scansOf([sheetOf(lines)], dpi)
  if (scan === undefined) throw new Error('nothing was drawn')
  const height = Math.floor(scan.height / 6)
  return { ...scan, height, data: scan.data.subarray(0, scan.width * height) }
}

const shot = async (lines: readonly string[] = WORDS) => encodePng(await shotOf(lines))
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const relations = (name: string, target: string) =>
  `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="${name}" Type="${office}/image" Target="${target}"/></Relationships>`
const drawing = `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><wp:docPr id="1" name="x" descr="a timetable"/><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip xmlns:r="${office}" r:embed="p1"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`
const word = (body: string, bytes: Buffer) =>
  makeDocx(body, [
    { name: 'word/_rels/document.xml.rels', content: relations('p1', 'media/a.png') },
    { name: 'word/media/a.png', content: bytes },
  ])
const inline = (bytes: Buffer, alt = '') => `<img alt="${alt}" src="data:image/png;base64,${bytes.toString('base64')}">`
const page = (body: string) => `<html><body><h1>Ferries</h1><p>How to get there.</p>${body}</body></html>`
const withOcr = (name: string, bytes: Buffer, ocr: Partial<OcrRequest>) =>
  compileBytes(bytes, { filename: name, ocr: { ...DEFAULT_OCR, ...ocr } }, DEFAULT_LIMITS)

describe('text recognition in pictures of a document', { timeout: TIMEOUT_MS }, () => {
  it('adds the text of a picture in Word after its alternative text, with its confidence', async () => {
    const document = await read('a.docx', word(wordParagraph('Timetable', 'Heading1') + drawing, await shot()))
    expect(document.text).toContain(NEEDLE)
    const [item] = document.items
    expect(item).toMatchObject({ ocrText: expect.stringContaining(NEEDLE), sourceMetadata: { alt: 'a timetable' } })
    const node = document.nodes.find(({ text }) => text.includes(NEEDLE))
    expect(node?.text).toContain('a timetable')
    expect(node?.shows?.[0]?.ocr).toBeGreaterThan(80)
    expect(document.metadata).toMatchObject({ ocr: { pages: 0, pictures: 1, confidence: expect.any(Number) } })
  })

  it('reads pictures in HTML, slides, e-books, OpenDocument and mail', async () => {
    const bytes = await shot()
    const slide = makePptx(
      [
        {
          shapes: `<p:pic><p:nvPicPr><p:cNvPr id="4" name="p" descr=""/></p:nvPicPr><p:blipFill><a:blip xmlns:r="${office}" r:embed="i1"/></p:blipFill></p:pic>`,
          relations: [{ id: 'i1', kind: 'image', target: '../media/a.png' }],
        },
      ],
      [{ name: 'ppt/media/a.png', content: bytes }],
    )
    const odt = makeOdf(
      'text',
      '<office:text><text:p>Before.</text:p><text:p><draw:frame><draw:image xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="Pictures/a.png"/></draw:frame></text:p></office:text>',
      '',
      [{ name: 'Pictures/a.png', content: bytes }],
    )
    const mail = [
      'From: ada@example.org',
      'Subject: Ferries',
      'MIME-Version: 1.0',
      'Content-Type: text/html; charset=utf-8',
      '',
      page(inline(bytes)),
    ].join('\r\n')
    const xhtml = '<html><body><h1>Ferries</h1><p><img src="../a.png" alt="a timetable"/></p></body></html>'
    const book = makeEpub([{ name: 'one', xhtml }], { extra: [{ name: 'OEBPS/a.png', content: bytes }] })
    const files = {
      'a.epub': book,
      'a.html': Buffer.from(page(inline(bytes))),
      'a.pptx': slide,
      'a.odt': odt,
      'a.eml': Buffer.from(mail),
    }
    for (const [name, file] of Object.entries(files))
      expect([name, (await read(name, file)).text]).toEqual([name, expect.stringContaining(NEEDLE)])
  })

  it('reads a Word file with only a picture, and fails as empty if the picture has no text', async () => {
    expect((await read('a.docx', word(drawing, await shot()))).text).toContain(NEEDLE)
    const blank = drawing.replace('descr="a timetable"', '')
    expect(await failureOf(read('b.docx', word(blank, picture(320, 200))))).toEqual({
      code: 'empty',
      message: 'b.docx has no text, only pictures',
    })
  })

  it('reads a picture on a PDF page whose text layer does not contain the text of the picture', async () => {
    const content = 'BT /F 12 Tf 72 700 Td (The harbour has a timetable on its wall, seen here.) Tj ET'
    const sheet = { width: 595, height: 842, content }
    const figure = await shotOf(WORDS, 150)
    const placed = (over: string) => makePdf([{ ...sheet, picture: figure, over, at: [72, 400, 450, 106] }])
    const document = await read('a.pdf', placed(content))
    expect(document.text).toContain(NEEDLE)
    expect(document.items.find(({ modality }) => modality === 'image')).toMatchObject({
      ocrText: expect.stringContaining(NEEDLE),
      pageNumber: 1,
    })
  })

  it('reads a repeated picture once, and skips icons', async () => {
    const bytes = await shot()
    const document = await read('a.html', page(`${inline(bytes)}<p>Again.</p>${inline(bytes)}`))
    expect(document.text.split(NEEDLE)).toHaveLength(2)
    const icon = encodePng({ width: 60, height: 20, channels: 1, data: new Uint8Array(1200).fill(90) })
    const plain = await read('b.html', page(inline(icon, 'close')))
    expect(plain.recognised).toEqual([])
  })

  it('adds no text for a picture of noise', async () => {
    const data = new Uint8Array(400 * 300)
    let seed = 7
    for (let at = 0; at < data.length; at++) {
      seed = (seed * 1103515245 + 12345) % 2147483648
      data[at] = (seed >> 16) & 255
    }
    const noise = encodePng({ width: 400, height: 300, channels: 1, data })
    const document = await read('a.html', page(inline(noise, 'grass')))
    expect(document.text).toBe('Ferries\n\nHow to get there.\n\ngrass')
    expect(document.metadata).not.toHaveProperty('ocr')
  })

  it('A40: stops at its time budget, counts waiting pictures, and reads no recognised picture again', async () => {
    const others = ['Boats are mended on Tuesday', 'by the old carpenter', 'in the yard.']
    const file = Buffer.from(page(inline(await shot()) + inline(await shot(others))))
    const first = await withOcr('a.html', file, { budgetMs: 1 })
    expect(first.metadata).toMatchObject({ ocr: { pictures: 1, waiting: 1 } })
    expect(first.text).toContain(NEEDLE)
    expect(first.text).not.toContain('carpenter')
    const second = await withOcr('a.html', file, { budgetMs: 1, known: first.recognised })
    expect(second.text).toContain(NEEDLE)
    expect(second.text).toContain('carpenter')
    expect(second.recognised).toHaveLength(1)
    expect(second.metadata).not.toHaveProperty('ocr.waiting')
    // Known by its content, not by its position.
    const turned = Buffer.from(page(inline(await shot(others)) + inline(await shot())))
    const third = await withOcr('a.html', turned, { known: [...first.recognised, ...second.recognised] })
    expect(third.recognised).toEqual([])
    expect(third.items.map(({ ocrText = '' }) => ocrText.includes('carpenter'))).toEqual([true, false])
  })

  it('skips a picture that cannot be decoded, and warns about a missing language', async () => {
    const bytes = await shot()
    const cut = bytes.subarray(0, 200)
    const document = await read('a.html', page(inline(cut, 'broken') + inline(bytes)))
    expect(document.text).toContain(NEEDLE)
    const missing = await withOcr('a.html', Buffer.from(page(inline(bytes))), { languages: { codes: ['xyz'] } })
    expect(missing.text).toContain('How to get there.')
    expect(missing.metadata.warnings).toEqual([expect.stringContaining('the language xyz is not installed')])
  })
})
