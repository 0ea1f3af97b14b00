import type { PptRecord } from './ppt-records.js'

const TEXT_HEADER = 0x0f9f
const TEXT_CHARS = 0x0fa0
const TEXT_BYTES = 0x0fa8
const TEXT_STYLE = 0x0fa1
const MAX_LEVEL = 8

/** Kinds of text, by the number in their header. */
export type SlideTextKind = 'title' | 'body' | 'notes' | 'other'
const KINDS: readonly SlideTextKind[] = ['title', 'body', 'notes', 'other', 'other', 'body', 'title', 'body', 'body']

/** The paragraphs of one text of a shape. */
export interface SlideTextRun {
  kind: SlideTextKind
  lines: { text: string; level: number }[]
}

/** Assembles texts from consecutive records: a header, the characters, their formatting. */
export class SlideTextReader {
  readonly #runs: SlideTextRun[] = []
  #kind: SlideTextKind = 'other'
  #text: string | undefined
  #levels: number[] = []

  take({ type, body }: PptRecord): void {
    if (type === TEXT_HEADER) {
      this.#end()
      this.#kind = KINDS[body.length >= 4 ? body.readUInt32LE(0) : 4] ?? 'other'
      this.#text = ''
    } else if (type === TEXT_CHARS) this.#text = body.toString('utf16le')
    else if (type === TEXT_BYTES) this.#text = body.toString('latin1')
    else if (type === TEXT_STYLE && this.#text !== undefined) this.#levels = readLevels(body, this.#text)
  }

  finish(): SlideTextRun[] {
    this.#end()
    return this.#runs
  }

  #end(): void {
    if (this.#text === undefined) return
    const lines = this.#text.split('\r').map((line, index) => ({
      text: line
        .replaceAll('\v', '\n')
        .replace(/[\t\u00a0 ]+/g, ' ')
        .replace(/[\u0001-\u0008\u000e-\u001f]/g, '')
        .trim(),
      level: this.#levels[index] ?? 0,
    }))
    // a run without words keeps its index: shapes refer to runs by number
    this.#runs.push({ kind: this.#kind, lines: lines.filter((line) => line.text !== '') })
    this.#text = undefined
    this.#levels = []
  }
}

/** Paragraph properties with data: the bits that mark their presence, and their size, in the order of the file. */
const PROPERTIES: readonly (readonly [mask: number, size: number])[] = [
  [0xf, 2],
  [0x80, 2],
  [0x10, 2],
  [0x40, 2],
  [0x20, 4],
  [0x800, 2],
  [0x1000, 2],
  [0x2000, 2],
  [0x4000, 2],
  [0x100, 2],
  [0x400, 2],
  [0x8000, 2],
]
const TAB_STOPS = 0x100000
const PROPERTIES_AFTER_TABS: readonly (readonly [mask: number, size: number])[] = [
  [0x10000, 2],
  [0xe0000, 2],
  [0x200000, 2],
]

/** Levels of the paragraphs of a text (MS-PPT 2.9.44). */
function readLevels(body: Buffer, text: string): number[] {
  const levels: number[] = []
  let offset = 0
  let character = 0
  while (offset + 10 <= body.length && character <= text.length) {
    const count = body.readUInt32LE(offset)
    const level = Math.min(body.readUInt16LE(offset + 4), MAX_LEVEL)
    const mask = body.readUInt32LE(offset + 6)
    offset += 10
    for (const [bits, size] of PROPERTIES) if ((mask & bits) !== 0) offset += size
    if ((mask & TAB_STOPS) !== 0) offset += 2 + (offset + 2 <= body.length ? body.readUInt16LE(offset) * 4 : 0)
    for (const [bits, size] of PROPERTIES_AFTER_TABS) if ((mask & bits) !== 0) offset += size
    const part = text.slice(character, character + count)
    for (const char of part) if (char === '\r') levels.push(level)
    character += count
    // the last paragraph has no mark in the text
    if (character > text.length) levels.push(level)
    if (count === 0) break
  }
  return levels
}
