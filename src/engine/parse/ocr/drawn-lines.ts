import type { Bitmap } from '../render/bitmap.js'
import { POINTS_PER_INCH } from '../render/points.js'

/** A straight line in a picture, in pixels: `at` is its position across its direction, `from` and `to` are its ends. */
export interface PixelLine {
  at: number
  from: number
  to: number
}

/** Minimal difference in grey between a line and its surroundings. */
const DARKER = 34
/**
 * In points: maximal thickness, minimal lengths of level and upright lines, and the largest gap that does not end a
 * line.
 */
const THICK = 2.2
const LEVEL = 18
const UPRIGHT = 13
const BREAK = 1.6
/** Minimal fraction of dark pixels in a line. */
const DARK_SHARE = 0.75
/** A picture with more lines than this is a pattern without table lines. */
const MOST_STRETCHES = 20_000

/**
 * Finds thin level and upright lines of a grey picture: runs of pixels that are darker than the pixels above and below,
 * or left and right of them. Coordinates are those of the picture rotated about its upper left corner so that its text
 * is level. Inspects each pixel twice and copies nothing.
 *
 * @param tilt slope of the text lines, in pixels per pixel
 * @returns empty lists for a pattern
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
  /** Distance in pixels to the neighbours with which a pixel is compared. */
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

/** Finds upright lines. Walks row by row, the order in memory, and tracks a run for each column. */
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
