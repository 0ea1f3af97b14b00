import type { Client } from '../client/client.js'
import type { GraphReading } from '../contract/gateway/graph-readings.js'

export const READING_FIELDS = [
  'id',
  'state',
  'passages',
  'passagesRead',
  'passagesAsked',
  'passagesUnusable',
  'usedTokens',
  'budgetTokens',
  'error',
  'updatedAt',
]

/** The last reading of a space for its graph; undefined where there was none. */
export async function lastReading(client: Client, id: string): Promise<GraphReading | undefined> {
  const { items } = await client.request('GET /knowledge-spaces/{id}/graph/readings', { path: { id } })
  return items[0]
}

/** The reading that is under way. */
export async function openReading(client: Client, id: string): Promise<GraphReading | undefined> {
  const last = await lastReading(client, id)
  return last?.completedAt === undefined ? last : undefined
}

/** How far a reading is, in a line. */
export function readingLine({ state, model, passages, passagesRead, usedTokens, error }: GraphReading): string {
  const tokens = model === undefined ? '' : `, ${usedTokens} tokens used`
  const why = state === 'waiting' && error !== undefined ? `; waiting: ${error}` : ''
  return `graph: ${passagesRead} of ${passages} passages read${tokens}${why}`
}

/** How to go on with a reading that its budget ended; undefined for others. */
export function resumeNote({ message }: GraphReading): string | undefined {
  return message === undefined ? undefined : `${message} \`ks graph extract --all --budget TOKENS\` goes on.`
}
