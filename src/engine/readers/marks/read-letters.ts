import type { RecognisedPage } from '../../store/recognised-pages.js'
import type { PlacedLetter } from '../render/page-letters.js'
import type { Box } from '../render/page-objects.js'

/** Descent of a line of text below its baseline, as a fraction of its height. */
const DESCENT_FRACTION = 0.24

interface PageSize {
  width: number
  height: number
}

/** The size of a recognised page as it is shown. @returns undefined for pages stored before the size was recorded */
export function getShownSize({ size, rotation = 0 }: RecognisedPage): PageSize | undefined {
  if (size === undefined) return undefined
  const [width, height] = size
  return rotation % 180 === 0 ? { width, height } : { width: height, height: width }
}

/**
 * The characters of a recognised page, where they are shown. Only lines have boxes; the characters of a line are taken
 * to have equal widths.
 *
 * @param shown size of the page as it is shown
 */
export function placeRecognisedLetters(page: RecognisedPage, shown: PageSize): PlacedLetter[] {
  const { rotation = 0 } = page
  const [width, height] =
    page.size ?? (rotation % 180 === 0 ? [shown.width, shown.height] : [shown.height, shown.width])
  const across = rotation % 180 === 0 ? width : height
  const scale = across > 0 ? shown.width / across : 1
  const letters: PlacedLetter[] = []
  for (const [left, right, baseline, size, text] of page.lines) {
    const characters = [...text]
    const step = (right - left) / Math.max(1, characters.length)
    const bottom = height - baseline + DESCENT_FRACTION * size
    for (const [index, character] of characters.entries()) {
      if (character === ' ') continue
      const box = { left: left + index * step, top: bottom - size, right: left + (index + 1) * step, bottom }
      letters.push({ text: character, ...scaleBox(scale, rotateBack(box, rotation, width, height)) })
    }
  }
  return letters
}

/**
 * Converts a box from the recognised picture to the page as it is shown. @param rotation degrees clockwise by which the
 * picture was rotated for OCR
 */
function rotateBack(box: Box, rotation: number, width: number, height: number): Box {
  const { left, top, right, bottom } = box
  if (rotation === 90) return { left: top, top: width - right, right: bottom, bottom: width - left }
  if (rotation === 180) return { left: width - right, top: height - bottom, right: width - left, bottom: height - top }
  if (rotation === 270) return { left: height - bottom, top: left, right: height - top, bottom: right }
  return box
}

function scaleBox(scale: number, { left, top, right, bottom }: Box): Box {
  return { left: left * scale, top: top * scale, right: right * scale, bottom: bottom * scale }
}
