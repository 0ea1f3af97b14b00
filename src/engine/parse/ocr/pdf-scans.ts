import { ReadError } from '../limits.js'
import type { Bitmap } from '../render/bitmap.js'
import { openPages, type PdfPages } from '../render/pdf-pages.js'
import type { OcrBudget } from './budget.js'
import { isLegible } from './legible.js'
import { linesWithTables } from './page-tables.js'
import { lettersOf, type PageWithText } from './page-text.js'
import type { RecognisedPage } from './pages-read.js'
import { type Recogniser, recogniser } from './recognise.js'
import { recognisedPage } from './recognised-page.js'

const DPI = 300
/** After this many failed pages the remaining ones are not tried. */
const MOST_FAILED = 5
/** Pictures that cover this fraction of a page make it a scan. */
const SCAN_SHARE = 0.6
/** Pixels darker than this grey are ink; a page with a smaller fraction of ink is blank. */
const INK = 160
const MIN_INK = 0.0003

/** Result of the OCR of a PDF's pages. */
export interface Scans {
  /** Pages that were recognised and whose lines were replaced. */
  read: RecognisedPage[]
  /** Numbers of pages that could not be drawn or recognised. */
  failed: number[]
}

/**
 * Recognises pages that have no text, have illegible text, or are scans with a stamp. Replaces the lines of a page when
 * OCR yields more text.
 */
export async function readScans(
  bytes: Uint8Array,
  filename: string,
  pages: readonly PageWithText[],
  budget: OcrBudget,
): Promise<Scans> {
  const read: RecognisedPage[] = []
  const failed: number[] = []
  let drawn: PdfPages | undefined
  let reader: Recogniser | undefined
  try {
    for (const page of pages) {
      if (failed.length >= MOST_FAILED) {
        failed.push(page.number)
        continue
      }
      try {
        drawn ??= await openPages(bytes, filename)
        if (!isScan(page, drawn)) continue
        reader ??= await recogniser(budget.languages)
        const found = budget.page(page.number, readPage(page.number, drawn, reader))
        if (found === undefined || !isBetter(found, page)) continue
        page.lines = linesWithTables(found)
        read.push(found)
      } catch (error) {
        if (error instanceof ReadError && error.code === 'unsupported-type') throw error
        // after a failure neither the renderer nor Tesseract can be trusted
        failed.push(page.number)
        drawn?.close()
        drawn = undefined
        reader = undefined
      }
    }
  } finally {
    drawn?.close()
    reader?.rest()
  }
  return { read, failed }
}

function isScan({ raw, number }: PageWithText, drawn: PdfPages): boolean {
  if (lettersOf(raw) === 0) return true
  if (!isLegible(raw)) return true
  const { size, objects } = drawn.layout(number, [])
  const area = objects
    .filter(({ kind }) => kind === 'image')
    .reduce((sum, { left, top, right, bottom }) => sum + Math.abs((right - left) * (bottom - top)), 0)
  return area >= SCAN_SHARE * size.width * size.height
}

function readPage(number: number, drawn: PdfPages, reader: Recogniser): () => RecognisedPage {
  return () => {
    const bitmap = drawn.render(number, { dpi: DPI, grey: true })
    if (isBlank(bitmap)) return { page: number, lines: [], confidence: 0 }
    return recognisedPage(number, reader.read(bitmap, bitmap.dpi))
  }
}

export function isBlank({ data }: Bitmap): boolean {
  let ink = 0
  for (const value of data) if (value < INK) ink++
  return ink < data.length * MIN_INK
}

/** OCR must yield more letters than the stamp on a scan; any text is better than illegible text. */
function isBetter({ lines }: RecognisedPage, page: PageWithText): boolean {
  const found = lines.reduce((sum, [, , , , text]) => sum + lettersOf(text), 0)
  return isLegible(page.raw) ? found > lettersOf(page.raw) : found > 0
}
