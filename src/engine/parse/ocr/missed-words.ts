import type { Bitmap } from '../render/bitmap.js'
import { type Box, type Line, tiltOf, type Word } from './words.js'

/** A row of words on a page, in pixels. */
export interface RowOfWords {
  /** Baseline at the left edge of the page. */
  y: number
  size: number
  words: Word[]
  /** Indexes of the lines that form the row. */
  lines: number[]
}

/** An area in line with words that seems to contain a word. */
export interface MissedArea extends Box {
  /** Index of a line of its row. */
  beside: number
  size: number
  baseline: number
}

/** In text sizes: maximal distance of baselines in one row, and how far letters reach above and below the baseline. */
const SAME_ROW = 0.46
const ABOVE = 0.82
const BELOW = 0.28
/**
 * In text sizes: the gap that separates two areas, the margin covered around a word, and the limits of the size of an
 * area.
 */
const GAP = 0.7
const COVERS = 0.35
const LEAST_HEIGHT = 0.4
const LEAST_WIDTH = 0.12
const MOST_WIDTH = 14
/** Pixels darker than the paper of their row by this difference in grey are ink. */
const DARKER = 70
/** Maximal number of areas of a page, and of rows in which they are searched. */
const MOST_AREAS = 120
const MOST_ROWS = 300
/** Longer horizontal runs of ink, in heights of the row, are level lines. */
const LONGEST = 2
/** Columns of pixels with at least this fraction of ink are upright lines. */
const UPRIGHT_SHARE = 0.97

/**
 * Finds areas in line with words that contain ink as high as letters, with free space above and below, but no
 * recognised word. Tesseract leaves out such cells in columns of single digits.
 */
export function missedAreas(bitmap: Bitmap, lines: readonly Line[]): MissedArea[] {
  const tilt = tiltOf(lines)
  const areas: MissedArea[] = []
  for (const row of rowsOfLines(lines, tilt).slice(0, MOST_ROWS)) {
    for (const area of areasOf(bitmap, row, tilt)) {
      if (areas.length === MOST_AREAS) return areas
      areas.push(area)
    }
  }
  return areas
}

export function rowsOfLines(lines: readonly Line[], tilt: number): RowOfWords[] {
  const rows: RowOfWords[] = []
  const placed = lines
    .map((line, at) => ({ line, at, y: line.baseline - tilt * ((line.left + line.right) / 2) }))
    .sort((a, b) => a.y - b.y)
  for (const { line, at, y } of placed) {
    const last = rows.at(-1)
    if (last !== undefined && y - last.y <= SAME_ROW * Math.max(last.size, line.size)) {
      last.words.push(...line.words)
      last.lines.push(at)
      last.size = Math.max(last.size, line.size)
    } else rows.push({ y, size: line.size, words: [...line.words], lines: [at] })
  }
  return rows
}

function areasOf(bitmap: Bitmap, row: RowOfWords, tilt: number): MissedArea[] {
  const { size } = row
  const band = { top: Math.round(row.y - ABOVE * size), bottom: Math.round(row.y + BELOW * size) }
  const ink = inkOf(bitmap, band, tilt)
  if (ink === undefined) return []
  for (const word of row.words) {
    const [from, to] = [word.left - COVERS * size, word.right + COVERS * size]
    ink.fill(0, Math.max(0, Math.floor(from)), Math.max(0, Math.ceil(to)))
  }
  const areas: MissedArea[] = []
  const height = band.bottom - band.top
  const close = (left: number, right: number): void => {
    const width = right - left
    if (width < LEAST_WIDTH * size || width > MOST_WIDTH * size) return
    const fall = tilt * ((left + right) / 2)
    const box = { left, right, top: band.top + fall, bottom: band.bottom + fall }
    if (!isFree(bitmap, box, size)) return
    areas.push({ ...box, beside: row.lines[0] ?? 0, size, baseline: row.y + fall })
  }
  let left = -1
  let last = -1
  for (let x = 0; x <= ink.length; x++) {
    const isInk = x < ink.length && (ink[x] ?? 0) > 0 && (ink[x] ?? 0) < UPRIGHT_SHARE * height
    if (isInk) {
      if (left === -1) left = x
      last = x
    } else if (left !== -1 && (x - last > GAP * size || x === ink.length)) {
      close(left, last + 1)
      left = -1
    }
  }
  return areas
}

/** Counts the pixels of letter ink in each pixel column of a row; undefined for a row that reaches over an edge. */
function inkOf(
  { width, height, data }: Bitmap,
  { top, bottom }: { top: number; bottom: number },
  tilt: number,
): Int32Array | undefined {
  const fall = Math.ceil(Math.abs(tilt) * width)
  if (top - fall < 0 || bottom + fall >= height || bottom <= top) return undefined
  const ink = new Int32Array(width)
  const paper = paperOf(data, top * width, bottom * width)
  const falls = Int32Array.from({ length: width }, (_, x) => Math.round(tilt * x) * width + x)
  const longest = Math.round(LONGEST * (bottom - top))
  for (let y = top; y < bottom; y++) {
    let run = 0
    for (let x = 0; x <= width; x++) {
      if (x < width && (data[y * width + (falls[x] ?? 0)] ?? 0) < paper - DARKER) {
        run++
        continue
      }
      if (run > 0 && run < longest) for (let at = x - run; at < x; at++) ink[at] = (ink[at] ?? 0) + 1
      run = 0
    }
  }
  return ink
}

/** Estimates the grey of the paper: the most frequent one among the light pixels of a range. */
function paperOf(data: Uint8Array, from: number, to: number): number {
  const counts = new Int32Array(16)
  for (let at = from; at < to; at += 3) {
    const bin = (data[at] ?? 0) >> 4
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  let best = 15
  for (let bin = 15; bin >= 6; bin--) if ((counts[bin] ?? 0) > (counts[best] ?? 0)) best = bin
  return best * 16 + 8
}

/**
 * Whether the ink is as high as letters and the strips above and below are free, so that it is not part of a drawing.
 */
function isFree({ width, height, data }: Bitmap, { left, right, top, bottom }: Box, size: number): boolean {
  const strip = Math.max(1, Math.round(0.08 * size))
  const from = Math.round(top) - strip
  const to = Math.round(bottom) + strip
  if (from < 0 || to >= height) return false
  const paper = paperOf(data, from * width, to * width)
  let first = -1
  let last = -1
  for (let y = from; y < to; y++) {
    let count = 0
    for (let x = left; x < right; x++) if ((data[y * width + x] ?? 0) < paper - DARKER) count++
    // a line above or below is not part of a word
    if (count === 0 || count > 0.9 * (right - left)) continue
    if (first === -1) first = y
    last = y
  }
  return first > from && last - first + 1 >= LEAST_HEIGHT * size * 0.9
}
