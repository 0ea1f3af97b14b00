import type { Client } from '../client/client.js'
import type { GraphReading } from '../contract/gateway/graph-readings.js'
import { formatCount, pluralize } from '../lib/text/pluralize.js'

/** Loads the last graph reading of a space; `undefined` if there was none. */
export async function getLastGraphReading(client: Client, id: string): Promise<GraphReading | undefined> {
  const { items } = await client.request('GET /knowledge-spaces/{id}/graph/readings', { path: { id } })
  return items[0]
}

/** Loads the graph reading that has not ended, if any. */
export async function getRunningGraphReading(client: Client, id: string): Promise<GraphReading | undefined> {
  const last = await getLastGraphReading(client, id)
  return last?.completedAt === undefined ? last : undefined
}

/** Formats the progress of a reading as one line. */
export function formatGraphReading({ state, model, passages, passagesRead, usedTokens, error }: GraphReading): string {
  const tokens = model === undefined ? '' : `, ${pluralize(usedTokens, 'token')} used`
  const cause = state === 'waiting' && error !== undefined ? `; waiting: ${error}` : ''
  return `graph: ${formatCount(passagesRead)} of ${pluralize(passages, 'passage')} read${tokens}${cause}`
}

/** How to continue a reading that stopped at its budget; `undefined` for others. */
export function formatResumeNote({ message }: GraphReading): string | undefined {
  return message === undefined ? undefined : `${message} \`ks graph extract --all --budget TOKENS\` continues.`
}
