import { notFound } from '../../contract/errors.js'
import type { Community } from '../../contract/gateway/communities.js'
import type { GraphView } from '../graph/read.js'
import { lastBuild, membersOf, type ViewRow, viewsOf } from '../rows/views/views.js'
import type { Read } from '../storage/program.js'
import { fromCell, readableIn } from '../storage/readable.js'
import type { CoverageOf } from './coverage.js'
import { communityReport } from './reports.js'

/**
 * Lists communities as one reader sees them, the largest first.
 *
 * @param slug restricts the result to one community
 * @throws KsError `not-found` for an unknown slug
 */
export function* listCommunities(
  coverageOf: CoverageOf,
  view: GraphView,
  slug: string | undefined,
): Read<{ items: Community[]; degradedReasons?: string[] }> {
  const { space } = view
  const build = yield* lastBuild(space.key, 'community')
  const rows = (yield* viewsOf(space.key, 'community')).filter((row) => slug === undefined || row.slug === slug)
  if (slug !== undefined && rows.length === 0) throw notFound('community', slug)
  rows.sort((a, b) => b.document_count - a.document_count || a.key - b.key)
  const items = yield* readableIn(rows, (row) => toCommunity(coverageOf, view, row))
  return build === undefined ? { items, degradedReasons: ['the communities are still being built'] } : { items }
}

function* toCommunity(coverageOf: CoverageOf, view: GraphView, row: ViewRow): Read<Community> {
  return {
    slug: row.slug,
    name: row.name,
    terms: fromCell<string[]>(row.terms),
    entityCount: (yield* membersOf(row.key, 'entity')).length,
    documentCount: row.document_count,
    generatedVersion: row.generated_version,
    ...coverageOf(row),
    report: yield* communityReport(view, row),
  }
}
