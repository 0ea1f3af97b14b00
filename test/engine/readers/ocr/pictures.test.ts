import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../../bench/lib/words.js'
import { removeFalseText } from '../../../../src/engine/readers/ocr/pages.js'
import { isTexture } from '../../../../src/engine/readers/ocr/texture.js'
import { rotateBitmap } from '../../../../src/engine/readers/picture/transform.js'
import type { Bitmap } from '../../../../src/engine/readers/render/bitmap.js'
import type { RecognisedLine } from '../../../../src/engine/store/recognised-pages.js'
import { encodePng } from '../../../helpers/png.js'
import { failureOf, read } from '../read.js'
import { scansOf, sheetOf } from '../render/make-pdf.js'
import { makeBmp, makeGif, makeTiff } from './picture-files.js'

const TIMEOUT_MS = 120_000
const TEXT = [
  '# Opening hours',
  'The museum of Port Ellery opens at nine in the morning.',
  'On Mondays it stays closed.',
]

async function scanOf(lines: readonly string[], dpi = 110): Promise<Bitmap> {
  const [scan] = await scansOf([sheetOf(lines)], dpi)
  if (scan === undefined) throw new Error('nothing was drawn')
  // The upper third of the sheet.
  const height = Math.floor(scan.height / 3)
  return { ...scan, height, data: scan.data.subarray(0, scan.width * height) }
}

