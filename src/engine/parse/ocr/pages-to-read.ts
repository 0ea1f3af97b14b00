import type { OcrBudget } from './budget.js'
import { isLegible } from './legible.js'
import { lettersOf, type PageWithText } from './page-text.js'
import type { RecognisedPage } from './pages-read.js'

/** Letters of a stamp, a running line or a number of a page on a scan; a page of text has more. */
const STAMP_LETTERS = 200

interface PicturesRead {
  /** what the document says of them */
  metadata: OcrMetadata
  /** numbers of pages that could not be drawn or read */
  failed: number[]
}

/** What a document says of its pages that were read in pictures; nothing where it has none. */
export interface OcrMetadata {
  ocr?: {
    /** how many were */
    pages: number
    /** of their words, in per cent */
    confidence: number
    /** how many wait to be read, behind the publication */
    waiting?: number
  }
  /** which were, each with how sure its words are: `page:confidence`, parted by spaces */
  ocrPages?: string
}

/**
 * Reads the pages of a PDF that are pictures, where there are such; what draws and reads them is loaded with the first.
 * Lines of good pages stay as they are.
 */
export async function readPictures(
  bytes: Uint8Array,
  filename: string,
  pages: readonly PageWithText[],
  budget: OcrBudget,
): Promise<PicturesRead> {
  const doubtful = pages.filter(({ raw }) => lettersOf(raw) < STAMP_LETTERS || !isLegible(raw))
  if (doubtful.length === 0) return { metadata: {}, failed: [] }
  const { readScans } = await import('./pdf-scans.js')
  const { read, failed } = await readScans(bytes, filename, doubtful, budget)
  return { metadata: ocrMetadata(read, budget), failed }
}

/** @param read pages that were read in pictures */
export function ocrMetadata(read: readonly RecognisedPage[], { waiting }: OcrBudget): OcrMetadata {
  const withText = read.filter(({ lines }) => lines.length > 0)
  if (withText.length === 0 && waiting.length === 0) return {}
  const sum = withText.reduce((all, { confidence }) => all + confidence, 0)
  return {
    ocr: {
      pages: withText.length,
      confidence: Math.round(sum / Math.max(1, withText.length)),
      ...(waiting.length === 0 ? {} : { waiting: waiting.length }),
    },
    ocrPages: withText.map(({ page, confidence }) => `${page}:${confidence}`).join(' '),
  }
}
