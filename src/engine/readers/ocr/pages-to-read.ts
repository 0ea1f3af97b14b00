import type { RecognisedPage } from '../../store/recognised-pages.js'
import type { OcrBudget } from './budget.js'
import { isLegible } from './legible.js'
import { countLetters, type PageWithText } from './page-text.js'

/** Maximal number of letters of a stamp, running header or page number on a scan; a page of text has more. */
const STAMP_LETTERS = 200

interface PageOcrResult {
  /** Fields for the metadata of the document. */
  metadata: OcrMetadata
  /** Numbers of pages that could not be drawn or recognised. */
  failed: number[]
}

/** OCR metadata of a document; empty without recognised or pending pages. */
export interface OcrMetadata {
  ocr?: {
    /** Number of recognised pages. */
    pages: number
    /** Mean confidence of the pages, in percent. */
    confidence: number
    /** Number of pages that wait for OCR in the background. */
    waiting?: number
  }
  /** Recognised pages with their confidences: `page:confidence`, separated by spaces. */
  ocrPages?: string
}

/**
 * Recognises the pages of a PDF that are pictures. The renderer and Tesseract are loaded only when there is such a
 * page. Lines of pages with good text are not changed.
 */
export async function recogniseDoubtfulPages(
  bytes: Uint8Array,
  filename: string,
  pages: readonly PageWithText[],
  budget: OcrBudget,
): Promise<PageOcrResult> {
  const doubtful = pages.filter(({ raw }) => countLetters(raw) < STAMP_LETTERS || !isLegible(raw))
  if (doubtful.length === 0) return { metadata: {}, failed: [] }
  const { recogniseScans } = await import('./pdf-scans.js')
  const { read, failed } = await recogniseScans(bytes, filename, doubtful, budget)
  return { metadata: buildOcrMetadata(read, budget), failed }
}

/** @param read recognised pages */
export function buildOcrMetadata(read: readonly RecognisedPage[], { waiting }: OcrBudget): OcrMetadata {
  const withText = read.filter(({ lines }) => lines.length > 0)
  if (withText.length === 0 && waiting.length === 0) return {}
  const sum = withText.reduce((total, { confidence }) => total + confidence, 0)
  return {
    ocr: {
      pages: withText.length,
      confidence: Math.round(sum / Math.max(1, withText.length)),
      ...(waiting.length === 0 ? {} : { waiting: waiting.length }),
    },
    ocrPages: withText.map(({ page, confidence }) => `${page}:${confidence}`).join(' '),
  }
}
