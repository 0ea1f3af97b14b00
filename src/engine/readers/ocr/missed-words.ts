import type { Bitmap } from '../render/bitmap.js'
import { computeTilt, type OcrLine, type OcrWord, type PixelBox } from './words.js'

/** A row of words on a page, in pixels. */
export interface WordRow {
  /** Baseline at the left edge of the page. */
  y: number
  size: number
  words: OcrWord[]
  /** Indexes of the lines that form the row. */
  lines: number[]
}

/** An area in line with words that seems to contain a word. */
export interface MissedArea extends PixelBox {
  /** Index of a line of its row. */
  lineIndex: number
  size: number
  baseline: number
}

/** In text sizes: maximal distance of baselines in one row, and how far letters reach above and below the baseline. */
const MAX_ROW_DISTANCE = 0.46
const ABOVE = 0.82
const BELOW = 0.28
/**
 * In text sizes: the gap that separates two areas, the margin covered around a word, and the limits of the size of an
 * area.
 */
const MIN_AREA_GAP = 0.7
const WORD_MARGIN = 0.35
const MIN_HEIGHT = 0.4
const MIN_WIDTH = 0.12
const MAX_WIDTH = 14
/** Pixels darker than the paper of their row by this difference in grey are ink. */
const MIN_CONTRAST = 70
/** Maximal number of areas of a page, and of rows in which they are searched. */
const MAX_AREAS = 120
const MAX_ROWS = 300
/** Longer horizontal runs of ink, in heights of the row, are level lines. */
const MAX_RUN_HEIGHTS = 2
/** Columns of pixels with at least this fraction of ink are upright lines. */
const UPRIGHT_LINE_FRACTION = 0.97

/**
 * Finds areas in line with words that contain ink as high as letters, with free space above and below, but no
 * recognised word. Tesseract leaves out such cells in columns of single digits.
 */
export function findMissedAreas(bitmap: Bitmap, lines: readonly OcrLine[]): MissedArea[] {
  const tilt = computeTilt(lines)
  const areas: MissedArea[] = []
  for (const row of groupIntoRows(lines, tilt).slice(0, MAX_ROWS)) {
    for (const area of findAreasInRow(bitmap, row, tilt)) {
      if (areas.length === MAX_AREAS) return areas
      areas.push(area)
    }
  }
  return areas
}

export function groupIntoRows(lines: readonly OcrLine[], tilt: number): WordRow[] {
  const rows: WordRow[] = []
  const positioned = lines
    .map((line, index) => ({ line, index, y: line.baseline - tilt * ((line.left + line.right) / 2) }))
    .sort((a, b) => a.y - b.y)
  for (const { line, index, y } of positioned) {
    const last = rows.at(-1)
    if (last !== undefined && y - last.y <= MAX_ROW_DISTANCE * Math.max(last.size, line.size)) {
      last.words.push(...line.words)
      last.lines.push(index)
      last.size = Math.max(last.size, line.size)
    } else rows.push({ y, size: line.size, words: [...line.words], lines: [index] })
  }
  return rows
}

function findAreasInRow(bitmap: Bitmap, row: WordRow, tilt: number): MissedArea[] {
  const { size } = row
  const band = { top: Math.round(row.y - ABOVE * size), bottom: Math.round(row.y + BELOW * size) }
  const ink = countInk(bitmap, band, tilt)
  if (ink === undefined) return []
  for (const word of row.words) {
    const [from, to] = [word.left - WORD_MARGIN * size, word.right + WORD_MARGIN * size]
    ink.fill(0, Math.max(0, Math.floor(from)), Math.max(0, Math.ceil(to)))
  }
  const areas: MissedArea[] = []
  const height = band.bottom - band.top
  const addArea = (left: number, right: number): void => {
    const width = right - left
    if (width < MIN_WIDTH * size || width > MAX_WIDTH * size) return
    const fall = tilt * ((left + right) / 2)
    const box = { left, right, top: band.top + fall, bottom: band.bottom + fall }
    if (!isIsolated(bitmap, box, size)) return
    areas.push({ ...box, lineIndex: row.lines[0] ?? 0, size, baseline: row.y + fall })
  }
  let left = -1
  let last = -1
  for (let x = 0; x <= ink.length; x++) {
    const isInk = x < ink.length && (ink[x] ?? 0) > 0 && (ink[x] ?? 0) < UPRIGHT_LINE_FRACTION * height
    if (isInk) {
      if (left === -1) left = x
      last = x
    } else if (left !== -1 && (x - last > MIN_AREA_GAP * size || x === ink.length)) {
      addArea(left, last + 1)
      left = -1
    }
  }
  return areas
}

/** Counts the pixels of letter ink in each pixel column of a row; undefined for a row that reaches over an edge. */
function countInk(
  { width, height, data }: Bitmap,
  { top, bottom }: { top: number; bottom: number },
  tilt: number,
): Int32Array | undefined {
  const fall = Math.ceil(Math.abs(tilt) * width)
  if (top - fall < 0 || bottom + fall >= height || bottom <= top) return undefined
  const ink = new Int32Array(width)
  const paper = estimatePaperGrey(data, top * width, bottom * width)
  const falls = Int32Array.from({ length: width }, (_, x) => Math.round(tilt * x) * width + x)
  const maxRun = Math.round(MAX_RUN_HEIGHTS * (bottom - top))
  for (let y = top; y < bottom; y++) {
    let run = 0
    for (let x = 0; x <= width; x++) {
      if (x < width && (data[y * width + (falls[x] ?? 0)] ?? 0) < paper - MIN_CONTRAST) {
        run++
        continue
      }
      if (run > 0 && run < maxRun) for (let index = x - run; index < x; index++) ink[index] = (ink[index] ?? 0) + 1
      run = 0
    }
  }
  return ink
}

/** Estimates the grey of the paper: the most frequent one among the light pixels of a range. */
function estimatePaperGrey(data: Uint8Array, from: number, to: number): number {
  const counts = new Int32Array(16)
  for (let index = from; index < to; index += 3) {
    const bin = (data[index] ?? 0) >> 4
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  let best = 15
  for (let bin = 15; bin >= 6; bin--) if ((counts[bin] ?? 0) > (counts[best] ?? 0)) best = bin
  return best * 16 + 8
}

/**
 * Whether the ink is as high as letters and the strips above and below are free, so that it is not part of a drawing.
 */
function isIsolated({ width, height, data }: Bitmap, { left, right, top, bottom }: PixelBox, size: number): boolean {
  const strip = Math.max(1, Math.round(0.08 * size))
  const from = Math.round(top) - strip
  const to = Math.round(bottom) + strip
  if (from < 0 || to >= height) return false
  const paper = estimatePaperGrey(data, from * width, to * width)
  let first = -1
  let last = -1
  for (let y = from; y < to; y++) {
    let count = 0
    for (let x = left; x < right; x++) if ((data[y * width + x] ?? 0) < paper - MIN_CONTRAST) count++
    // a line above or below is not part of a word
    if (count === 0 || count > 0.9 * (right - left)) continue
    if (first === -1) first = y
    last = y
  }
  return first > from && last - first + 1 >= MIN_HEIGHT * size * 0.9
}