describe('text recognition in picture files', { timeout: TIMEOUT_MS }, () => {
  it('reads PNG, GIF, BMP, and TIFF with and without compression, with headings by size', async () => {
    const scan = await scanOf(TEXT)
    const files = {
      'a.png': encodePng(scan),
      'a.gif': makeGif(scan),
      'a.bmp': makeBmp(scan),
      'a.tif': makeTiff([scan]),
      'b.tif': makeTiff([scan], { deflate: true }),
    }
    for (const [name, bytes] of Object.entries(files)) {
      const document = await read(name, bytes)
      expect([name, document.text]).toEqual([name, expect.stringContaining('opens at nine in the morning')])
      expect([name, document.title]).toEqual([name, 'Opening hours'])
      expect(document.metadata).toMatchObject({
        pageCount: 1,
        ocr: { pages: 1 },
        ocrPages: expect.stringMatching(/^1:\d+$/),
      })
    }
  })

  it('gives the confidence of each word, and the picture as an item', async () => {
    const document = await read('a.png', encodePng(await scanOf(TEXT)))
    const paragraph = document.elements.find(({ text }) => text?.includes('nine'))
    const { words, confidence }: { words: number[]; confidence: number } = Object(paragraph?.metadata.ocr)
    expect(words.length).toBeGreaterThanOrEqual(10)
    expect(words.every((word) => Number.isInteger(word) && word >= 0 && word <= 100)).toBe(true)
    expect(confidence).toBeGreaterThan(80)
    expect(document.items.map(({ modality, asset }) => [modality, asset?.contentType])).toEqual([
      ['image', 'image/png'],
    ])
  })

  it('reads a TIFF file page by page, with page numbers', async () => {
    const pages = [await scanOf(['The first page is about boats.']), await scanOf(['The second page is about trains.'])]
    const document = await read('two.tiff', makeTiff(pages))
    const trains = document.nodes.find(({ text }) => text.includes('trains'))
    expect(trains?.pageNumber).toBe(2)
    expect(document.metadata).toMatchObject({ pageCount: 2, ocr: { pages: 2 } })
  })

  it('reads rotated pictures, by EXIF orientation or by detection', async () => {
    const scan = await scanOf(TEXT)
    // Orientation 6: the camera was rotated, so the stored picture must be rotated by 90 degrees.
    const stored = rotateBitmap(scan, 270)
    const byExif = await read('told.tif', makeTiff([stored], { deflate: true, orientation: 6 }))
    expect(byExif.text).toContain('opens at nine in the morning')
    for (const degrees of [90, 180, 270]) {
      const document = await read('turned.png', encodePng(rotateBitmap(scan, degrees)))
      expect([degrees, document.text]).toEqual([degrees, expect.stringContaining('opens at nine in the morning')])
    }
  })

  it('drops uncertain lines of a photograph, and all lines if too few words are certain', () => {
    const line = (text: string, sure: number): RecognisedLine => [0, 9, 0, 9, text, [sure]]
    const page = { page: 1, lines: [line('bough', 30), line('Harbourmaster', 90)], confidence: 70 }
    expect(removeFalseText(page).lines.map(([, , , , text]) => text)).toEqual(['Harbourmaster'])
    const none = { page: 1, lines: [], confidence: 0 }
    // Sure, but no word; a word, but unsure; a word among much noise.
    expect(removeFalseText({ ...page, lines: [line('oO', 90), line('0°', 95)] })).toEqual(none)
    expect(removeFalseText({ ...page, lines: [line('Harbourmaster', 45)] })).toEqual(none)
    const specks = Array.from({ length: 60 }, () => line('oO', 70))
    expect(removeFalseText({ ...page, lines: [line('Harbourmaster', 90), ...specks] })).toEqual(none)
    expect(removeFalseText({ ...page, lines: [line('Bar', 92)], confidence: 92 }).lines).toHaveLength(1)
  })

  it('finds no text in a picture of random strokes, and warns', async () => {
    const width = 500
    const height = 300
    const data = new Uint8Array(width * height).fill(235)
    const random = createRandom(3)
    for (let stroke = 0; stroke < 220; stroke++) {
      let x = random() * width
      let y = random() * height
      const across = random() * 2 - 1
      const down = random() * 2 - 1
      for (let step = 0; step < 30; step++, x += across, y += down)
        for (const [dx, dy] of [
          [0, 0],
          [1, 0],
          [0, 1],
        ] as const) {
          const at = Math.floor(y + dy) * width + Math.floor(x + dx)
          if (x >= 0 && x < width - 1 && at >= 0 && at < data.length) data[at] = 40
        }
    }
    const document = await read('twigs.png', encodePng({ width, height, channels: 1, data }))
    expect(document.text).toBe('twigs.png')
    expect(document.metadata.warnings).toEqual([expect.stringContaining('no text could be read in it')])
  })

  it('finds no text in a pattern finer than letters', async () => {
    const width = 900
    const height = 700
    const data = new Uint8Array(width * height)
    for (let at = 0; at < data.length; at++)
      data[at] = (at % width) % 3 === (Math.floor(at / width) >> 1) % 3 ? 20 : 240
    const weave: Bitmap = { width, height, channels: 1, data }
    expect(isTexture(weave)).toBe(true)
    expect(isTexture(await scanOf(TEXT))).toBe(false)
    const document = await read('weave.png', encodePng(weave))
    expect([document.text, document.recognised[0]?.lines]).toEqual(['weave.png', []])
  })

  it('gives the file name as text of a picture without text, and warns', async () => {
    const white: Bitmap = { width: 300, height: 200, channels: 1, data: new Uint8Array(60_000).fill(255) }
    const document = await read('holiday in Port Ellery.png', encodePng(white))
    expect(document.text).toBe('holiday in Port Ellery.png')
    expect(document.metadata.warnings).toEqual([expect.stringContaining('no text could be read in it')])
  })

  it('rejects pictures with too many pixels, and files that are no readable picture', async () => {
    const small = encodePng({ width: 8, height: 8, channels: 1, data: new Uint8Array(64) })
    const bomb = Buffer.from(small)
    bomb.writeUInt32BE(64_000, 16)
    bomb.writeUInt32BE(64_000, 20)
    // The checksum of the header must be right, or the size is not checked.
    bomb.writeUInt32BE(crc32(bomb.subarray(12, 29)), 29)
    expect(await failureOf(read('bomb.png', bomb))).toMatchObject({
      message: expect.stringMatching(/bomb\.png.*64,000 × 64,000/),
    })
    expect(await failureOf(read('cut.png', small.subarray(0, 40)))).toMatchObject({ code: 'malformed' })
    const heic = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0', 'latin1')
    expect(await failureOf(read('photo.heic', heic))).toMatchObject({
      code: 'unsupported-type',
      message: expect.stringContaining('convert it to JPEG or PNG'),
    })
  })
})
