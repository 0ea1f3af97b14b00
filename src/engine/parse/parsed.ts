import type { BoundingBox, CompiledDocument, ElementType } from './compiled.js'
import type { ReadLimits } from './limits.js'
import type { OcrBudget } from './ocr/budget.js'

/**
 * A picture met while reading: its own bytes, an address the document only points to, or a place on a page, which is drawn
 * when somebody wants to see it.
 */
export type Picture = { bytes: Uint8Array } | { uri: string } | { drawn: BoundingBox; page: number }

/** One piece of a document as a parser hands it over, in reading order; ids, paths and offsets come later. */
export interface Block {
  type: ElementType
  text: string
  /** headings: 1 is the outermost; gaps are fine */
  level?: number
  /** where a heading came from, when it is not a heading of the text: `bookmark`, `page`, `key` */
  tocSource?: string
  /** a heading that opens a section without being part of the text (a bookmark whose words are not on its page) */
  silent?: boolean
  pageNumber?: number
  metadata?: Record<string, unknown>
  picture?: Picture
}

export interface Parsed {
  parser: CompiledDocument['parser']
  /** text that has tables or pictures in it is reported as `mixed` */
  contentType: 'text' | 'structured'
  /** the title the document gives itself outside its text (front matter, `<title>`, PDF info) */
  title?: string
  language?: string
  /** set when the parser knows better than the sniffing did */
  mediaType?: string
  blocks: Block[]
  metadata: Record<string, unknown>
}

/** One file on its way through a parser. */
export interface ParserInput {
  filename: string
  bytes: Buffer
  mediaType: string
  /** decoded text, for text formats; not called by binary ones */
  text(): string
  limits: ReadLimits
  /** for text in pictures: what it may cost, and what was read of it before */
  ocr: OcrBudget
}

export interface Parser {
  /** media types it reads, as the sniffing names them */
  accepts(mediaType: string): boolean
  parse(input: ParserInput): Parsed | Promise<Parsed>
}
