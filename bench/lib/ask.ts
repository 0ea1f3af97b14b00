import type { Client } from '../../src/client/client.js'
import type { EvidenceBundle, QueryBody } from '../../src/contract/gateway/queries.js'
import type { Side } from './turns.js'

export interface Answer {
  text: string
  bundle: EvidenceBundle | undefined
  metadata: Record<string, unknown>
  /** from sending the request to the terminal frame */
  ms: number
  /** from the first byte of the answer to the terminal frame */
  streamMs: number
}

/** Asks one question over HTTP and reads the stream to its end. @throws Error on `answer.error` or a broken stream */
export async function ask(
  client: Client,
  knowledgeSpaceId: string,
  query: string,
  mode: QueryBody['mode'] = 'fast',
): Promise<Answer> {
  const started = performance.now()
  const { events } = await client.stream('POST /queries', { body: { knowledgeSpaceId, query, mode } })
  const opened = performance.now()
  let text = ''
  for await (const { event, data } of events) {
    if (event === 'answer.delta') text += JSON.parse(data).delta
    if (event === 'answer.error') throw new Error(`answer.error: ${JSON.parse(data).error}`)
    if (event !== 'answer.done') continue
    const metadata: Record<string, unknown> = JSON.parse(data).metadata ?? {}
    const ended = performance.now()
    return { text, bundle: bundleOf(metadata), metadata, ms: ended - started, streamMs: ended - opened }
  }
  throw new Error('the stream ended without a terminal frame')
}

/**
 * Asks questions, so many at a time, each as soon as one before it is answered.
 *
 * @returns the time of each question in the order they were answered in, and of all together
 */
export async function askAll(
  client: Client,
  knowledgeSpaceId: string,
  queries: readonly string[],
  atOnce = 1,
): Promise<{ ms: number[]; seconds: number }> {
  const ms: number[] = []
  const waiting = [...queries].values()
  const started = performance.now()
  const asking = async (): Promise<void> => {
    for (const query of waiting) ms.push((await ask(client, knowledgeSpaceId, query)).ms)
  }
  await Promise.all(Array.from({ length: atOnce }, asking))
  return { ms, seconds: (performance.now() - started) / 1000 }
}

/** A space over HTTP as one of the sides that are asked in turns. */
export function overHttp(client: Client, spaceId: string, queries: readonly string[]): Side {
  const at = (places: readonly number[]) => places.map((place) => queries[place]!)
  return async (places) => (await askAll(client, spaceId, at(places))).ms
}

function bundleOf(metadata: Record<string, unknown>): EvidenceBundle | undefined {
  const bundle = metadata['evidenceBundle']
  // the daemon checks the bundle against its schema before it is sent
  return typeof bundle === 'object' && bundle !== null ? (bundle as EvidenceBundle) : undefined
}

/** Documents of the evidence in rank order, each once, at its best node. */
export function rankedDocuments(bundle: EvidenceBundle | undefined): string[] {
  const ids = (bundle?.items ?? []).flatMap((item) => item.citations[0]?.documentAssetId ?? [])
  return [...new Set(ids)]
}
