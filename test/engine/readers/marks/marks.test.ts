import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { createDrawer } from '../../../../src/engine/readers/draw/drawer.js'
import { mergeIntoLineBoxes } from '../../../../src/engine/readers/marks/boxes.js'
import { extractLetters, findTexts, type TargetText } from '../../../../src/engine/readers/marks/find-text.js'
import { markPage, markPicture } from '../../../../src/engine/readers/marks/mark-page.js'
import type { RecognisedPage } from '../../../../src/engine/store/recognised-pages.js'
import { read } from '../read.js'
import { makePdf, makeScan, type PdfSheet, sheetOf } from '../render/make-pdf.js'

const TIMEOUT_MS = 120_000
const folder = mkdtempSync(join(tmpdir(), 'ks-marks-'))
afterAll(() => removeFolder(folder))

const textToMark = (text: string, before = '', behind = ''): TargetText => ({ text, before, after: behind })

function onPage(
  bytes: Buffer,
  texts: TargetText[],
  more: { page?: number; read?: RecognisedPage; exactly?: TargetText[] } = {},
) {
  return markPage(bytes, { filename: 'a.pdf', page: 1, wanted: texts, exactly: [], ...more })
}

const LINES = ['The mill of Port Ellery ground', 'forty tons of flour.', 'No wheel was broken.']
/** The middle of a text line: the baseline of line n of `sheetOf`. */
const lineAt = (n: number) => 842 - (770 - (n + 1) * 12 * 1.4) - 4

