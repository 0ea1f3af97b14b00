import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../../bench/lib/words.js'
import { findDrawnLines } from '../../../../src/engine/readers/ocr/drawn-lines.js'
import { findMissedAreas } from '../../../../src/engine/readers/ocr/missed-words.js'
import { isTexture } from '../../../../src/engine/readers/ocr/texture.js'
import { parseLines } from '../../../../src/engine/readers/ocr/words.js'
import type { Bitmap } from '../../../../src/engine/readers/render/bitmap.js'
import { toTableCells } from '../../../../src/engine/readers/tables/cells.js'
import { encodePng } from '../../../helpers/png.js'
import { makeDocxWithPicture } from '../office-picture.js'
import { read } from '../read.js'
import { makeScan, type PdfSheet, scansOf, sheetOf } from '../render/make-pdf.js'

const TIMEOUT_MS = 180_000
const ROWS = [
  ['Ferry line', '2021', '2022', '2023'],
  ['Port Ellery', '1,204', '1,318', '1,402'],
  ['North quay', '873', '912', '944'],
  ['Mill island', '5,120', '5,003', '4,877'],
  ['Lighthouse', '64', '71', '68'],
]
const WORDS = 'The harbour of the town is deep enough for ships of every size, and its light can'

const text = (x: number, y: number, words: string, size = 11) => `BT /F ${size} Tf ${x} ${y} Td (${words}) Tj ET`
const rule = (x1: number, y1: number, x2: number, y2: number) => `${x1} ${y1} m ${x2} ${y2} l S`

/** The rows between sentences; `ruled` draws a line around each cell. */
function sheet({ ruled = false, only = false } = {}): PdfSheet {
  const top = only ? 120 : 640
  const cells = ROWS.flatMap((row, at) =>
    row.map((cell, column) => text(column === 0 ? 76 : 200 + 90 * column, top - 22 * at, cell)),
  )
  const lines = ruled
    ? [
        ...Array.from({ length: 6 }, (_, at) => rule(72, top + 15 - 22 * at, 540, top + 15 - 22 * at)),
        ...[72, 280, 370, 460, 540].map((x) => rule(x, top + 15, x, top + 15 - 110)),
      ]
    : []
  const prose = only ? [] : [text(72, 720, `${WORDS} be seen.`), text(72, 480, `${WORDS} be seen.`)]
  return only
    ? { width: 595, height: 150, content: [...cells, ...lines].join('\n') }
    : { width: 595, height: 842, content: [...prose, ...cells, ...lines].join('\n') }
}

async function tablesIn(name: string, bytes: Buffer) {
  const document = await read(name, bytes)
  const elements = document.elements.filter(({ type }) => type === 'table')
  return { document, elements, tables: elements.map((one) => toTableCells(one.text ?? '', one.metadata)) }
}

/** Rotates by a small angle around the upper left corner. */
function askew({ width, height, data }: Bitmap, tilt: number): Bitmap {
  const out = new Uint8Array(data.length).fill(255)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [u, v] = [Math.round(x + tilt * y), Math.round(y - tilt * x)]
      if (u >= 0 && v >= 0 && u < width && v < height) out[y * width + x] = data[v * width + u] ?? 255
    }
  }
  return { width, height, channels: 1, data: out }
}

describe('tables in scanned pictures', { timeout: TIMEOUT_MS }, () => {
  it('get cells with heads, a box and a confidence on a scanned PDF page', async () => {
    const { document, elements, tables } = await tablesIn('scan.pdf', await makeScan([sheet()], 200))
    expect(tables).toMatchObject([{ rows: ROWS, headerRows: 1, headColumns: 1 }])
    const [element] = elements
    expect(element?.pageNumber).toBe(1)
    expect(element?.metadata).toMatchObject({ ocr: { confidence: expect.any(Number) } })
    const box = element?.metadata.boundingBox
    expect(box).toMatchObject({ x: expect.closeTo(76, -1), y: expect.closeTo(842 - 650, -1) })
    const passage = document.nodes.find((node) => node.text.includes('1,318'))
    expect(passage?.shows).toMatchObject([{ modality: 'table', ocr: expect.any(Number) }])
    expect(document.text.match(/1,318/g)).toHaveLength(1)
    expect(document.text).toContain(`${WORDS} be seen.`)
  })

  it('keep their cells on a skewed sheet, found by their drawn lines', async () => {
    const [scan] = await scansOf([sheet({ ruled: true })], 200)
    if (scan === undefined) throw new Error('nothing was drawn')
    const drawn = findDrawnLines(askew(scan, 0.012), 200, 0.012)
    const long = (lines: readonly { from: number; to: number }[], least: number) =>
      lines.filter(({ from, to }) => to - from > least)
    expect(long(drawn.level, 1200).length).toBeGreaterThanOrEqual(6)
    expect(long(drawn.upright, 290).length).toBeGreaterThanOrEqual(5)
    const { tables } = await tablesIn('askew.png', encodePng(askew(scan, 0.012)))
    expect(tables).toMatchObject([{ rows: ROWS }])
  })

  it('become elements of the document that contains the picture', async () => {
    const [scan] = await scansOf([sheet({ only: true })], 150)
    if (scan === undefined) throw new Error('nothing was drawn')
    const { document, tables } = await tablesIn('letter.docx', makeDocxWithPicture(encodePng(scan)))
    expect(tables).toMatchObject([{ rows: ROWS, headerRows: 1 }])
    expect(document.items.map(({ modality }) => modality).sort()).toEqual(['image', 'table'])
    expect(document.text.match(/1,318/g)).toHaveLength(1)
    const shown = document.nodes.find((node) => node.text.includes('1,318'))?.shows ?? []
    expect(shown.find(({ modality }) => modality === 'table')).toMatchObject({ ocr: expect.any(Number) })
  })

  it('do not appear in scanned prose of one or two columns, nor in a letter', async () => {
    const prose = sheetOf(Array.from({ length: 20 }, () => WORDS.slice(0, 70)))
    const columns: PdfSheet = {
      width: 595,
      height: 842,
      content: Array.from({ length: 20 }, (_, at) =>
        [60, 310].map((x) => text(x, 760 - 15 * at, WORDS.slice(0, 42), 10)).join('\n'),
      ).join('\n'),
    }
    const letter = sheetOf([
      'Mill of Port Ellery',
      '12 Harbour Road',
      '',
      'Dear Sir or Madam,',
      '',
      `${WORDS.slice(0, 60)}`,
    ])
    const { tables } = await tablesIn('prose.pdf', await makeScan([prose, columns, letter], 150))
    expect(tables).toEqual([])
  })
})

