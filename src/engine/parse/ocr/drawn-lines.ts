import type { Bitmap } from '../render/bitmap.js'
import { POINTS_PER_INCH } from '../render/points.js'

/** A straight line in a picture, in pixels: place across its direction, from where and to where. */
export interface PixelLine {
  at: number
  from: number
  to: number
}

/** A line is darker by so much than what stands beside it. */
const DARKER = 34
/** In points: lines are not thicker, level and upright ones not shorter; a break so wide does not end one. */
const THICK = 2.2
const LEVEL = 18
const UPRIGHT = 13
const BREAK = 1.6
/** Of a line so much is dark. */
const DARK_SHARE = 0.75
/** A picture with more stretches than this is a pattern, in which no lines of a table are looked for. */
const MOST_STRETCHES = 20_000

/**
 * Thin level and upright lines of a grey picture, by stretches of pixels that are darker than what is above and below, or
 * left and right of them. Their places are those of a picture that is turned so that text does not fall, about its upper left
 * corner. Each pixel is looked at twice; nothing is copied.
 *
 * @param tilt how far lines of text fall from one pixel to the next
 * @returns nothing of a pattern
 */
export function linesDrawn(bitmap: Bitmap, dpi: number, tilt: number): { level: PixelLine[]; upright: PixelLine[] } {
  const none = { level: [], upright: [] }
  if (bitmap.channels !== 1) return none
  const scale = dpi / POINTS_PER_INCH
  const size = { apart: Math.max(2, Math.round(THICK * scale)), gap: Math.max(1, Math.round(BREAK * scale)) }
  const level = levelLines(bitmap, tilt, { ...size, least: LEVEL * scale })
  const upright = uprightLines(bitmap, tilt, { ...size, least: UPRIGHT * scale })
  return level === undefined || upright === undefined ? none : { level, upright }
}

interface Sizes {
  /** pixels to the neighbours that a pixel is compared with */
  apart: number
  gap: number
  least: number
}

function levelLines({ width, height, data }: Bitmap, tilt: number, sizes: Sizes): PixelLine[] | undefined {
  const { apart, gap, least } = sizes
  const falls = Int32Array.from({ length: width }, (_, x) => Math.round(tilt * x))
  const lowest = Math.max(0, falls.at(-1) ?? 0)
  const highest = Math.min(0, falls.at(-1) ?? 0)
  const lines: PixelLine[] = []
  const step = apart * width
  for (let row = -lowest; row < height - highest; row++) {
    let start = -1
    let last = -1
    let dark = 0
    for (let x = 0; x <= width; x++) {
      const y = row + (falls[x] ?? 0)
      let isDark = false
      if (x < width && y >= apart && y < height - apart) {
        const at = y * width + x
        const limit = (data[at] ?? 0) + DARKER
        isDark = (data[at - step] ?? 0) > limit && (data[at + step] ?? 0) > limit
      }
      if (isDark) {
        if (start === -1) {
          start = x
          dark = 0
        }
        last = x
        dark++
      } else if (start !== -1 && (x - last > gap || x === width)) {
        const length = last - start + 1
        if (length >= least && dark >= DARK_SHARE * length) lines.push({ at: row, from: start, to: last + 1 })
        if (lines.length > MOST_STRETCHES) return undefined
        start = -1
      }
    }
  }
  return lines
}

/** The same from top to bottom, row by row all the same, as they lie in memory: each column keeps its own account. */
function uprightLines({ width, height, data }: Bitmap, tilt: number, sizes: Sizes): PixelLine[] | undefined {
  const { apart, gap, least } = sizes
  const farthest = Math.round(Math.abs(tilt) * height)
  const count = width + 2 * farthest
  const starts = new Int32Array(count).fill(-1)
  const lasts = new Int32Array(count)
  const darks = new Int32Array(count)
  const lines: PixelLine[] = []
  const close = (column: number): void => {
    const start = starts[column] ?? -1
    const length = (lasts[column] ?? 0) - start + 1
    if (length >= least && (darks[column] ?? 0) >= DARK_SHARE * length)
      lines.push({ at: column - farthest, from: start, to: start + length })
    starts[column] = -1
  }
  for (let y = 0; y < height; y++) {
    const shift = farthest + Math.round(tilt * y)
    const from = y * width
    for (let x = apart; x < width - apart; x++) {
      const at = from + x
      const limit = (data[at] ?? 0) + DARKER
      if ((data[at - apart] ?? 0) <= limit || (data[at + apart] ?? 0) <= limit) continue
      const column = x + shift
      if (starts[column] !== -1 && y - (lasts[column] ?? 0) > gap) close(column)
      if (starts[column] === -1) {
        starts[column] = y
        darks[column] = 0
      }
      lasts[column] = y
      darks[column] = (darks[column] ?? 0) + 1
    }
    if (lines.length > MOST_STRETCHES) return undefined
  }
  for (let column = 0; column < count; column++) if (starts[column] !== -1) close(column)
  return lines
}
