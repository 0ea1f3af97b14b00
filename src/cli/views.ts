import type { MaterializedCommunities } from '../contract/gateway/graph.js'

type Coverage = Pick<MaterializedCommunities, 'coveredDocuments' | 'totalDocuments' | 'stale'>

export const COVERAGE_FIELDS = ['coveredDocuments', 'totalDocuments', 'stale']

/** What to say of views that do not cover all of a space's documents; undefined for those that do. */
export function coverageNote({ coveredDocuments, totalDocuments, stale }: Coverage): string | undefined {
  if (!stale) return undefined
  const covers = `It covers ${coveredDocuments} of ${totalDocuments} documents`
  return `${covers}: others are still being read, or are more than one view takes in.`
}
