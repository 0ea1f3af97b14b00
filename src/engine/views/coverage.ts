import { LRUCache } from 'lru-cache'
import { countLive, IS_READ } from '../derived/live-versions.js'
import { isOpen } from '../rows/permissions.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Database } from '../storage/database.js'
import { type Read, sql } from '../storage/program.js'
import { LIVE, type Made, OPEN } from './store.js'

/** How much of a space's publication of now something was made of. Only documents that are open to the tenant count. */
export interface Coverage {
  coveredDocuments: number
  totalDocuments: number
  /** it covers less than all, or was made of an earlier publication */
  stale: boolean
}

/** spaces whose counts are remembered; each has a number or two for every publication that still shows a document */
const REMEMBERED_SPACES = 100

interface Counted {
  /** the publication that was counted */
  head: number
  total: number
  /** how many of them came with a publication or before it, oldest publication first */
  upTo: ByRevision[]
}

interface ByRevision {
  revision: number
  n: number
}

/** Counts the open documents of spaces, once a publication. */
export class OpenDocuments {
  readonly #db: Database
  readonly #counted = new LRUCache<number, Counted>({ max: REMEMBERED_SPACES })

  constructor(db: Database) {
    this.#db = db
  }

  total(spaceKey: number): number {
    return this.#db.now(this.#countedOf(spaceKey)).total
  }

  /**
   * What was made of an earlier publication covers of today's what was in that one and was not replaced or deleted since,
   * less what it did not cover then. (Some of that may be gone by now: it is counted as not covered all the same.)
   */
  coverage(spaceKey: number, made: Made): Coverage {
    const { head, total, upTo } = this.#db.now(this.#countedOf(spaceKey))
    const stays = upTo.findLast(({ revision }) => revision <= made.revision)?.n ?? 0
    const covered = Math.max(0, stays - (made.total - made.covered))
    return {
      coveredDocuments: covered,
      totalDocuments: total,
      stale: made.revision !== head || covered < total,
    }
  }

  *#countedOf(spaceKey: number): Read<Counted> {
    const space = yield* sql.get<Pick<SpaceRow, 'head_revision'>>('SELECT head_revision FROM spaces WHERE key = ?', [
      spaceKey,
    ])
    const head = space?.head_revision ?? 0
    const known = this.#counted.get(spaceKey)
    // every deletion is a publication, and the scope of a source never changes
    if (known?.head === head) return known
    const hidden = new Map((yield* hiddenByRevision(spaceKey)).map(({ revision, n }) => [revision, n]))
    let total = 0
    const upTo = (yield* liveByRevision(spaceKey)).map(({ revision, n }) => {
      total += n - (hidden.get(revision) ?? 0)
      return { revision, n: total }
    })
    const counted = { head, upTo, total }
    this.#counted.set(spaceKey, counted)
    return counted
  }
}

function* liveByRevision(spaceKey: number): Read<ByRevision[]> {
  return yield* sql.all<ByRevision>(
    `SELECT from_revision revision, count(*) n FROM versions INDEXED BY versions_live
     WHERE space_key = ? AND until_revision IS NULL AND from_revision IS NOT NULL GROUP BY from_revision ORDER BY from_revision`,
    [spaceKey],
  )
}

/** Documents of restricted sources. */
function* hiddenByRevision(spaceKey: number): Read<ByRevision[]> {
  return yield* sql.all<ByRevision>(
    `SELECT v.from_revision revision, count(*) n
     FROM (SELECT DISTINCT source_id FROM source_readers WHERE space_key = ?) restricted
     CROSS JOIN documents d INDEXED BY documents_place ON d.space_key = ? AND d.source_id = restricted.source_id
       AND d.deleted_at IS NULL
     CROSS JOIN versions v INDEXED BY versions_visible ON v.doc_key = d.key
     WHERE NOT ${isOpen('restricted.source_id')} AND ${LIVE} GROUP BY v.from_revision`,
    [spaceKey, spaceKey],
  )
}

/**
 * Open documents of a publication that were read for page index and graph, and whose relations all have a key from
 * `from` on.
 */
export function countRead(
  db: Database,
  { key: spaceKey, head_revision: revision }: SpaceRow,
  from: number,
): Promise<number> {
  const older = 'EXISTS (SELECT 1 FROM graph_relation_nodes m WHERE m.version_key = v.key AND m.relation_key < ?)'
  return countLive(db, { spaceKey, revision, withDocuments: true }, `${OPEN} AND ${IS_READ} AND NOT ${older}`, from)
}
