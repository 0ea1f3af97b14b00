import type { PdfPage } from '../pdf/pdf-blocks.js'

/** A page with the text that its file has for it, as it is. */
export interface PageWithText extends PdfPage {
  raw: string
}

/** How many letters and digits a text has. */
export function lettersOf(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0
}
