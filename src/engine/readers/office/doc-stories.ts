import {
  type ParagraphProperties,
  type PropertyRuns,
  readDeletedRuns,
  readParagraphRuns,
  readStyles,
} from './doc-properties.js'
import {
  ReadableText,
  readLengths,
  readPieces,
  readPieceText,
  readTablePart,
  type StoryLengths,
  type TextPiece,
} from './doc-text.js'

/** A paragraph of the text. */
export interface DocParagraph {
  text: string
  /** Index of the character after it in the text. */
  end: number
  properties: ParagraphProperties
  /** It ends a cell of a table, not only a line. */
  endsCell: boolean
}

/** Offsets of table locations in the header of a file (MS-DOC 2.5.6). */
const STYLES = 0xa2
const CHARACTERS = 0xfa
const PARAGRAPHS = 0x102
const PIECES = 0x1a2

const PARAGRAPH_MARKS = /[\r\u0007\f]/g

/** The text of a `.doc` file as paragraphs with their properties. A story is a separate text: body, notes, headers. */
export class Stories {
  readonly lengths: StoryLengths
  readonly #main: Buffer
  readonly #table: Buffer
  readonly #pieces: TextPiece[]
  readonly #paragraphs: PropertyRuns<ParagraphProperties>
  readonly #deleted: PropertyRuns<boolean>
  readonly #styles: ParagraphProperties[]

  constructor(main: Buffer, table: Buffer, data: Buffer | undefined, filename: string) {
    this.#main = main
    this.#table = table
    this.lengths = readLengths(main)
    this.#pieces = readPieces(this.part(PIECES), main, filename)
    this.#styles = readStyles(this.part(STYLES))
    this.#paragraphs = readParagraphRuns(main, this.part(PARAGRAPHS), this.#styles, data)
    this.#deleted = readDeletedRuns(main, this.part(CHARACTERS))
  }

  /** A part of the table stream whose location is at this offset of the file header. */
  part(headerOffset: number): Buffer {
    return readTablePart(this.#main, this.#table, headerOffset)
  }

  /** Characters of all stories, also of those that are not read. */
  get length(): number {
    return this.#pieces.at(-1)?.end ?? 0
  }

  /** The paragraphs from one character of the text to another. */
  *paragraphs(start: number, end: number): Generator<DocParagraph> {
    const readable = new ReadableText()
    let pending = ''
    for (const piece of this.#clippedPieces(start, end)) {
      const text = readPieceText(this.#main, piece)
      let from = 0
      for (const { index } of text.matchAll(PARAGRAPH_MARKS)) {
        pending += readable.visiblePart(this.#withoutDeleted(piece, text, from, index))
        from = index + 1
        const offset = piece.at + index * piece.width
        // the mark of a deleted paragraph joins it with the next
        if (this.#deleted.at(offset) === true) continue
        const properties = this.#paragraphs.at(offset) ?? this.#styles[0]
        if (properties !== undefined) {
          const endsCell = text.charAt(index) === '\u0007'
          yield { text: collapseSpaces(pending), end: piece.start + index + 1, properties, endsCell }
        }
        pending = ''
      }
      pending += readable.visiblePart(this.#withoutDeleted(piece, text, from, text.length))
    }
    const properties = this.#styles[0]
    if (pending.trim() !== '' && properties !== undefined)
      yield { text: collapseSpaces(pending), end, properties: { ...properties, depth: 0 }, endsCell: false }
  }

  /** The pieces of a range of the text, clipped to it. */
  *#clippedPieces(start: number, end: number): Generator<TextPiece> {
    for (let index = this.#firstAfter(start); index < this.#pieces.length; index++) {
      const piece = this.#pieces[index]
      if (piece === undefined || piece.start >= end) return
      const first = Math.max(start, piece.start)
      const offset = piece.at + (first - piece.start) * piece.width
      yield { ...piece, start: first, end: Math.min(end, piece.end), at: offset }
    }
  }

  /** Index of the first piece that ends after a character. A binary search, since one text is read in many ranges. */
  #firstAfter(start: number): number {
    let low = 0
    let high = this.#pieces.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#pieces[middle]?.end ?? 0) <= start) low = middle + 1
      else high = middle
    }
    return low
  }

  /** The characters of a piece without deleted ones. */
  #withoutDeleted(piece: TextPiece, text: string, from: number, to: number): string {
    if (!this.#deleted.hasTruthyValue) return text.slice(from, to)
    let remaining = ''
    for (let at = from; at < to; at++) {
      if (this.#deleted.at(piece.at + at * piece.width) !== true) remaining += text.charAt(at)
    }
    return remaining
  }
}

function collapseSpaces(text: string): string {
  return text.replace(/[ \u00a0]+/g, ' ').trim()
}
