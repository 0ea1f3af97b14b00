import type { HtmlOutlineTracker } from '../markup/html-outline.js'
import type { Block } from '../parsed.js'
import type { WordNumbering } from './word-numbering.js'
import type { WordObjectKind } from './word-objects.js'
import type { WordStyles } from './word-styles.js'

/** What the text of a Word document refers to, shared by its body, notes, headers and footers. */
export interface WordSource {
  styles: WordStyles
  numbering: WordNumbering
  outline: HtmlOutlineTracker
  /** blocks that cannot be in a cell or list: pictures, notes, comments, text boxes, charts */
  asides: Set<Block>
  /** blocks of paragraphs that are code by their font, with their text as it was typed */
  typed: Map<Block, string>
  /** the label of a note in the text, and its blocks */
  note(kind: 'footnote' | 'endnote', id: string): { label: string; blocks: Block[] }
  comment(id: string): Block[]
  /** @param relation id of a relation of the part that is read */
  object(kind: WordObjectKind, relation: string, alt: string): Block[]
}
