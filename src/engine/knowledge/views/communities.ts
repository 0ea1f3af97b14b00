import { notFoundError } from '../../../contract/errors.js'
import type { Community } from '../../../contract/gateway/communities.js'
import type { Read } from '../../store/program.js'
import { mapReadableIn, parseJsonCell } from '../../store/readable.js'
import { findLastBuild, listViewMembers, listViews, type ViewRow } from '../../store/rows/views/views.js'
import type { GraphView } from '../graph/read.js'
import type { CoverageFunction } from './coverage.js'
import { loadCommunityReport } from './reports.js'

/**
 * Lists communities as one reader sees them, the largest first.
 *
 * @param slug restricts the result to one community
 * @throws KsError `not-found` for an unknown slug
 */
export function* listCommunities(
  computeCoverage: CoverageFunction,
  view: GraphView,
  slug: string | undefined,
): Read<{ items: Community[]; degradedReasons?: string[] }> {
  const { space } = view
  const build = yield* findLastBuild(space.key, 'community')
  const rows = (yield* listViews(space.key, 'community')).filter((row) => slug === undefined || row.slug === slug)
  if (slug !== undefined && rows.length === 0) throw notFoundError('community', slug)
  rows.sort((a, b) => b.document_count - a.document_count || a.key - b.key)
  const items = yield* mapReadableIn(rows, (row) => toCommunity(computeCoverage, view, row))
  return build === undefined ? { items, degradedReasons: ['the communities are still being built'] } : { items }
}

function* toCommunity(computeCoverage: CoverageFunction, view: GraphView, row: ViewRow): Read<Community> {
  return {
    slug: row.slug,
    name: row.name,
    terms: parseJsonCell<string[]>(row.terms),
    entityCount: (yield* listViewMembers(row.key, 'entity')).length,
    documentCount: row.document_count,
    generatedVersion: row.generated_version,
    ...computeCoverage(row),
    report: yield* loadCommunityReport(view, row),
  }
}
