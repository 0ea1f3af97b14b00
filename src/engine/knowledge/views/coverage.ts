import { LRUCache } from 'lru-cache'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { findHeadRevision, IS_READ } from '../../store/rows/derivations.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import type { ViewBuildCoverage } from '../../store/rows/views/views.js'
import { countLiveDocuments } from '../derived/live-versions.js'
import { countLiveByRevision, countRestrictedByRevision, type RevisionCount } from '../rows/views/coverage.js'
import { OPEN } from '../rows/views/open.js'

/** How much of a space's current revision a view or build covers. Only documents that are open to the tenant count. */
export interface ViewCoverage {
  coveredDocuments: number
  totalDocuments: number
  /** it covers less than everything, or was built from an earlier revision */
  stale: boolean
}

/** Computes how much of the current revision something covers. */
export type CoverageFunction = (build: ViewBuildCoverage) => ViewCoverage

/** Number of spaces with cached counts; each has a number or two for every revision that still shows a document. */
const MAX_REMEMBERED_SPACES = 100

interface OpenDocumentCounts {
  /** the counted revision */
  head: number
  total: number
  /** cumulative number of documents up to each revision, oldest first */
  upTo: RevisionCount[]
}

/** Counts the open documents of spaces, once per revision. */
export class OpenDocuments {
  readonly #db: Driver
  readonly #counted = new LRUCache<number, OpenDocumentCounts>({ max: MAX_REMEMBERED_SPACES })

  constructor(db: Driver) {
    this.#db = db
  }

  async total(spaceKey: number): Promise<number> {
    return (await this.#count(spaceKey)).total
  }

  /**
   * Something built from an earlier revision covers, of today's documents, those of that revision that were not
   * replaced or deleted since, less those that it did not cover then. (Some of the latter may be deleted by now; they
   * count as not covered all the same.)
   */
  async coverage(spaceKey: number): Promise<CoverageFunction> {
    const { head, total, upTo } = await this.#count(spaceKey)
    return (build) => {
      const remaining = upTo.findLast(({ revision }) => revision <= build.revision)?.n ?? 0
      const covered = Math.max(0, remaining - (build.total - build.covered))
      return {
        coveredDocuments: covered,
        totalDocuments: total,
        stale: build.revision !== head || covered < total,
      }
    }
  }

  async #count(spaceKey: number): Promise<OpenDocumentCounts> {
    const counted = await this.#db.read(countOpen(spaceKey, this.#counted.get(spaceKey)))
    this.#counted.set(spaceKey, counted)
    return counted
  }
}

/** @param known earlier counts */
function* countOpen(spaceKey: number, known: OpenDocumentCounts | undefined): Read<OpenDocumentCounts> {
  const head = (yield* findHeadRevision(spaceKey)) ?? 0
  // every deletion creates a revision, and the scope of a source never changes
  if (known?.head === head) return known
  const hidden = new Map((yield* countRestrictedByRevision(spaceKey)).map(({ revision, n }) => [revision, n]))
  let total = 0
  const upTo = (yield* countLiveByRevision(spaceKey)).map(({ revision, n }) => {
    total += n - (hidden.get(revision) ?? 0)
    return { revision, n: total }
  })
  return { head, upTo, total }
}

/**
 * Counts the open documents of a revision that were read for page index and graph, and whose relations all have a key
 * of at least `from`.
 */
export function countReadDocuments(
  db: Driver,
  { key: spaceKey, head_revision: revision }: SpaceRow,
  from: number,
): Promise<number> {
  const older = 'EXISTS (SELECT 1 FROM graph_relation_nodes m WHERE m.version_key = v.key AND m.relation_key < ?)'
  return countLiveDocuments(
    db,
    { spaceKey, revision, withDocuments: true },
    `${OPEN} AND ${IS_READ} AND NOT ${older}`,
    from,
  )
}
