import { setImmediate as turn } from 'node:timers/promises'
import type { Database } from '../storage/database.js'
import { sql } from '../storage/program.js'
import { EXTRACTION_VERSION } from './graph/store.js'
import { PAGE_INDEX_FORMAT } from '../rows/page-indexes.js'

/** SQL: whether version `v` has its page index. */
export const IS_INDEXED = `EXISTS (SELECT 1 FROM page_index p WHERE p.version_key = v.key AND p.format = ${PAGE_INDEX_FORMAT})`

/** SQL: whether version `v` was read for page index and graph. */
export const IS_READ = `(${IS_INDEXED}
  AND EXISTS (SELECT 1 FROM graph_versions g WHERE g.version_key = v.key AND g.extraction_version = ${EXTRACTION_VERSION}))`

/** versions looked at before others get a turn: some milliseconds */
const SLICE = 250

/** the rows of versions are large: whoever does not ask for documents does without both */
const DOCUMENTS = 'CROSS JOIN versions row ON row.key = v.key CROSS JOIN documents d ON d.key = row.doc_key'

interface Counted {
  spaceKey: number
  /** those that came with a later publication do not count */
  revision?: number
  withDocuments?: boolean
}

/** Where a look through a space's versions goes on: they are published in the order of this key. */
export interface Place {
  revision: number
  nodes: number
  key: number
}

export const BEGINNING: Place = { revision: 0, nodes: -1, key: 0 }

/**
 * Versions that a space shows, in the order of `Place`, and whether they meet a condition.
 *
 * @param condition SQL over version `v`
 */
export function liveAfter(db: Database, spaceKey: number, after: Place, condition: string, limit: number) {
  return db.now(
    sql.all<Place & { meets: number }>(
      `SELECT v.key, v.from_revision revision, v.node_count nodes, ${condition} meets
     FROM versions v INDEXED BY versions_live
     WHERE v.space_key = ? AND v.until_revision IS NULL AND v.from_revision > 0
       AND (v.from_revision, v.node_count, v.key) > (?, ?, ?)
     ORDER BY v.from_revision, v.node_count, v.key LIMIT +?`,
      [spaceKey, after.revision, after.nodes, after.key, limit],
    ),
  )
}

/**
 * How many of the documents that a space shows meet a condition.
 *
 * @param condition SQL over the key of version `v`, and over document `d` where that is asked for
 */
export async function countLive(
  db: Database,
  { spaceKey, revision = Number.MAX_SAFE_INTEGER, withDocuments = false }: Counted,
  condition: string,
  ...parameters: number[]
): Promise<number> {
  let n = 0
  let after = BEGINNING
  for (;;) {
    const slice = db.now(
      sql.all<Place & { counts: number }>(
        `SELECT v.revision, v.nodes, v.key, (${condition}) counts
       FROM (SELECT key, from_revision revision, node_count nodes FROM versions INDEXED BY versions_live
             WHERE space_key = ? AND until_revision IS NULL AND from_revision <= ?
               AND (from_revision, node_count, key) > (?, ?, ?)
             ORDER BY from_revision, node_count, key LIMIT +?) v ${withDocuments ? DOCUMENTS : ''}
       ORDER BY v.revision, v.nodes, v.key`,
        [...parameters, spaceKey, revision, after.revision, after.nodes, after.key, SLICE],
      ),
    )
    for (const { counts } of slice) n += counts
    const last = slice.at(-1)
    if (last === undefined || slice.length < SLICE) return n
    after = last
    await turn()
  }
}
