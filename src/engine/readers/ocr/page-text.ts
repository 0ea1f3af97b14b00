import type { PdfPage } from '../pdf/pdf-blocks.js'

/** A page with the raw text that its file has for it. */
export interface PageWithText extends PdfPage {
  raw: string
}

/** Counts the letters and digits of a text. */
export function countLetters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}
