import type { BoundingBox } from '../../store/compiled.js'
import type { Box } from '../render/page-objects.js'
import { roundToTenths } from '../render/points.js'

/** A page of one-letter cells has some thousand; boxes beyond this count are dropped. */
const MAX_BOXES = 2000
/** Boxes of one line overlap vertically by this fraction of the lower box's height. */
const SAME_LINE_OVERLAP = 0.5
/** A gap wider than this many heights separates two columns or cells. */
const MAX_GAP = 1.6

/** Merges the boxes of marked characters, given in reading order, into one box for each line. */
export function mergeIntoLineBoxes(letters: readonly Box[]): BoundingBox[] {
  const lines: Box[] = []
  let line: Box | undefined
  for (const letter of letters) {
    if (line !== undefined && (continuesHorizontally(line, letter) || continuesVertically(line, letter))) {
      line.left = Math.min(line.left, letter.left)
      line.top = Math.min(line.top, letter.top)
      line.right = Math.max(line.right, letter.right)
      line.bottom = Math.max(line.bottom, letter.bottom)
    } else {
      if (lines.length === MAX_BOXES) break
      line = { left: letter.left, top: letter.top, right: letter.right, bottom: letter.bottom }
      lines.push(line)
    }
  }
  return lines.map(({ left, top, right, bottom }) => ({
    x: roundToTenths(left),
    y: roundToTenths(top),
    width: roundToTenths(right - left),
    height: roundToTenths(bottom - top),
  }))
}

/** Whether a character continues a horizontal line. */
function continuesHorizontally(line: Box, letter: Box): boolean {
  const height = Math.min(line.bottom - line.top, letter.bottom - letter.top)
  const gap = Math.max(letter.left - line.right, line.left - letter.right)
  return (
    overlap(line.top, line.bottom, letter.top, letter.bottom) >= SAME_LINE_OVERLAP * height && gap <= MAX_GAP * height
  )
}

/** Whether a character continues a vertical line: each touches the previous one. */
function continuesVertically(line: Box, letter: Box): boolean {
  const width = Math.min(line.right - line.left, letter.right - letter.left)
  const wide = Math.max(line.right - line.left, letter.right - letter.left)
  const gap = Math.max(letter.top - line.bottom, line.top - letter.bottom)
  const isNarrow = wide <= 1.5 * width
  return isNarrow && overlap(line.left, line.right, letter.left, letter.right) >= 0.8 * width && gap <= 0.25 * width
}

function overlap(firstStart: number, firstEnd: number, start: number, end: number): number {
  return Math.min(firstEnd, end) - Math.max(firstStart, start)
}
