import type { TableFormat } from './formats.js'
import { CONTENT_FORMATS } from './formats-content.js'
import { KEPT_FORMATS } from './formats-kept.js'
import { KNOWLEDGE_FORMATS } from './formats-knowledge.js'

/**
 * The format of every column of every table: the one place that says it. The database refuses to hand out what does not have
 * it, `ks fsck` looks for it, and a test holds it against the schema.
 */
export const TABLE_FORMATS: Readonly<Record<string, TableFormat>> = {
  ...CONTENT_FORMATS,
  ...KNOWLEDGE_FORMATS,
  ...KEPT_FORMATS,
}
