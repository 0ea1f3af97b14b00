import { withFigures } from './figures-like.js'
import { type MissedArea, missedAreas } from './missed-words.js'
import type { Box, Line, PageText, Word } from './words.js'

/** A page with fewer lines has no columns. */
const LEAST_LINES = 4
/** Processor time for one page, which takes some seconds itself. */
const MOST_MS = 1200
/** Words that are less sure than this, in per cent, are specks; of figures alone Tesseract is never sure. */
const SURE = 50
const SURE_OF_FIGURES = 20
/** Up to so wide (in text sizes) an area holds a character or two. */
const NARROW = 1.3

/** Reads an area of the page that was read, as one line; `figures` alone where they are asked for. */
export type ReadArea = (area: Box, figures: boolean) => Word[]

/**
 * Looks again where ink stands in line with words and none was read: Tesseract takes columns of few characters, and what is
 * far from everything else, for no text. Letters among figures become some. Costs little on pages without such places, and is bounded on all.
 */
export function withMissedWords(text: PageText, readArea: ReadArea): PageText {
  if (text.lines.length < LEAST_LINES) return text
  const endsAt = cpuMs() + MOST_MS
  const isTime = (): boolean => cpuMs() < endsAt
  const found = new Map<number, Line[]>()
  for (const area of missedAreas(text.picture, text.lines)) {
    if (!isTime()) break
    const words = wordsIn(area, readArea)
    if (words.length === 0) continue
    const { baseline, size, beside } = area
    const left = Math.min(...words.map((word) => word.left))
    const right = Math.max(...words.map((word) => word.right))
    const line = { left, right, top: area.top, bottom: area.bottom, words, size, baseline, tilt: 0 }
    found.set(beside, [...(found.get(beside) ?? []), line])
  }
  const lines = text.lines.flatMap((line, at) => [line, ...(found.get(at) ?? [])])
  return { ...text, lines: withFigures(lines) }
}

function wordsIn(area: MissedArea, readArea: ReadArea): Word[] {
  const narrow = area.right - area.left < NARROW * area.size
  const words = narrow ? [] : readArea(area, false).filter(({ confidence }) => confidence >= SURE)
  if (words.some(({ text }) => /[\p{L}\p{N}]/u.test(text))) return words
  return readArea(area, true).filter(({ text, confidence }) => /[\d–—-]/.test(text) && confidence >= SURE_OF_FIGURES)
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
