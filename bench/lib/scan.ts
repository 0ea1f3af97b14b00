import { readFileSync } from 'node:fs'
import type { Bitmap } from '../../src/engine/parse/render/bitmap.js'
import { openPages } from '../../src/engine/parse/render/pdf-pages.js'
import { encodePng } from '../../src/engine/parse/render/png.js'
import { makePdf } from '../../test/engine/parse/render/make-pdf.js'
import { numbers } from './words.js'

/** How a page was scanned. */
export interface Scanned {
  dpi: number
  /** degrees clockwise by which the sheet lies askew */
  skew: number
  /** most by which a grey value differs from the right one */
  noise: number
  as: 'pdf' | 'png'
}

const POINTS_PER_INCH = 72

/** As pages of a folder are scanned in turns: coarse and fine, straight and askew, clean and grainy. */
export function mannerOf(place: number): Scanned {
  const dpi = [300, 200, 150][place % 3] ?? 300
  const skew = [0, 0.6, -0.9, 0.3][place % 4] ?? 0
  return { dpi, skew, noise: place % 2 === 0 ? 12 : 30, as: place % 5 < 3 ? 'pdf' : 'png' }
}

/** A page of a PDF as a scanner gives it: a PNG, or a PDF of nothing but its picture. */
export async function scanOf(path: string, page0: number, { dpi, skew, noise, as }: Scanned): Promise<Buffer> {
  const pages = await openPages(readFileSync(path), path)
  const drawn = pages.render(page0 + 1, { dpi, grey: true })
  pages.close()
  const scan = grainy(askew(drawn, skew), noise, page0 + 1)
  if (as === 'png') return encodePng(scan)
  const [width, height] = [scan.width, scan.height].map((pixels) => (pixels * POINTS_PER_INCH) / drawn.dpi)
  return makePdf([{ width: width ?? 0, height: height ?? 0, content: '', picture: scan }])
}

/** Turned about its middle, interpolated; what comes in at the edges is white. */
function askew(bitmap: Bitmap, degrees: number): Bitmap {
  if (degrees === 0) return bitmap
  const { width, height, data } = bitmap
  const [sin, cos] = [Math.sin((degrees * Math.PI) / 180), Math.cos((degrees * Math.PI) / 180)]
  const out = new Uint8Array(data.length).fill(255)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [dx, dy] = [x - width / 2, y - height / 2]
      const [u, v] = [cos * dx + sin * dy + width / 2, cos * dy - sin * dx + height / 2]
      const [left, top] = [Math.floor(u), Math.floor(v)]
      if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) continue
      const at = top * width + left
      const upper = (data[at] ?? 0) * (left + 1 - u) + (data[at + 1] ?? 0) * (u - left)
      const lower = (data[at + width] ?? 0) * (left + 1 - u) + (data[at + width + 1] ?? 0) * (u - left)
      out[y * width + x] = upper * (top + 1 - v) + lower * (v - top)
    }
  }
  return { ...bitmap, data: out }
}

function grainy(bitmap: Bitmap, most: number, seed: number): Bitmap {
  const random = numbers(seed)
  const data = bitmap.data.map((value) => Math.max(0, Math.min(255, value + (random() + random() - 1) * most)))
  return { ...bitmap, data }
}
