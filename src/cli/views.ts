import type { MaterializedCommunities, MaterializedTopic } from '../contract/gateway/graph.js'

type Coverage = Pick<MaterializedCommunities, 'coveredDocuments' | 'totalDocuments' | 'stale'>

export const COVERAGE_FIELDS = ['coveredDocuments', 'totalDocuments', 'stale']

/** What to say of views that do not cover all of a space's documents; undefined for those that do. */
export function coverageNote({ coveredDocuments, totalDocuments, stale }: Coverage): string | undefined {
  if (!stale) return undefined
  const covers = `It covers ${coveredDocuments} of ${totalDocuments} documents`
  return `${covers}: others are still being read, or are more than one view takes in.`
}

export const TOPICS_FIELDS = ['topicCount', 'documentsWithoutTopic', 'passagesInTopics', 'totalPassages']

/** How much of a space its topics hold; undefined for a topic that was named. */
export function topicsNote(made: MaterializedTopic): string | undefined {
  const { topicCount, documentsWithoutTopic = 0, passagesInTopics = 0, totalPassages = 0, documentCount } = made
  if (topicCount === undefined || totalPassages === 0) return undefined
  const passages = Math.round((100 * passagesInTopics) / totalPassages)
  const documents = documentCount - documentsWithoutTopic
  return `${topicCount} topics hold ${documents} of ${documentCount} documents and ${passages} % of their passages.`
}
