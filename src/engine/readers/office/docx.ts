import { openZip, type ZipArchive } from '../archive/zip.js'
import { markImpliedHeadings } from '../block-styles.js'
import { ReadError } from '../limits.js'
import { HtmlOutlineTracker } from '../markup/html-outline.js'
import { readMarkup } from '../markup/markup-events.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { hasContent } from '../pictures.js'
import { parseComments, toCommentBlock } from './comments.js'
import { addEmbeddedFiles, type EmbeddedObjects } from './embedded-files.js'
import { findRelatedPart, getMainPart, type PackageRelation, readRelations, readXmlPart } from './office-package.js'
import { readCoreProperties } from './properties.js'
import { joinCode } from './word-code.js'
import { WordNumbering } from './word-numbering.js'
import { WordObjects } from './word-objects.js'
import type { WordSource } from './word-source.js'
import { WordStyles } from './word-styles.js'
import { WordTextReader } from './word-text.js'

/** Documents that are embedded as a part of the text, in one another. */
const MAX_CHUNK_DEPTH = 3

/** Reads Word documents (ISO/IEC 29500-1, 11 and 17): the body with what it refers to, headers and footers. */
export const docxParser: Parser = {
  parse: parseDocx,
}

async function parseDocx(input: ParserInput): Promise<ParsedDocument> {
  const zip = openZip(input.bytes, input.filename, input.limits)
  const embedded = await addEmbeddedFiles(zip, input)
  const document = new WordDocument(zip, input, { embedded, depth: 0 })
  const body = document.readBody()
  const blocks = [...body, ...document.readHeadersAndFooters(body), ...embedded.rest()]
  if (!hasContent(blocks)) throw new ReadError('empty', `${input.filename} has no text`)
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...readCoreProperties(zip, input.filename),
    blocks,
    metadata: embedded.warnings.length === 0 ? {} : { warnings: embedded.warnings },
  }
}

/** A Word document, and the parts to which its main part refers. */
class WordDocument {
  readonly #zip: ZipArchive
  readonly #filename: string
  readonly #main: string
  readonly #relations: ReadonlyMap<string, PackageRelation>
  readonly #objects: WordObjects
  readonly #outline = new HtmlOutlineTracker()
  readonly #asides = new Set<Block>()
  readonly #typed = new Map<Block, string>()
  readonly #styles: WordStyles
  readonly #numbering: WordNumbering
  readonly #comments: Map<string, Block>
  readonly #notes = new Map<string, ReadonlyMap<string, Block[]>>()
  readonly #labels = new Map<string, string>()

  constructor(
    zip: ZipArchive,
    input: Pick<ParserInput, 'filename' | 'limits'>,
    { embedded, depth }: { embedded: EmbeddedObjects | undefined; depth: number },
  ) {
    const { filename, limits } = input
    this.#zip = zip
    this.#filename = filename
    this.#main = getMainPart(zip, filename, ['word/document.xml'])
    this.#relations = readRelations(zip, this.#main, filename)
    this.#objects = new WordObjects({ zip, filename }, embedded, (bytes) =>
      depth >= MAX_CHUNK_DEPTH
        ? []
        : new WordDocument(openZip(bytes, filename, limits), input, {
            embedded: undefined,
            depth: depth + 1,
          }).readBody(),
    )
    this.#styles = new WordStyles(this.#readRelated('styles'))
    this.#numbering = new WordNumbering(this.#readRelated('numbering'))
    const comments = this.#readRelated('comments')
    this.#comments = new Map(
      (comments === '' ? [] : parseComments(comments)).map((comment) => [comment.id, toCommentBlock(comment)]),
    )
  }

  readBody(): Block[] {
    const body = this.#createReader(this.#main)
    const unread = [...this.#comments.values()]
    const blocks = joinCode([...body.finish(), ...unread.filter((block) => !this.#asides.has(block))], this.#typed)
    const listed = this.#outline.findListedBlocks(blocks)
    markImpliedHeadings(blocks, this.#outline.styles, (index) => listed.has(index))
    return blocks
  }

  /** Texts of headers and footers, each once, and only when the body does not contain them. */
  readHeadersAndFooters(body: readonly Block[]): Block[] {
    const seen = new Set(body.map(({ text }) => text))
    const blocks: Block[] = []
    for (const { kind, part } of this.#relations.values()) {
      if ((kind !== 'header' && kind !== 'footer') || !this.#zip.entries.has(part)) continue
      for (const block of this.#createReader(part).finish()) {
        if (seen.has(block.text)) continue
        if (block.picture === undefined) seen.add(block.text)
        const type = block.type === 'heading' ? 'paragraph' : block.type
        blocks.push({ ...block, type, metadata: { ...block.metadata, role: kind } })
      }
    }
    return blocks
  }

  #readRelated(kind: string): string {
    const part = findRelatedPart(this.#zip, this.#relations, kind, `word/${kind}.xml`)
    return part === undefined ? '' : readXmlPart(this.#zip, part, this.#filename)
  }

  /** @throws ReadError `malformed` when the tags of the part do not match */
  #createReader(part: string): WordTextReader {
    const relations = part === this.#main ? this.#relations : readRelations(this.#zip, part, this.#filename)
    const source: WordSource = {
      styles: this.#styles,
      numbering: this.#numbering,
      // the letters of notes and headers do not tell the size of the text
      outline: part === this.#main ? this.#outline : new HtmlOutlineTracker(),
      asides: this.#asides,
      typed: this.#typed,
      note: (kind, id) => this.#takeNote(kind, id),
      comment: (id) => {
        const comment = this.#comments.get(id)
        return comment === undefined || this.#asides.has(comment) ? [] : [comment]
      },
      object: (kind, relation, description) => this.#objects.read(kind, relations.get(relation), description),
    }
    const reader = new WordTextReader(source)
    readMarkup(readXmlPart(this.#zip, part, this.#filename), reader, 'xml')
    if (!reader.isMalformed) return reader
    throw new ReadError(
      'malformed',
      `${this.#filename} is not a readable Word document: ${part} is not well-formed XML`,
    )
  }

  /** Notes are numbered in the order of their references; a second reference has no text. */
  #takeNote(kind: 'footnote' | 'endnote', id: string): { label: string; blocks: Block[] } {
    const key = `${kind} ${id}`
    const known = this.#labels.get(key)
    if (known !== undefined) return { label: known, blocks: [] }
    const label = `[${this.#labels.size + 1}]`
    this.#labels.set(key, label)
    const [first, ...rest] = this.#readNotes(`${kind}s`).get(id) ?? []
    if (first === undefined) return { label, blocks: [] }
    const marked = { ...first, text: `${label} ${first.text}` }
    const blocks: Block[] =
      first.type === 'paragraph' ? [marked, ...rest] : [{ type: 'paragraph', text: label }, first, ...rest]
    return { label, blocks: blocks.map((block) => ({ ...block, metadata: { ...block.metadata, role: 'footnote' } })) }
  }

  #readNotes(kind: string): ReadonlyMap<string, Block[]> {
    const cached = this.#notes.get(kind)
    if (cached !== undefined) return cached
    // a note that refers to notes finds none
    this.#notes.set(kind, new Map())
    const part = findRelatedPart(this.#zip, this.#relations, kind, `word/${kind}.xml`)
    const notes = part === undefined ? new Map<string, Block[]>() : this.#createReader(part).stories
    this.#notes.set(kind, notes)
    return notes
  }
}
