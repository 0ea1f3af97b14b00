import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { hasContent } from '../pictures.js'
import { buildTableBlocks, looksLikeHeader } from '../tables.js'
import { readProseBlocks } from '../text/text.js'
import { findBlipPictures } from './blips.js'
import { toCommentBlock } from './comments.js'
import { readCompound } from './compound.js'
import { Stories } from './doc-stories.js'
import { addEmbeddedFromCompound } from './embedded-files.js'
import { toMeaningfulTitle } from './office-package.js'
import { readSummaryProperties } from './summary-properties.js'

/** First two bytes of the main stream: since Word 97, and of Word 6 and 95. */
const WORD_97 = 0xa5ec
const WORD_6 = 0xa5dc
/** Minimal size of the file header: up to the location of the pieces. */
const MIN_HEADER_BYTES = 0x1aa
const FLAGS = 0x0a
const ENCRYPTED = 0x0100
const COMPLEX = 0x0004
const SECOND_TABLE = 0x0200

/** Offsets of table locations in the header: references to notes in the text, and starts of their texts. */
const NOTES = [
  { references: 0xaa, texts: 0xb2, role: 'footnote' },
  { references: 0x20a, texts: 0x212, role: 'endnote' },
  { references: 0xba, texts: 0xc2, role: 'comment' },
] as const
const HEADERS_FOOTERS = 0xf2
/** Number of separator stories before those of the sections, and of stories of each section. */
const SEPARATOR_COUNT = 6
const SECTION_STORY_COUNT = 6
/** Indexes of the footers among the stories of a section. */
const FOOTERS = new Set([2, 3, 5])
const OBJECTS = /^ObjectPool\/[^/]+\//
const MAX_NOTES = 100_000

/** Reads documents of Word 97 to 2003: headings by styles, tables by marks, notes after their paragraph. */
export const docParser: Parser = {
  parse: parseDoc,
}

async function parseDoc(input: ParserInput): Promise<ParsedDocument> {
  const { filename } = input
  const streams = readCompound(input.bytes, filename)
  const main = streams.get('WordDocument') ?? Buffer.alloc(0)
  if (main.length < MIN_HEADER_BYTES)
    throw new ReadError('malformed', `${filename} is not a readable Word document: it has no text`)
  const flags = main.readUInt16LE(FLAGS)
  if ((flags & ENCRYPTED) !== 0) throw new ReadError('encrypted', `${filename} is protected by a password`)
  const version = main.readUInt16LE(0)
  if (version !== WORD_97 && version !== WORD_6)
    throw new ReadError('malformed', `${filename} is not a readable Word document: its header is damaged`)
  const blocks =
    version === WORD_6 ? readWord6Blocks(main, flags, filename) : readWord97Blocks(main, flags, streams, filename)
  const embedded = await addEmbeddedFromCompound(streams, OBJECTS, input)
  blocks.push(...embedded.rest())
  if (!hasContent(blocks)) throw new ReadError('empty', `${filename} has no text`)
  const { title, ...properties } = readSummaryProperties(streams)
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...omitUndefined({ title: toMeaningfulTitle(title) }),
    blocks,
    metadata: { ...properties, ...(embedded.warnings.length === 0 ? {} : { warnings: embedded.warnings }) },
  }
}

/** Word 6 and 95: the text is in one piece, except in fast-saved files. */
function readWord6Blocks(main: Buffer, flags: number, filename: string): Block[] {
  if ((flags & COMPLEX) !== 0)
    throw new ReadError(
      'unsupported-type',
      `${filename} was fast-saved by Word 6 or 95, a format that is not supported`,
    )
  const bytes = main.subarray(main.readUInt32LE(0x18), main.readUInt32LE(0x1c))
  const text = new TextDecoder('windows-1252').decode(bytes)
  const lines = text.replace(/\u0013[^\u0014\u0015]*[\u0014\u0015]/g, '').split(/[\r\f\u0007]+/)
  return readProseBlocks(lines.map((line) => line.replace(/[\u0001-\u001f]/g, ' ').trim()).join('\n\n'))
}

function readWord97Blocks(
  main: Buffer,
  flags: number,
  streams: ReadonlyMap<string, Buffer>,
  filename: string,
): Block[] {
  const table = streams.get((flags & SECOND_TABLE) === 0 ? '0Table' : '1Table')
  if (table === undefined)
    throw new ReadError('malformed', `${filename} is not a readable Word document: its tables are missing`)
  const stories = new Stories(main, table, streams.get('Data'), filename)
  const reader = new DocReader(stories)
  reader.read()
  // the formats with the locations of pictures are not parsed: pictures follow the text, in stored order
  const pictures = [streams.get('Data'), main].flatMap((stream) =>
    stream === undefined ? [] : findBlipPictures(stream),
  )
  return [...reader.blocks, ...pictures.map((picture): Block => ({ type: 'image', text: '', picture }))]
}

interface DocNote {
  /** Character of the body that refers to it. */
  at: number
  block: Block
}

class DocReader {
  readonly blocks: Block[] = []
  readonly #stories: Stories
  #notes: DocNote[] = []
  #list: string[] = []
  #rows: string[][] = []
  #row: string[] = []
  #cell: string[] = []

  constructor(stories: Stories) {
    this.#stories = stories
  }

