import { isRecord } from '../../../lib/json/values.js'
import type { Bitmap } from '../render/bitmap.js'

/** Minimal number of words of a line that is used to measure the tilt of the page. */
const TELLING_WORDS = 3
/** Text with a larger slope is set sideways. */
const MOST_TILT = 0.1

/** A rectangle in pixels, from the top left corner. */
export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/** A recognised word with its confidence in percent. */
export interface Word extends Box {
  text: string
  confidence: number
}

export interface Line extends Box {
  words: Word[]
  /** Height of the line, from the lowest descender to the highest ascender. */
  size: number
  /** Baseline in the middle of the line, and its slope in pixels per pixel. */
  baseline: number
  tilt: number
}

/** The text of one picture. Lengths in pixels of the picture as it was recognised: rotated and scaled. */
export interface PageText {
  lines: Line[]
  width: number
  height: number
  /** Resolution, estimated from text that is about as large as in print. */
  dpi: number
  /** Degrees clockwise by which the picture was rotated. */
  rotation: number
  /** Mean confidence of all words, in percent. */
  confidence: number
  /** The picture as it was recognised. */
  picture: Bitmap
}

/** Parses Tesseract's JSON description of a page to lines in reading order. Leaves out lines without words. */
export function linesOf(json: string): Line[] {
  const lines: Line[] = []
  const page: unknown = JSON.parse(json)
  for (const block of records(page, 'blocks')) {
    for (const paragraph of records(block, 'paragraphs')) {
      for (const line of records(paragraph, 'lines')) {
        const words = records(line, 'words')
          .map(wordOf)
          .filter((word) => word.text !== '')
        if (words.length > 0) lines.push({ ...boxOf(line), words, size: sizeOf(line), ...baselineOf(line) })
      }
    }
  }
  return lines
}

/** The text of a line; Chinese and Japanese have no spaces between words. */
export function joined({ words }: Line): string {
  let text = ''
  for (const word of words) text += isWide(text.at(-1)) && isWide(word.text[0]) ? word.text : ` ${word.text}`
  return text.trimStart()
}

function isWide(letter: string | undefined): boolean {
  return letter !== undefined && /[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]/.test(letter)
}

/** Mean confidence of words in percent, weighted by their length; 0 without words. */
export function meanConfidence(words: Iterable<Word>): number {
  let sum = 0
  let letters = 0
  for (const { text, confidence } of words) {
    sum += confidence * text.length
    letters += text.length
  }
  return letters === 0 ? 0 : Math.round(sum / letters)
}

/** Slope of the text across the page: the median of its lines, weighted by their length. */
export function tiltOf(lines: readonly Line[]): number {
  const telling = lines
    .filter(({ words }) => words.length >= TELLING_WORDS)
    .map(({ tilt, left, right }) => ({ tilt, length: right - left }))
    .filter(({ tilt }) => Math.abs(tilt) <= MOST_TILT)
    .sort((a, b) => a.tilt - b.tilt)
  let left = telling.reduce((sum, { length }) => sum + length, 0) / 2
  for (const { tilt, length } of telling) {
    left -= length
    if (left <= 0) return tilt
  }
  return 0
}

function wordOf(word: Record<string, unknown>): Word {
  const text = typeof word.text === 'string' ? word.text.trim() : ''
  return { text, confidence: Math.round(Math.min(100, Math.max(0, numberOf(word.confidence)))), ...boxOf(word) }
}

function sizeOf(line: Record<string, unknown>): number {
  const row = isRecord(line.rowAttributes) ? numberOf(line.rowAttributes.rowHeight) : 0
  const { top, bottom } = boxOf(line)
  return row > 0 ? row : bottom - top
}

function baselineOf(line: Record<string, unknown>): Pick<Line, 'baseline' | 'tilt'> {
  const { baseline } = line
  if (!isRecord(baseline)) return { baseline: boxOf(line).bottom, tilt: 0 }
  const [x0, y0, x1, y1] = [baseline.x0, baseline.y0, baseline.x1, baseline.y1].map(numberOf)
  const across = (x1 ?? 0) - (x0 ?? 0)
  const fall = (y1 ?? 0) - (y0 ?? 0)
  return { baseline: ((y0 ?? 0) + (y1 ?? 0)) / 2, tilt: across > 0 ? fall / across : 0 }
}

function boxOf({ bbox }: Record<string, unknown>): Box {
  const box = isRecord(bbox) ? bbox : {}
  return { left: numberOf(box.x0), top: numberOf(box.y0), right: numberOf(box.x1), bottom: numberOf(box.y1) }
}

function records(of: unknown, key: string): Record<string, unknown>[] {
  const list = isRecord(of) ? of[key] : undefined
  return Array.isArray(list) ? list.filter(isRecord) : []
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
