import type { MissingEvidence } from '../../../contract/gateway/queries.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { analyzeQuery } from '../../../lib/text/analyze.js'
import { describeExpectedEvidence } from './question/expected-evidence.js'
import { parseQuestionWords } from './question/words.js'

/** Maximum words of the question that the text of an empty result repeats. */
const MAX_SHOWN_WORDS = 12
/** Maximum characters of the question from which these words are taken. */
const MAX_READ_CHARACTERS = 1000

/**
 * Describes what would answer a question that the passages do not answer completely: one entry for each question in it.
 *
 * @param uncovered words of the question that no passage contains
 */
export function describeMissingEvidence(query: string, uncovered: readonly string[] = []): MissingEvidence[] {
  const entries = describeExpectedEvidence(query).map(({ text, subject, kind }): MissingEvidence => {
    const metadata = { terms: [...uncovered], subject, ...omitUndefined({ kind }) }
    return { reason: 'not-retrieved', text, metadata }
  })
  return [...new Map(entries.map((entry) => [entry.text, entry])).values()]
}

/** States that nothing was found, and the words that were searched for: documents may use other words. */
export function formatNothingFound(query: string): string {
  const beginning = query.slice(0, MAX_READ_CHARACTERS)
  const words = parseQuestionWords(beginning)(new Set(analyzeQuery(beginning)))
  if (words.length === 0) return 'Nothing was found for this question.'
  const shown = words.slice(0, MAX_SHOWN_WORDS).join(' ')
  return `Nothing was found for “${shown}${words.length > MAX_SHOWN_WORDS ? ' …' : ''}”.`
}
