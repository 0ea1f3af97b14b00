import { CHAT } from './chat.js'
import { CONTENT } from './content.js'
import { DOCUMENTS } from './documents.js'
import { JOBS } from './jobs.js'
import { KNOWLEDGE } from './knowledge.js'
import { QUALITY } from './quality.js'
import { RESEARCH } from './research.js'
import { SEARCH } from './search.js'
import { SOURCES } from './sources.js'
import { SPACES } from './spaces.js'
import type { Table } from './table.js'
import { UPKEEP } from './upkeep.js'
import { WORKSPACES } from './workspaces.js'

/** The tables of each subject, in the order in which they are created: parents first. */
export const SUBJECTS: Readonly<Record<string, Readonly<Record<string, Table>>>> = {
  Spaces: SPACES,
  Documents: DOCUMENTS,
  Content: CONTENT,
  Search: SEARCH,
  Knowledge: KNOWLEDGE,
  Jobs: JOBS,
  Sources: SOURCES,
  Research: RESEARCH,
  Quality: QUALITY,
  Workspaces: WORKSPACES,
  Chat: CHAT,
  Upkeep: UPKEEP,
}

/**
 * The tables of a store: the only declaration of each column. The DDL of both databases, the formats that fsck checks, the
 * keys by which rows are replaced and the columns of bundles are derived from it. Times are milliseconds since the epoch,
 * ids are UUIDv7 texts, and `key` columns are row keys, which never leave the process. See
 * docs/decisions/0115-one-description-of-the-schema.md.
 */
export const TABLES: Readonly<Record<string, Table>> = Object.assign({}, ...Object.values(SUBJECTS))
