import type { BoundingBox, CompiledDocument, ElementType } from './compiled.js'
import type { Inside } from './inside/inside.js'
import type { ReadLimits } from './limits.js'
import type { OcrBudget } from './ocr/budget.js'

/**
 * A picture met while reading: its own bytes, an address the document only points to, or a place on a page, which is drawn
 * when somebody wants to see it.
 */
export type Picture =
  | { bytes: Uint8Array }
  | { uri: string }
  /** `isPainted`: it has pixels, and no text that its page would have */
  | { drawn: BoundingBox; page: number; isPainted?: true }

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

/** What a document says of itself, as it says it; `documentFields` makes fields of it. */
export interface Declared {
  created?: string
  modified?: string
  published?: string
  authors?: string[]
  /** address under which the document wants to be known */
  canonicalUrl?: string
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
  /** dates, authors and address that the document states of itself */
  declared?: Declared
}

/** One file on its way through a parser. */
export interface ParserInput {
  filename: string
  bytes: Buffer
  mediaType: string
  /** decoded text, for text formats; not called by binary ones */
  text(): string
  limits: ReadLimits
  /** takes the files that lie in this one */
  inside: Inside
  /** for text in pictures: what it may cost, and what was read of it before */
  ocr: OcrBudget
}

export interface Parser {
  /** media types it reads, as the sniffing names them */
  accepts(mediaType: string): boolean
  parse(input: ParserInput): Parsed | Promise<Parsed>
}
