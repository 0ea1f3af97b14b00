import type { Client } from '../../client/client.js'
import { pluralize } from '../../lib/text/pluralize.js'
import type { QueryAnswer } from './ask.js'

/** Maximum number of open jobs that are counted. */
const MAX_COUNTED_JOBS = 100

/**
 * Explains an answer without evidence: every document was searched, or the index is out of date. Undefined if the
 * evidence may answer the question.
 */
export async function explainAbsence(
  client: Client,
  spaceId: string,
  answer: QueryAnswer,
): Promise<string | undefined> {
  if (answer.evidenceState !== 'not-enough-evidence') return undefined
  const input = { path: { id: spaceId }, query: { state: 'open' as const, limit: MAX_COUNTED_JOBS } }
  const openJobs = await client.request('GET /knowledge-spaces/{id}/jobs', input).catch(() => undefined)
  // The answer is already printed; a failure of this extra request does not matter.
  if (openJobs === undefined) return undefined
  const { items } = openJobs
  const documents =
    items.length >= MAX_COUNTED_JOBS ? `${MAX_COUNTED_JOBS} documents or more` : pluralize(items.length, 'document')
  if (items.length > 0)
    return `the index is out of date: ${documents} ${items.length === 1 ? 'is' : 'are'} still being read; ask again when \`ks jobs\` lists none`
  // Indexes that could not be searched are reported separately.
  return answer.degraded.length > 0 ? undefined : 'the index is up to date: every document was searched for these words'
}
