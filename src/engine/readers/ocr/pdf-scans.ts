import type { RecognisedPage } from '../../store/recognised-pages.js'
import { ReadError } from '../limits.js'
import type { Bitmap } from '../render/bitmap.js'
import { openPages, type PdfPages } from '../render/pdf-pages.js'
import type { OcrBudget } from './budget.js'
import { isLegible } from './legible.js'
import { buildLinesWithTables } from './page-tables.js'
import { countLetters, type PageWithText } from './page-text.js'
import { getRecogniser, type Recogniser } from './recognise.js'
import { toRecognisedPage } from './recognised-page.js'

const DPI = 300
/** After this many failed pages the remaining ones are not tried. */
const MAX_FAILED_PAGES = 5
/** Pictures that cover this fraction of a page make it a scan. */
const MIN_SCAN_FRACTION = 0.6
/** Pixels darker than this grey are ink; a page with a smaller fraction of ink is blank. */
const MAX_INK_GREY = 160
const MIN_INK_FRACTION = 0.0003

/** Result of the OCR of a PDF's pages. */
export interface ScanResult {
  /** Pages that were recognised and whose lines were replaced. */
  read: RecognisedPage[]
  /** Numbers of pages that could not be drawn or recognised. */
  failed: number[]
}

/**
 * Recognises pages that have no text, have illegible text, or are scans with a stamp. Replaces the lines of a page when
 * OCR yields more text.
 */
export async function recogniseScans(
  bytes: Uint8Array,
  filename: string,
  pages: readonly PageWithText[],
  budget: OcrBudget,
): Promise<ScanResult> {
  const read: RecognisedPage[] = []
  const failed: number[] = []
  let pdfPages: PdfPages | undefined
  let reader: Recogniser | undefined
  try {
    for (const page of pages) {
      if (failed.length >= MAX_FAILED_PAGES) {
        failed.push(page.number)
        continue
      }
      try {
        pdfPages ??= await openPages(bytes, filename)
        if (!isScan(page, pdfPages)) continue
        reader ??= await getRecogniser(budget.languages)
        const recognised = budget.page(page.number, createPageReader(page.number, pdfPages, reader))
        if (recognised === undefined || !isBetter(recognised, page)) continue
        page.lines = buildLinesWithTables(recognised)
        read.push(recognised)
      } catch (error) {
        if (error instanceof ReadError && error.code === 'unsupported-type') throw error
        // after a failure neither the renderer nor Tesseract can be trusted
        failed.push(page.number)
        pdfPages?.close()
        pdfPages = undefined
        reader = undefined
      }
    }
  } finally {
    pdfPages?.close()
    reader?.releaseMemory()
  }
  return { read, failed }
}

function isScan({ raw, number }: PageWithText, pdfPages: PdfPages): boolean {
  if (countLetters(raw) === 0) return true
  if (!isLegible(raw)) return true
  const { size, objects } = pdfPages.layout(number, [])
  const area = objects
    .filter(({ kind }) => kind === 'image')
    .reduce((sum, { left, top, right, bottom }) => sum + Math.abs((right - left) * (bottom - top)), 0)
  return area >= MIN_SCAN_FRACTION * size.width * size.height
}

function createPageReader(number: number, pdfPages: PdfPages, reader: Recogniser): () => RecognisedPage {
  return () => {
    const bitmap = pdfPages.render(number, { dpi: DPI, grey: true })
    if (isBlank(bitmap)) return { page: number, lines: [], confidence: 0 }
    return toRecognisedPage(number, reader.read(bitmap, bitmap.dpi))
  }
}

export function isBlank({ data }: Bitmap): boolean {
  let ink = 0
  for (const value of data) if (value < MAX_INK_GREY) ink++
  return ink < data.length * MIN_INK_FRACTION
}

/** OCR must yield more letters than the stamp on a scan; any text is better than illegible text. */
function isBetter({ lines }: RecognisedPage, page: PageWithText): boolean {
  const letterCount = lines.reduce((sum, [, , , , text]) => sum + countLetters(text), 0)
  return isLegible(page.raw) ? letterCount > countLetters(page.raw) : letterCount > 0
}
