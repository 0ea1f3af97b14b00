import iconv from 'iconv-lite'
import { ReadError } from '../limits.js'

/** Bytes of a file that belong to its text, in the order of the text. */
export interface TextPiece {
  /** First character in the text, and the one after the last. */
  start: number
  end: number
  /** Offset of its bytes in the main stream. */
  at: number
  /** Bytes per character. */
  width: 1 | 2
}

/** Lengths of the consecutive stories of a document, in characters. */
export interface StoryLengths {
  body: number
  footnotes: number
  margins: number
  comments: number
  endnotes: number
  boxes: number
}

const MAX_PIECES = 1_000_000

/** A part of the table stream whose location is at the offset `at` of the file header. */
export function readTablePart(main: Buffer, table: Buffer, at: number): Buffer {
  if (at + 8 > main.length) return Buffer.alloc(0)
  const start = main.readUInt32LE(at)
  const size = main.readUInt32LE(at + 4)
  return start > table.length ? Buffer.alloc(0) : table.subarray(start, Math.min(table.length, start + size))
}

/** Reads the lengths from the header of the file (MS-DOC 2.5.4). */
export function readLengths(main: Buffer): StoryLengths {
  const readLength = (offset: number): number => Math.max(0, main.readInt32LE(offset))
  return {
    body: readLength(0x4c),
    footnotes: readLength(0x50),
    margins: readLength(0x54),
    comments: readLength(0x5c),
    endnotes: readLength(0x60),
    boxes: readLength(0x64),
  }
}

/**
 * Reads the pieces of the text (MS-DOC 2.8.35).
 *
 * @throws ReadError `malformed` when there are none
 */
export function readPieces(clx: Buffer, main: Buffer, filename: string): TextPiece[] {
  const list = findPieceTable(clx)
  const count = Math.min(Math.floor((list.length - 4) / 12), MAX_PIECES)
  const pieces: TextPiece[] = []
  // the total length is limited by the file, so that pieces that share bytes cannot make a small file a long text
  let remainingBytes = main.length
  let end = 0
  for (let index = 0; index < count; index++) {
    const start = list.readUInt32LE(index * 4)
    const location = list.readUInt32LE((count + 1) * 4 + index * 8 + 2)
    const width = (location & 0x4000_0000) === 0 ? 2 : 1
    const offset = width === 2 ? location & 0x3fff_ffff : (location & 0x3fff_ffff) >>> 1
    const length = Math.min(
      list.readUInt32LE(index * 4 + 4) - start,
      Math.floor((main.length - offset) / width),
      Math.floor(remainingBytes / width),
    )
    if (start < end || length <= 0) continue
    remainingBytes -= length * width
    end = start + length
    pieces.push({ start, end, at: offset, width })
  }
  if (pieces.length > 0) return pieces
  throw new ReadError('malformed', `${filename} is not a readable Word document: it refers to no text`)
}

/** The list of pieces, which follows formatting data. */
function findPieceTable(clx: Buffer): Buffer {
  let offset = 0
  while (offset + 5 <= clx.length && clx[offset] === 1) offset += 3 + clx.readUInt16LE(offset + 1)
  if (offset + 5 > clx.length || clx[offset] !== 2) return Buffer.alloc(0)
  return clx.subarray(offset + 5, offset + 5 + clx.readUInt32LE(offset + 1))
}

/** The characters of a piece. */
export function readPieceText(main: Buffer, piece: TextPiece): string {
  const bytes = main.subarray(piece.at, piece.at + (piece.end - piece.start) * piece.width)
  return piece.width === 2 ? bytes.toString('utf16le') : iconv.decode(bytes, 'windows-1252')
}

/** Removes field instructions, marks of pictures and notes, and soft hyphens. */
export class ReadableText {
  /** For each open field, whether its instruction is still being read. */
  readonly #fields: boolean[] = []
  #hidden = 0

  /** The visible part of a text; fields may continue over several calls. */
  visiblePart(text: string): string {
    if (this.#fields.length === 0 && !/[\u0001-\u001f]/.test(text)) return text
    let visible = ''
    for (const char of text) {
      if (char === '\u0013') this.#open()
      else if (char === '\u0014') this.#separate()
      else if (char === '\u0015') this.#close()
      else if (this.#hidden === 0) visible += char === '\u001e' ? '-' : char === '\v' ? '\n' : toPlainCharacter(char)
    }
    return visible
  }

  #open(): void {
    if (this.#fields.length > 1000) return
    this.#fields.push(true)
    this.#hidden++
  }

  #separate(): void {
    if (this.#fields.at(-1) !== true) return
    this.#fields[this.#fields.length - 1] = false
    this.#hidden--
  }

  #close(): void {
    if (this.#fields.pop() === true) this.#hidden--
  }
}

function toPlainCharacter(char: string): string {
  if (char === '\t') return ' '
  return char < ' ' ? '' : char
}