describe('the search for lines in hostile pictures', { timeout: TIMEOUT_MS }, () => {
  const side = 1200
  const random = createRandom(3)
  const made = (grey: (x: number, y: number) => number): Bitmap => ({
    width: side,
    height: side,
    channels: 1,
    data: Uint8Array.from({ length: side * side }, (_, at) => grey(at % side, Math.floor(at / side))),
  })
  const pictures = {
    black: made(() => 0),
    chessboard: made((x, y) => (((x >> 4) + (y >> 4)) % 2) * 255),
    lines: made((x, y) => (y % 6 === 0 || x % 6 === 0 ? 0 : 255)),
    noise: made(() => random() * 255),
  }

  it.each(Object.entries(pictures))('finds at most 20,000 lines and no table (picture: %s)', async (_, bitmap) => {
    const { level, upright } = findDrawnLines(bitmap, 150, 0)
    expect(level.length).toBeLessThanOrEqual(20_000)
    expect(upright.length).toBeLessThanOrEqual(20_000)
    const word = (top: number) => ({ text: 'a', confidence: 90, left: 10, right: 30, top, bottom: top + 20 })
    const rows = Array.from({ length: 60 }, (__, at) => {
      const box = { left: 10, right: 30, top: 25 * at, bottom: 25 * at + 20 }
      return { ...box, words: [word(25 * at)], size: 20, baseline: 25 * at + 18, tilt: 0 }
    })
    expect(findMissedAreas(bitmap, rows).length).toBeLessThanOrEqual(120)
    const read = await tablesIn('hostile.png', encodePng(bitmap)).catch(() => undefined)
    expect(read?.tables ?? []).toEqual([])
  })

  it('treats a grainy scan of text as text, and noise as a texture', async () => {
    const [scan] = await scansOf([sheet()], 150)
    if (scan === undefined) throw new Error('nothing was drawn')
    const data = scan.data.map((value) => Math.max(0, Math.min(255, value + random() * 60 - 30)))
    expect(isTexture({ ...scan, data })).toBe(false)
    expect(isTexture(pictures.noise)).toBe(true)
  })
})

describe('the search for words that text recognition missed', { timeout: TIMEOUT_MS }, () => {
  it('covers positions where ink continues a row, and no recognised word', async () => {
    const [scan] = await scansOf([sheet()], 150)
    if (scan === undefined) throw new Error('nothing was drawn')
    const scale = 150 / 72
    const word = (words: string, x: number, y: number, width: number) => ({
      text: words,
      confidence: 95,
      bbox: { x0: x * scale, x1: (x + width) * scale, y0: (842 - y - 9) * scale, y1: (842 - y + 2) * scale },
    })
    const line = (words: ReturnType<typeof word>[], y: number) => {
      const [first, last] = [words[0]?.bbox.x0 ?? 0, words.at(-1)?.bbox.x1 ?? 0]
      const [top, bottom] = [words[0]?.bbox.y0 ?? 0, words[0]?.bbox.y1 ?? 0]
      const level = (842 - y) * scale
      return {
        bbox: { x0: first, x1: last, y0: top, y1: bottom },
        baseline: { x0: first, x1: last, y0: level, y1: level },
        rowAttributes: { rowHeight: 11 * scale },
        words,
      }
    }
    const lines = [618, 596, 574, 552].map((y) =>
      line([word('x', 76, y, 62), word('y', 290, y, 30), word('z', 380, y, 30)], y),
    )
    const found = findMissedAreas(scan, parseLines(JSON.stringify({ blocks: [{ paragraphs: [{ lines }] }] })))
    expect(found).toHaveLength(4)
    for (const area of found) expect(area.left / scale).toBeCloseTo(470, -1)
  })
})
