import type { Bitmap } from '../render/bitmap.js'
import { POINTS_PER_INCH } from '../render/points.js'

/** A straight line in a picture, in pixels: `at` is its position across its direction, `from` and `to` are its ends. */
export interface PixelLine {
  at: number
  from: number
  to: number
}

/** Minimal difference in grey between a line and its surroundings. */
const MIN_CONTRAST = 34
/**
 * In points: maximal thickness, minimal lengths of level and upright lines, and the largest gap that does not end a
 * line.
 */
const MAX_THICKNESS_PT = 2.2
const MIN_LEVEL_LENGTH_PT = 18
const MIN_UPRIGHT_LENGTH_PT = 13
const MAX_BREAK_PT = 1.6
/** Minimal fraction of dark pixels in a line. */
const MIN_DARK_FRACTION = 0.75
/** A picture with more lines than this is a pattern without table lines. */
const MAX_LINES = 20_000

/**
 * Finds thin level and upright lines of a grey picture: runs of pixels that are darker than the pixels above and below,
 * or left and right of them. Coordinates are those of the picture rotated about its upper left corner so that its text
 * is level. Inspects each pixel twice and copies nothing.
 *
 * @param tilt slope of the text lines, in pixels per pixel
 * @returns empty lists for a pattern
 */
export function findDrawnLines(
  bitmap: Bitmap,
  dpi: number,
  tilt: number,
): { level: PixelLine[]; upright: PixelLine[] } {
  const none = { level: [], upright: [] }
  if (bitmap.channels !== 1) return none
  const scale = dpi / POINTS_PER_INCH
  const size = {
    apart: Math.max(2, Math.round(MAX_THICKNESS_PT * scale)),
    gap: Math.max(1, Math.round(MAX_BREAK_PT * scale)),
  }
  const level = findLevelLines(bitmap, tilt, { ...size, minLength: MIN_LEVEL_LENGTH_PT * scale })
  const upright = findUprightLines(bitmap, tilt, { ...size, minLength: MIN_UPRIGHT_LENGTH_PT * scale })
  return level === undefined || upright === undefined ? none : { level, upright }
}

interface LineSearchSizes {
  /** Distance in pixels to the neighbours with which a pixel is compared. */
  apart: number
  gap: number
  minLength: number
}

function findLevelLines(
  { width, height, data }: Bitmap,
  tilt: number,
  sizes: LineSearchSizes,
): PixelLine[] | undefined {
  const { apart, gap, minLength } = sizes
  const yShifts = Int32Array.from({ length: width }, (_, x) => Math.round(tilt * x))
  const maxYShift = Math.max(0, yShifts.at(-1) ?? 0)
  const minYShift = Math.min(0, yShifts.at(-1) ?? 0)
  const lines: PixelLine[] = []
  const step = apart * width
  for (let row = -maxYShift; row < height - minYShift; row++) {
    let start = -1
    let last = -1
    let dark = 0
    for (let x = 0; x <= width; x++) {
      const y = row + (yShifts[x] ?? 0)
      let isDark = false
      if (x < width && y >= apart && y < height - apart) {
        const offset = y * width + x
        const limit = (data[offset] ?? 0) + MIN_CONTRAST
        isDark = (data[offset - step] ?? 0) > limit && (data[offset + step] ?? 0) > limit
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
        if (length >= minLength && dark >= MIN_DARK_FRACTION * length)
          lines.push({ at: row, from: start, to: last + 1 })
        if (lines.length > MAX_LINES) return undefined
        start = -1
      }
    }
  }
  return lines
}

/** Finds upright lines. Walks row by row, the order in memory, and tracks a run for each column. */
function findUprightLines(
  { width, height, data }: Bitmap,
  tilt: number,
  sizes: LineSearchSizes,
): PixelLine[] | undefined {
  const { apart, gap, minLength } = sizes
  const maxShift = Math.round(Math.abs(tilt) * height)
  const count = width + 2 * maxShift
  const starts = new Int32Array(count).fill(-1)
  const lasts = new Int32Array(count)
  const darks = new Int32Array(count)
  const lines: PixelLine[] = []
  const closeLine = (column: number): void => {
    const start = starts[column] ?? -1
    const length = (lasts[column] ?? 0) - start + 1
    if (length >= minLength && (darks[column] ?? 0) >= MIN_DARK_FRACTION * length)
      lines.push({ at: column - maxShift, from: start, to: start + length })
    starts[column] = -1
  }
  for (let y = 0; y < height; y++) {
    const shift = maxShift + Math.round(tilt * y)
    const from = y * width
    for (let x = apart; x < width - apart; x++) {
      const offset = from + x
      const limit = (data[offset] ?? 0) + MIN_CONTRAST
      if ((data[offset - apart] ?? 0) <= limit || (data[offset + apart] ?? 0) <= limit) continue
      const column = x + shift
      if (starts[column] !== -1 && y - (lasts[column] ?? 0) > gap) closeLine(column)
      if (starts[column] === -1) {
        starts[column] = y
        darks[column] = 0
      }
      lasts[column] = y
      darks[column] = (darks[column] ?? 0) + 1
    }
    if (lines.length > MAX_LINES) return undefined
  }
  for (let column = 0; column < count; column++) if (starts[column] !== -1) closeLine(column)
  return lines
}