  read(): void {
    const { body, footnotes, margins, comments, endnotes, boxes } = this.#stories.lengths
    const endnotesAt = body + footnotes + margins + comments
    const commentsAt = body + footnotes + margins
    this.#notes = [
      ...this.#readNotes(0, body, footnotes),
      ...this.#readNotes(1, endnotesAt, endnotes),
      ...this.#readNotes(2, commentsAt, comments),
    ].sort((a, b) => a.at - b.at)
    this.#body(body)
    this.#texts(endnotesAt + endnotes, boxes)
    this.#headersAndFooters(body + footnotes, margins)
  }

  #body(length: number): void {
    let next = 0
    for (const { text, properties, endsCell, end } of this.#stories.paragraphs(0, length)) {
      if (properties.depth > 0) this.#tableParagraph(text, properties.endsRow && properties.depth === 1, endsCell)
      else {
        this.#flushTable()
        if (text === '') this.#flushList()
        else if (properties.outline > 0 && text.length <= MAX_HEADING_LENGTH) this.#heading(text, properties.outline)
        else if (properties.listed) this.#list.push(`${'  '.repeat(properties.listLevel)}- ${toOneLine(text)}`)
        else this.#paragraph(text)
      }
      if (this.#rows.length > 0 || this.#row.length > 0 || properties.depth > 0) continue
      for (; (this.#notes[next]?.at ?? Number.POSITIVE_INFINITY) < end; next++) this.#note(next)
    }
    this.#flushTable()
    this.#flushList()
    for (; next < this.#notes.length; next++) this.#note(next)
  }

  #heading(text: string, level: number): void {
    this.#flushList()
    this.blocks.push({ type: 'heading', text: toOneLine(text), level })
  }

  #paragraph(text: string): void {
    this.#flushList()
    this.blocks.push({ type: 'paragraph', text })
  }

  #note(index: number): void {
    this.#flushList()
    const block = this.#notes[index]?.block
    if (block !== undefined) this.blocks.push(block)
  }

  #tableParagraph(text: string, endsRow: boolean, endsCell: boolean): void {
    this.#flushList()
    if (endsRow) {
      if (this.#cell.length > 0) this.#endCell()
      this.#rows.push(this.#row)
      this.#row = []
      return
    }
    if (text !== '') this.#cell.push(toOneLine(text))
    if (endsCell) this.#endCell()
  }

  #endCell(): void {
    this.#row.push(this.#cell.join(' '))
    this.#cell = []
  }

  #flushTable(): void {
    if (this.#cell.length > 0) this.#endCell()
    if (this.#row.length > 0) this.#rows.push(this.#row)
    const rows = this.#rows.filter((row) => row.some((cell) => cell !== ''))
    this.#rows = []
    this.#row = []
    if (rows.length > 0) this.blocks.push(...buildTableBlocks(rows, looksLikeHeader(rows)))
  }

  #flushList(): void {
    if (this.#list.length > 0) this.blocks.push({ type: 'list', text: this.#list.join('\n') })
    this.#list = []
  }

  /** Reads footnotes, endnotes or comments with their references. */
  #readNotes(kind: 0 | 1 | 2, start: number, length: number): DocNote[] {
    const { references, texts, role } = NOTES[kind]
    const referenceTable = this.#stories.part(references)
    const textTable = this.#stories.part(texts)
    const notes: DocNote[] = []
    let last = 0
    for (
      let index = 0;
      index < MAX_NOTES && (index + 2) * 4 <= textTable.length && (index + 1) * 4 <= referenceTable.length;
      index++
    ) {
      const textStart = textTable.readUInt32LE(index * 4)
      const textEnd = Math.min(textTable.readUInt32LE(index * 4 + 4), length)
      if (textStart < last || textStart >= textEnd) continue
      last = textEnd
      const text = this.#readText(start + textStart, start + textEnd)
      if (text === '') continue
      const block: Block =
        role === 'comment' ? toCommentBlock({ author: '', text }) : { type: 'paragraph', text, metadata: { role } }
      notes.push({ at: referenceTable.readUInt32LE(index * 4), block })
    }
    return notes
  }

  #texts(start: number, length: number): void {
    for (const { text } of this.#stories.paragraphs(start, start + length)) if (text !== '') this.#paragraph(text)
  }

  /** Headers and footers, each once, and only when the body does not contain the same text. */
  #headersAndFooters(start: number, length: number): void {
    const storyTable = this.#stories.part(HEADERS_FOOTERS)
    const seen = new Set(this.blocks.map((block) => block.text))
    let last = 0
    for (let index = SEPARATOR_COUNT; index < MAX_NOTES && (index + 2) * 4 <= storyTable.length; index++) {
      const textStart = storyTable.readUInt32LE(index * 4)
      const textEnd = Math.min(storyTable.readUInt32LE(index * 4 + 4), length)
      if (textStart < last || textStart >= textEnd) continue
      last = textEnd
      const text = this.#readText(start + textStart, start + textEnd)
      if (text === '' || seen.has(text)) continue
      seen.add(text)
      const role = FOOTERS.has((index - SEPARATOR_COUNT) % SECTION_STORY_COUNT) ? 'footer' : 'header'
      this.blocks.push({ type: 'paragraph', text, metadata: { role } })
    }
  }

  #readText(start: number, end: number): string {
    const texts = [...this.#stories.paragraphs(start, end)].map(({ text }) => text)
    return texts.filter((text) => text !== '').join('\n')
  }
}

/** A longer "heading" is text in the wrong style. */
const MAX_HEADING_LENGTH = 400

function toOneLine(text: string): string {
  return text.replaceAll('\n', ' ')
}
