import { withFigures } from './figures-like.js'
import { type MissedArea, missedAreas } from './missed-words.js'
import type { Box, Line, PageText, Word } from './words.js'

/** A page with fewer lines has no columns. */
const LEAST_LINES = 4
/** Maximal processor time for one page; the first pass takes some seconds. */
const MOST_MS = 1200
/** Words with a lower confidence, in percent, are specks. Tesseract is never confident about numbers alone. */
const SURE = 50
const SURE_OF_FIGURES = 20
/** An area up to this width, in text sizes, contains a character or two. */
const NARROW = 1.3

/** Recognises an area of the page as one line; with `figures`, only digits and signs. */
export type ReadArea = (area: Box, figures: boolean) => Word[]

/**
 * Adds words where ink is in line with words but none was recognised: Tesseract takes narrow columns and isolated words
 * for no text. Also corrects misread numbers. It costs little on pages without such areas, and its time is limited on
 * all.
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