describe('the marking of a text on a PDF page', { timeout: TIMEOUT_MS }, () => {
  it('gives a box for each line, at its drawn position', async () => {
    const marks = await onPage(makePdf([sheetOf(LINES)]), [textToMark('Port Ellery ground forty tons')])
    expect(marks).toMatchObject({ width: 595, height: 842 })
    expect(marks.boxes).toHaveLength(2)
    for (const [nth, { x, y, width, height }] of marks.boxes.entries()) {
      expect(y).toBeLessThan(lineAt(nth))
      expect(y + height).toBeGreaterThan(lineAt(nth))
      expect(height).toBeLessThan(20)
      expect(x + width).toBeLessThan(300)
    }
    const [first, second] = marks.boxes
    // The words `The mill of` precede it.
    expect(first?.x).toBeGreaterThan(120)
    expect(second?.x).toBeCloseTo(72, 0)
  })

  it('gives boxes at the displayed position on rotated pages', async () => {
    const shown: Record<number, (x: number, y: number) => [number, number]> = {
      90: (x, y) => [842 - y, x],
      180: (x, y) => [595 - x, 842 - y],
      270: (x, y) => [y, 595 - x],
    }
    const [upright] = (await onPage(makePdf([sheetOf(LINES)]), [textToMark('forty tons of flour.')])).boxes
    const { x, y, width, height } = upright ?? { x: 0, y: 0, width: 0, height: 0 }
    for (const [rotate, at] of Object.entries(shown)) {
      const marks = await onPage(makePdf([{ ...sheetOf(LINES), rotate: Number(rotate) }]), [
        textToMark('forty tons of flour.'),
      ])
      expect(marks.boxes, rotate).toHaveLength(1)
      const [box] = marks.boxes
      const [midX, midY] = at(x + width / 2, y + height / 2)
      expect(Math.abs((box?.x ?? 0) + (box?.width ?? 0) / 2 - midX), rotate).toBeLessThan(2)
      expect(Math.abs((box?.y ?? 0) + (box?.height ?? 0) / 2 - midY), rotate).toBeLessThan(2)
    }
  })

  it('gives boxes only in the column that contains the text', async () => {
    const left = sheetOf(['Otters hunt trout', 'at night, alone.'])
    const right = sheetOf(['Badgers dig setts', 'in dry banks.'], 12, 330)
    const both: PdfSheet = { ...left, content: `${left.content}\n${right.content}` }
    const { boxes } = await onPage(makePdf([both]), [textToMark('Badgers dig setts in dry banks.')])
    expect(boxes).toHaveLength(2)
    for (const { x } of boxes) expect(x).toBeGreaterThan(300)
  })

  it('chooses among repeated texts by their context', async () => {
    const sheet = makePdf([sheetOf(['Fees in May', 'Nine crowns a night.', 'Fees in June', 'Nine crowns a night.'])])
    const june = textToMark('Nine crowns a night.', 'Nine crowns a night.\n\nFees in June\n\n')
    const { boxes } = await onPage(sheet, [june])
    expect(boxes).toHaveLength(1)
    expect(boxes[0]?.y).toBeGreaterThan(lineAt(2))
  })

  it('finds a text with small reading errors by similarity, and no other text', async () => {
    const sheet = makePdf([sheetOf(LINES)])
    const alike = textToMark('The mill of Port E1lery ground forty t0ns of flour.')
    expect((await onPage(sheet, [alike])).boxes).toHaveLength(2)
    expect((await onPage(sheet, [], { exactly: [alike] })).boxes).toEqual([])
    expect((await onPage(sheet, [textToMark('Nobody knows where the badgers of the valley sleep.')])).boxes).toEqual([])
    await expect(onPage(sheet, [alike], { page: 2 })).rejects.toThrow('no page 2')
  })

  it('gives boxes at the recognised words of a scan', async () => {
    const bytes = await makeScan([sheetOf(LINES, 16)])
    const { recognised } = await read('scan.pdf', bytes)
    const [page] = recognised
    expect(page?.size?.map(Math.round)).toEqual([595, 842])
    const { boxes } = await onPage(
      bytes,
      [textToMark('No wheel was broken.')],
      page === undefined ? {} : { read: page },
    )
    expect(boxes).toHaveLength(1)
    const baseline = 842 - (770 - 3 * 16 * 1.4)
    expect(boxes[0]?.y).toBeLessThan(baseline - 4)
    expect((boxes[0]?.y ?? 0) + (boxes[0]?.height ?? 0)).toBeGreaterThan(baseline - 2)
    expect(boxes[0]?.x).toBeGreaterThan(66)
    expect(boxes[0]?.x).toBeLessThan(78)
  })

  it('gives boxes in the displayed orientation of a picture that was rotated for recognition', () => {
    // One line along the top of a picture 400 wide and 200 high, as the recogniser sees it in each rotation.
    const line = (left: number, right: number, y: number): RecognisedPage['lines'] => [[left, right, y, 20, 'mill', []]]
    const seen: RecognisedPage[] = [
      { page: 1, confidence: 90, size: [400, 200], lines: line(40, 140, 170) },
      { page: 1, confidence: 90, size: [200, 400], rotation: 90, lines: line(40, 140, 170) },
      { page: 1, confidence: 90, size: [400, 200], rotation: 180, lines: line(40, 140, 170) },
      { page: 1, confidence: 90, size: [200, 400], rotation: 270, lines: line(40, 140, 170) },
    ]
    const boxes = seen.map((page) => markPicture(page, [textToMark('mill')]))
    expect(boxes.map((marks) => [marks?.width, marks?.height])).toEqual(Array(4).fill([400, 200]))
    expect(boxes.flatMap((marks) => marks?.boxes ?? [])).toEqual([
      { x: 40, y: 14.8, width: 100, height: 20 },
      { x: 214.8, y: 60, width: 20, height: 100 },
      { x: 260, y: 165.2, width: 100, height: 20 },
      { x: 165.2, y: 40, width: 20, height: 100 },
    ])
    expect(markPicture({ page: 1, confidence: 90, lines: line(0, 1, 1) }, [textToMark('mill')])).toBeUndefined()
  })

  it('gives at most 2,000 boxes, however often the text repeats', () => {
    const page = extractLetters(Array.from({ length: 60_000 }, () => 'a'))
    const texts = Array.from({ length: 50 }, () => textToMark('a'.repeat(300), 'a'.repeat(200), 'a'.repeat(200)))
    expect(findTexts(page, texts).size).toBeGreaterThan(0)
    const scattered = Array.from({ length: 60_000 }, (_, at) => ({
      left: 0,
      top: at * 9,
      right: 1,
      bottom: at * 9 + 1,
    }))
    expect(mergeIntoLineBoxes(scattered)).toHaveLength(2000)
  })
})

describe('the marking process', { timeout: TIMEOUT_MS }, () => {
  it('returns boxes or an error for damaged PDF files, and marks the next intact file', async () => {
    const drawer = createDrawer()
    const path = join(folder, 'damaged.pdf')
    const whole = makePdf([sheetOf(LINES)])
    try {
      for (let seed = 1; seed <= 40; seed++) {
        const bytes = Buffer.from(seed % 4 === 0 ? whole.subarray(0, (whole.length * seed) / 41) : whole)
        for (let at = seed; at < bytes.length; at += 37 + seed) bytes[at] = (seed * at) % 256
        writeFileSync(path, bytes)
        const marking = { filename: 'damaged.pdf', page: 1, wanted: [textToMark('forty tons')], exactly: [] }
        const code = await drawer.mark(marking, 'a', { path }).then(
          ({ boxes }) => (boxes.length < 50 ? 'told' : 'many'),
          (error: { code?: string }) => error.code,
        )
        expect(['told', 'not-found', 'asset-too-large']).toContain(code)
      }
      writeFileSync(path, whole)
      const marking = { filename: 'damaged.pdf', page: 1, wanted: [textToMark('forty tons')], exactly: [] }
      expect((await drawer.mark(marking, 'a', { path })).boxes).toHaveLength(1)
    } finally {
      drawer.close()
    }
  })
})
