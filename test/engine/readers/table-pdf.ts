import { pdfOf } from './hostile-pdfs.js'

/** Something on a page: a text at a position, or drawing operators. */
export type OnPage = { at: [number, number]; text: string; size?: number } | { draw: string }

/** A PDF of pages of 612 by 792 points, in Courier: each character is 0.6 of the size wide. */
export function pdfOfPages(pages: OnPage[][]): Buffer {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' ')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>',
  ]
  for (const [index, page] of pages.entries()) {
    const content = page.map(operators).join('\n')
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + 2 * index} 0 R /Resources << /Font << /F 3 0 R >> >> >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    )
  }
  return pdfOf(objects)
}

function operators(thing: OnPage): string {
  if ('draw' in thing) return thing.draw
  const { at, text, size = 10 } = thing
  const escaped = text.replace(/[\\()]/g, '\\$&')
  return `BT /F ${size} Tf 1 0 0 1 ${at[0]} ${at[1]} Tm (${escaped}) Tj ET`
}

/** Texts on one baseline: a positive number is the left edge, a negative one the right edge. */
export function row(y: number, ...cells: [number, string][]): OnPage[] {
  return cells.map(([x, text]) => ({ at: [x < 0 ? -x - text.length * 6 : x, y], text }))
}

/** Horizontal and vertical lines. */
export function line(x1: number, y1: number, x2: number, y2: number): OnPage {
  return { draw: `${x1} ${y1} m ${x2} ${y2} l S` }
}
