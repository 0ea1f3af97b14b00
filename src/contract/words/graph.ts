/** What fields of the graph and of views hold. */
export const GRAPH_WORDS: Readonly<Record<string, string>> = {
  readingId: 'id of the reading',
  topicCount: 'how many topics',
  passagesInTopics: 'passages that belong to a topic',
  totalPassages: 'passages of all documents that the topics were made of',
  writtenBy: 'who wrote it',
  statements: 'what it says',
  report: 'what it is about',
  budgetTokens: 'tokens that the model may cost',
  usedTokens: 'tokens that the model has cost so far',
}
