import { getCpuMs } from './budget.js'
import { correctMisreadNumbers } from './misread-numbers.js'
import { findMissedAreas, type MissedArea } from './missed-words.js'
import type { OcrLine, OcrText, OcrWord, PixelBox } from './words.js'

/** A page with fewer lines has no columns. */
const MIN_LINES = 4
/** Maximal processor time for one page; the first pass takes some seconds. */
const MAX_PAGE_MS = 1200
/** Words with a lower confidence, in percent, are specks. Tesseract is never confident about numbers alone. */
const MIN_CONFIDENCE = 50
const MIN_NUMBER_CONFIDENCE = 20
/** An area up to this width, in text sizes, contains a character or two. */
const MAX_NARROW_WIDTH = 1.3

/** Recognises an area of the page as one line: any characters, or digits and signs only. */
export type ReadArea = (area: PixelBox, characters: 'any' | 'numeric') => OcrWord[]

/**
 * Adds words where ink is in line with words but none was recognised: Tesseract takes narrow columns and isolated words
 * for no text. Also corrects misread numbers. It costs little on pages without such areas, and its time is limited on
 * all.
 */
export function addMissedWords(text: OcrText, readArea: ReadArea): OcrText {
  if (text.lines.length < MIN_LINES) return text
  const endsAt = getCpuMs() + MAX_PAGE_MS
  const hasTime = (): boolean => getCpuMs() < endsAt
  const addedLines = new Map<number, OcrLine[]>()
  for (const area of findMissedAreas(text.picture, text.lines)) {
    if (!hasTime()) break
    const words = readWords(area, readArea)
    if (words.length === 0) continue
    const { baseline, size, lineIndex } = area
    const left = Math.min(...words.map((word) => word.left))
    const right = Math.max(...words.map((word) => word.right))
    const line = { left, right, top: area.top, bottom: area.bottom, words, size, baseline, tilt: 0 }
    addedLines.set(lineIndex, [...(addedLines.get(lineIndex) ?? []), line])
  }
  const lines = text.lines.flatMap((line, index) => [line, ...(addedLines.get(index) ?? [])])
  return { ...text, lines: correctMisreadNumbers(lines) }
}

function readWords(area: MissedArea, readArea: ReadArea): OcrWord[] {
  const isNarrow = area.right - area.left < MAX_NARROW_WIDTH * area.size
  const words = isNarrow ? [] : readArea(area, 'any').filter(({ confidence }) => confidence >= MIN_CONFIDENCE)
  if (words.some(({ text }) => /[\p{L}\p{N}]/u.test(text))) return words
  return readArea(area, 'numeric').filter(
    ({ text, confidence }) => /[\d–—-]/.test(text) && confidence >= MIN_NUMBER_CONFIDENCE,
  )
}
