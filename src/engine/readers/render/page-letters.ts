import type { PDFiumModule } from '@hyzyla/pdfium'
import type { Box } from './page-objects.js'

type Pdfium = Awaited<ReturnType<typeof PDFiumModule>>

/** A character of a page with its box as it is shown. */
export interface PlacedLetter extends Box {
  text: string
}

/** A page of a newspaper has some 30,000 characters; those beyond this count are dropped. */
const MAX_LETTERS = 60_000
/** PDFium returns integers; this is the number of units in a point. */
const UNITS_PER_POINT = 16
/**
 * Some fonts claim heights that their letters do not have. A line box is used only up to this multiple of the letter's
 * height plus this fraction of the page.
 */
const MAX_HEIGHT_FACTOR = 3
const MAX_HEIGHT_FRACTION = 0.03

type Bounds = [left: number, bottom: number, right: number, top: number]

/**
 * The characters of an open page in the order of its file, with boxes of the height of their lines. Leaves out what has
 * no box or is not a character, such as spaces that PDFium adds.
 *
 * @param size size of the page as it is shown, in points
 */
export function readPageLetters(pdfium: Pdfium, page: number, size: { width: number; height: number }): PlacedLetter[] {
  const text = pdfium._FPDFText_LoadPage(page)
  const scratch = pdfium.wasmExports.malloc(32)
  if (text === 0 || scratch === 0) return []
  const call = (name: string, ...values: number[]): number => {
    const exported: unknown = Reflect.get(pdfium.wasmExports, name)
    return typeof exported === 'function' ? Number(exported(...values)) : 0
  }
  const maxHeight = MAX_HEIGHT_FRACTION * Math.max(size.width, size.height)
  const view = () => new DataView(pdfium.HEAPU8.buffer, scratch, 32)
  const [width, height] = [Math.round(size.width * UNITS_PER_POINT), Math.round(size.height * UNITS_PER_POINT)]
  const toShownPoint = (x: number, y: number): [number, number] => {
    call('FPDF_PageToDevice', page, 0, 0, width, height, 0, x, y, scratch, scratch + 4)
    return [view().getInt32(0, true) / UNITS_PER_POINT, view().getInt32(4, true) / UNITS_PER_POINT]
  }
  /** Left, bottom, right and top in the coordinates of the page. */
  const boundsOf = (index: number): Bounds | undefined => {
    const found = call('FPDFText_GetCharBox', text, index, scratch, scratch + 8, scratch + 16, scratch + 24)
    const [left = 0, right = 0, bottom = 0, top = 0] = [0, 8, 16, 24].map((offset) => view().getFloat64(offset, true))
    if (found === 0 || !(right > left && top > bottom)) return undefined
    const hasLoose = call('FPDFText_GetLooseCharBox', text, index, scratch)
    const [x = 0, above = 0, u = 0, below = 0] = [0, 4, 8, 12].map((offset) => view().getFloat32(offset, true))
    const isLine =
      hasLoose !== 0 && u > x && above > below && above - below <= maxHeight + MAX_HEIGHT_FACTOR * (top - bottom)
    return isLine ? [x, below, u, above] : [left, bottom, right, top]
  }
  try {
    const letters: PlacedLetter[] = []
    const count = Math.min(MAX_LETTERS, pdfium._FPDFText_CountChars(text))
    for (let index = 0; index < count; index++) {
      const code = call('FPDFText_GetUnicode', text, index)
      if (code < 0x21 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) continue
      const bounds = boundsOf(index)
      if (bounds === undefined) continue
      const [left, bottom, right, top] = bounds
      letters.push({
        text: String.fromCodePoint(code),
        ...boxAround(toShownPoint(left, bottom), toShownPoint(right, top)),
      })
    }
    return letters
  } finally {
    pdfium._FPDFText_ClosePage(text)
    pdfium.wasmExports.free(scratch)
  }
}

function boxAround([x, y]: readonly [number, number], [u, v]: readonly [number, number]): Box {
  return { left: Math.min(x, u), top: Math.min(y, v), right: Math.max(x, u), bottom: Math.max(y, v) }
}
