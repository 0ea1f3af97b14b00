import type { TableFormat } from './formats.js'
import { CONTENT_FORMATS } from './formats-content.js'
import { KEPT_FORMATS } from './formats-kept.js'
import { KNOWLEDGE_FORMATS } from './formats-knowledge.js'

/**
 * The format of every column of every table, defined only here. The database refuses to return a cell without its
 * format, `ks fsck` reports it, and a test compares this list with the schema.
 */
export const TABLE_FORMATS: Readonly<Record<string, TableFormat>> = {
  ...CONTENT_FORMATS,
  ...KNOWLEDGE_FORMATS,
  ...KEPT_FORMATS,
}
