import type { Client } from '../../client/client.js'
import { counted } from '../../lib/text/counted.js'
import type { Answer } from './ask.js'

/** documents that are counted at most */
const COUNTED = 100

/**
 * Explains an answer without evidence: every document was searched, or the index is out of date. Undefined when
 * something was found that may answer.
 */
export async function absenceLine(client: Client, spaceId: string, answer: Answer): Promise<string | undefined> {
  if (answer.evidenceState !== 'not-enough-evidence') return undefined
  const input = { path: { id: spaceId }, query: { state: 'open' as const, limit: COUNTED } }
  const open = await client.request('GET /knowledge-spaces/{id}/jobs', input).catch(() => undefined)
  // the answer has been told; it is not taken back because this could not be asked
  if (open === undefined) return undefined
  const { items } = open
  const documents = items.length >= COUNTED ? `${COUNTED} documents or more` : counted(items.length, 'document')
  if (items.length > 0)
    return `the index is out of date: ${documents} ${items.length === 1 ? 'is' : 'are'} still being read, ask again when \`ks jobs\` lists none`
  // what could not be searched is told by itself
  return answer.degraded.length > 0 ? undefined : 'the index is up to date: every document was searched, in these words'
}
