import type { MissingEvidence } from '../../contract/gateway/queries.js'
import { defined } from '../../lib/defined.js'
import { expectedEvidence } from './question/expected-evidence.js'

/**
 * What would answer a question that nothing found answers, or answers in full: an entry for each question in it.
 *
 * @param uncovered words of the question that nothing holds
 */
export function notRetrieved(query: string, uncovered: readonly string[] = []): MissingEvidence[] {
  const entries = expectedEvidence(query).map(({ text, subject, kind }): MissingEvidence => {
    const metadata = { terms: [...uncovered], subject, ...defined({ kind }) }
    return { reason: 'not-retrieved', text, metadata }
  })
  return [...new Map(entries.map((entry) => [entry.text, entry])).values()]
}
