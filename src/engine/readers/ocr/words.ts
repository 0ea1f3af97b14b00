import { isRecord } from '../../../lib/json/values.js'
import type { Bitmap } from '../render/bitmap.js'

/** Minimal number of words of a line that is used to measure the tilt of the page. */
const MIN_TILT_WORDS = 3
/** Text with a larger slope is set sideways. */
const MAX_TILT = 0.1

/** A rectangle in pixels, from the top left corner. */
export interface PixelBox {
  left: number
  top: number
  right: number
  bottom: number
}

/** A recognised word with its confidence in percent. */
export interface OcrWord extends PixelBox {
  text: string
  confidence: number
}

export interface OcrLine extends PixelBox {
  words: OcrWord[]
  /** Height of the line, from the lowest descender to the highest ascender. */
  size: number
  /** Baseline in the middle of the line, and its slope in pixels per pixel. */
  baseline: number
  tilt: number
}

/** The text of one picture. Lengths in pixels of the picture as it was recognised: rotated and scaled. */
export interface OcrText {
  lines: OcrLine[]
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
export function parseLines(json: string): OcrLine[] {
  const lines: OcrLine[] = []
  const page: unknown = JSON.parse(json)
  for (const block of listRecords(page, 'blocks')) {
    for (const paragraph of listRecords(block, 'paragraphs')) {
      for (const line of listRecords(paragraph, 'lines')) {
        const words = listRecords(line, 'words')
          .map(parseWord)
          .filter((word) => word.text !== '')
        if (words.length > 0) lines.push({ ...parseBox(line), words, size: parseSize(line), ...parseBaseline(line) })
      }
    }
  }
  return lines
}

/** The text of a line; Chinese and Japanese have no spaces between words. */
export function joinWords({ words }: OcrLine): string {
  let text = ''
  for (const word of words) text += isCjk(text.at(-1)) && isCjk(word.text[0]) ? word.text : ` ${word.text}`
  return text.trimStart()
}

function isCjk(letter: string | undefined): boolean {
  return letter !== undefined && /[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]/.test(letter)
}

/** Mean confidence of words in percent, weighted by their length; 0 without words. */
export function computeMeanConfidence(words: Iterable<OcrWord>): number {
  let sum = 0
  let letters = 0
  for (const { text, confidence } of words) {
    sum += confidence * text.length
    letters += text.length
  }
  return letters === 0 ? 0 : Math.round(sum / letters)
}

/** Slope of the text across the page: the median of its lines, weighted by their length. */
export function computeTilt(lines: readonly OcrLine[]): number {
  const reliable = lines
    .filter(({ words }) => words.length >= MIN_TILT_WORDS)
    .map(({ tilt, left, right }) => ({ tilt, length: right - left }))
    .filter(({ tilt }) => Math.abs(tilt) <= MAX_TILT)
    .sort((a, b) => a.tilt - b.tilt)
  let remaining = reliable.reduce((sum, { length }) => sum + length, 0) / 2
  for (const { tilt, length } of reliable) {
    remaining -= length
    if (remaining <= 0) return tilt
  }
  return 0
}

function parseWord(word: Record<string, unknown>): OcrWord {
  const text = typeof word.text === 'string' ? word.text.trim() : ''
  return {
    text,
    confidence: Math.round(Math.min(100, Math.max(0, toFiniteNumber(word.confidence)))),
    ...parseBox(word),
  }
}

function parseSize(line: Record<string, unknown>): number {
  const row = isRecord(line.rowAttributes) ? toFiniteNumber(line.rowAttributes.rowHeight) : 0
  const { top, bottom } = parseBox(line)
  return row > 0 ? row : bottom - top
}

function parseBaseline(line: Record<string, unknown>): Pick<OcrLine, 'baseline' | 'tilt'> {
  const { baseline } = line
  if (!isRecord(baseline)) return { baseline: parseBox(line).bottom, tilt: 0 }
  const [x0, y0, x1, y1] = [baseline.x0, baseline.y0, baseline.x1, baseline.y1].map(toFiniteNumber)
  const width = (x1 ?? 0) - (x0 ?? 0)
  const fall = (y1 ?? 0) - (y0 ?? 0)
  return { baseline: ((y0 ?? 0) + (y1 ?? 0)) / 2, tilt: width > 0 ? fall / width : 0 }
}

function parseBox({ bbox }: Record<string, unknown>): PixelBox {
  const box = isRecord(bbox) ? bbox : {}
  return {
    left: toFiniteNumber(box.x0),
    top: toFiniteNumber(box.y0),
    right: toFiniteNumber(box.x1),
    bottom: toFiniteNumber(box.y1),
  }
}

function listRecords(parent: unknown, key: string): Record<string, unknown>[] {
  const list = isRecord(parent) ? parent[key] : undefined
  return Array.isArray(list) ? list.filter(isRecord) : []
}

function toFiniteNumber(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
