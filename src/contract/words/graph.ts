/** Descriptions of the fields of the graph and of semantic views. */
export const GRAPH_DESCRIPTIONS: Readonly<Record<string, string>> = {
  readingId: 'id of the reading',
  topicCount: 'number of topics; absent for a single topic',
  passagesInTopics: 'number of passages in topics; absent for a single topic',
  totalPassages: 'number of passages in all grouped documents; absent for a single topic',
  writtenBy: 'author of the report: rules or a model',
  statements: 'statements of the report',
  report: 'short report about the community',
  budgetTokens: 'maximum number of model tokens to spend',
  usedTokens: 'number of model tokens spent so far',
}
