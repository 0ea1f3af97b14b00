import type { Block, DeclaredFields } from '../parsed.js'
import type { DocumentReferences } from './rst-references.js'

/** State that the parts of one document share. */
export interface RstDocument {
  references: DocumentReferences
  /** adornments in the order of their first use, which is the order of their levels */
  levels: string[]
  /** files that the document includes, and formats of raw text that is not read */
  unread: Set<string>
  declared: DeclaredFields
  /** Reads a part of the document. @param depth number of blocks around it */
  readBlocks(lines: readonly string[], depth: number): Block[]
}
