import { isRecord } from '../../../lib/json/values.js'

/** A rectangle in pixels, from the top left corner. */
export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/** A word as it was read, with how sure Tesseract is of it in per cent. */
export interface Word extends Box {
  text: string
  confidence: number
}

export interface Line extends Box {
  words: Word[]
  /** height of the row of text, from the lowest descender to the highest ascender */
  size: number
  /** where its letters stand */
  baseline: number
}

/** Tesseract's own description of a page as lines in reading order. What is neither there nor a word is left out. */
export function linesOf(json: string): Line[] {
  const lines: Line[] = []
  const page: unknown = JSON.parse(json)
  for (const block of records(page, 'blocks')) {
    for (const paragraph of records(block, 'paragraphs')) {
      for (const line of records(paragraph, 'lines')) {
        const words = records(line, 'words')
          .map(wordOf)
          .filter((word) => word.text !== '')
        if (words.length > 0) lines.push({ ...boxOf(line), words, size: sizeOf(line), baseline: baselineOf(line) })
      }
    }
  }
  return lines
}

/** How sure Tesseract is of a text, in per cent: of its words, each by its length. 0 without words. */
export function meanConfidence(words: Iterable<Word>): number {
  let sum = 0
  let letters = 0
  for (const { text, confidence } of words) {
    sum += confidence * text.length
    letters += text.length
  }
  return letters === 0 ? 0 : Math.round(sum / letters)
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

function baselineOf(line: Record<string, unknown>): number {
  const { baseline } = line
  return isRecord(baseline) ? (numberOf(baseline.y0) + numberOf(baseline.y1)) / 2 : boxOf(line).bottom
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
