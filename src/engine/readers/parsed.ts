import type { BoundingBox, CompiledDocument, ElementType } from '../store/compiled.js'
import type { ContainedFileCollector } from './inside/contained-files.js'
import type { ReadLimits } from './limits.js'
import type { OcrBudget } from './ocr/budget.js'

/**
 * A picture of a document: its bytes, an address that the document refers to, or a box on a page that is drawn on
 * request.
 */
export type Picture =
  | { bytes: Uint8Array }
  | { uri: string }
  /** `isPainted`: it has pixels, and no text that is also in the text of its page */
  | { drawn: BoundingBox; page: number; isPainted?: true }

/** A block of a document as a parser returns it, in reading order; ids, paths and offsets are added later. */
export interface Block {
  type: ElementType
  text: string
  /** headings: 1 is the outermost; gaps are fine */
  level?: number
  /** origin of a heading that is not one of the text: `bookmark`, `page`, `key` */
  tocSource?: string
  /** a heading that opens a section but is not part of the text (a bookmark whose words are not on its page) */
  silent?: boolean
  pageNumber?: number
  metadata?: Record<string, unknown>
  picture?: Picture
}

/** What a document states about itself, unchanged; `buildDocumentFields` turns it into fields. */
export interface DeclaredFields {
  created?: string
  modified?: string
  published?: string
  authors?: string[]
  /** canonical address that the document declares */
  canonicalUrl?: string
}

/** A text of a file, and the construct of its format that contains it. */
export interface FileText {
  text: string
  construct: string
  /** the document may have its words less often: a header, the legend of a chart */
  isRepeated?: boolean
  /** its numbers are no words: the document has them as they are displayed */
  hasRawNumbers?: boolean
}

export interface ParsedDocument {
  parser: CompiledDocument['parser']
  /** text with tables or pictures is reported as `mixed` */
  contentType: 'text' | 'structured'
  /** title that the document declares outside its text (front matter, `<title>`, PDF info) */
  title?: string
  language?: string
  /** set when the parser detects a more specific type than the sniffing */
  mediaType?: string
  blocks: Block[]
  /** blocks that are not for readers of the document: menus and teasers of a page; their words are not missing */
  leftOut?: readonly Pick<Block, 'text'>[]
  /** texts of the file as they were found, where only the reader finds them; their words must be in the blocks */
  sourceTexts?: readonly FileText[]
  metadata: Record<string, unknown>
  /** dates, authors and address that the document states about itself */
  declared?: DeclaredFields
}

/** The file that a parser reads. */
export interface ParserInput {
  filename: string
  bytes: Buffer
  mediaType: string
  /** decoded text; called for text formats only */
  text(): string
  limits: ReadLimits
  /** receives the contained files */
  inside: ContainedFileCollector
  /** for text in pictures: the budget, and what was recognized before */
  ocr: OcrBudget
}

export interface Parser {
  parse(input: ParserInput): ParsedDocument | Promise<ParsedDocument>
}
