import type { MaterializedCommunities, MaterializedTopic } from '../contract/gateway/graph.js'
import { formatCount, pluralize } from '../lib/text/pluralize.js'

type DocumentCoverage = Pick<MaterializedCommunities, 'coveredDocuments' | 'totalDocuments' | 'stale'>

export const COVERAGE_FIELDS = ['coveredDocuments', 'totalDocuments', 'stale']

/** A note about views that do not cover all documents of a space; undefined for complete views. */
export function formatCoverageNote({ coveredDocuments, totalDocuments, stale }: DocumentCoverage): string | undefined {
  if (!stale) return undefined
  const covers = `It covers ${formatCount(coveredDocuments)} of ${pluralize(totalDocuments, 'document')}`
  return `${covers}: others are still being read, or exceed the limit of a view.`
}

export const TOPICS_FIELDS = ['topicCount', 'documentsWithoutTopic', 'passagesInTopics', 'totalPassages']

/** A note about the fraction of a space that its topics cover; undefined for a single named topic. */
export function formatTopicsNote(topic: MaterializedTopic): string | undefined {
  const { topicCount, documentsWithoutTopic = 0, passagesInTopics = 0, totalPassages = 0, documentCount } = topic
  if (topicCount === undefined || totalPassages === 0) return undefined
  const passages = Math.round((100 * passagesInTopics) / totalPassages)
  const documents = documentCount - documentsWithoutTopic
  return `${pluralize(topicCount, 'topic')} with ${formatCount(documents)} of ${pluralize(documentCount, 'document')} and ${passages} % of their passages.`
}
