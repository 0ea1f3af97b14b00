import type { ExplainStage, ExplainVerdict } from '../../../contract/gateway/explain.js'

const HINTS: Record<ExplainVerdict, string> = {
  shown: 'nothing is missing: the document is in the evidence',
  'other-passage-shown': 'the document is in the evidence with another passage; raise topK to see more of it',
  'unknown-document': 'list the documents of the space and give one of their paths',
  deleted: 'ingest the document again if it should be found',
  'not-published': 'wait for its job to end, then ask again',
  'compile-failed': 'repair the file and ingest it again, or reindex the document',
  'out-of-scope': 'name the document among the active ones, or limit the query to none',
  'no-text': 'give the document a text layer (OCR) or add its text as a separate file, and ingest it again',
  'passage-not-found': 'quote words of a single passage, or leave the quote out',
  'index-behind': 'the indexes are catching up: ask again soon; if it stays so, restart the daemon',
  'no-term-in-common': 'ask in the words of the document, or add those of the question to it',
  'beyond-candidates': 'ask more precisely, with words that fewer documents hold',
  'beyond-rerank': 'ask more precisely: other passages match the words of the question better',
  'below-threshold': "lower the profile's scoreThreshold, or ask in the words of the document",
  'copy-shown': 'nothing is missing: the evidence has the same text from another copy of the document',
  'beyond-relevance': "ask in the words of the document; `ks search` lists it, and so does a profile's topK above 10",
  'beyond-top-k': "raise the profile's topK, or ask in the words of the document",
  'not-by-mode': 'mode fast would show it: ask in that mode',
  'query-failed': 'the recorded query ended with an error: its trace says which',
  unknowable: 'the trace keeps what was shown, not what was passed over: ask the question again and explain that',
}

/** Advice for a verdict. */
export function findHint(verdict: ExplainVerdict, stages: readonly ExplainStage[]): string {
  const has = (reason: string) => stages.some((stage) => stage.reason === reason)
  if (has('ambiguous-path')) return 'give more of the path, or the id of the document'
  if (has('replaced')) return 'ask about the document that replaced it'
  if (verdict === 'deleted' && has('gone-meanwhile'))
    return 'the document was deleted during the explanation: ask again'
  if (has('published-later')) return 'the document was published after that query: ask again'
  if (verdict === 'no-term-in-common' && has('no-model'))
    return `${HINTS[verdict]}; vector search could find it once the space has enough text for its model`
  return HINTS[verdict]
}
