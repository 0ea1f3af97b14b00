import type { Client } from '../../src/client/client.js'
import type { EvidenceBundle, QueryBody } from '../../src/contract/gateway/queries.js'
import type { TimedSide } from './turns.js'

export interface Answer {
  text: string
  bundle: EvidenceBundle | undefined
  metadata: Record<string, unknown>
  /** from sending the request to the terminal frame */
  ms: number
  /** from the first byte of the answer to the terminal frame */
  streamMs: number
}

/** Asks a question over HTTP and reads the stream to its end. @throws Error on `answer.error` or a broken stream */
export async function ask(
  client: Client,
  knowledgeSpaceId: string,
  query: string,
  mode: QueryBody['mode'] = 'fast',
): Promise<Answer> {
  const startedAt = performance.now()
  const { events } = await client.stream('POST /queries', { body: { knowledgeSpaceId, query, mode } })
  const openedAt = performance.now()
  let text = ''
  for await (const { event, data } of events) {
    if (event === 'answer.delta') text += JSON.parse(data).delta
    if (event === 'answer.error') throw new Error(`answer.error: ${JSON.parse(data).error}`)
    if (event !== 'answer.done') continue
    const metadata: Record<string, unknown> = JSON.parse(data).metadata ?? {}
    const endedAt = performance.now()
    return { text, bundle: getBundle(metadata), metadata, ms: endedAt - startedAt, streamMs: endedAt - openedAt }
  }
  throw new Error('the stream ended without a terminal frame')
}

/** Asks questions, `concurrency` at a time. @returns the time of each question, in the order of the answers, and the total */
export async function askAll(
  client: Client,
  knowledgeSpaceId: string,
  queries: readonly string[],
  concurrency = 1,
): Promise<{ ms: number[]; seconds: number }> {
  const ms: number[] = []
  const pending = [...queries].values()
  const startedAt = performance.now()
  const worker = async (): Promise<void> => {
    for (const query of pending) ms.push((await ask(client, knowledgeSpaceId, query)).ms)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return { ms, seconds: (performance.now() - startedAt) / 1000 }
}

/** Creates the side of a space over HTTP for `measureInTurns`. */
export function createHttpSide(client: Client, spaceId: string, queries: readonly string[]): TimedSide {
  return async (indexes) => {
    const selected = indexes.map((index) => queries[index]!)
    return (await askAll(client, spaceId, selected)).ms
  }
}

function getBundle(metadata: Record<string, unknown>): EvidenceBundle | undefined {
  const bundle = metadata['evidenceBundle']
  // the daemon validates the bundle before it sends it
  return typeof bundle === 'object' && bundle !== null ? (bundle as EvidenceBundle) : undefined
}

/** Lists the documents of the evidence in the order of their best nodes. */
export function listRankedDocuments(bundle: EvidenceBundle | undefined): string[] {
  const ids = (bundle?.items ?? []).flatMap((item) => item.citations[0]?.documentAssetId ?? [])
  return [...new Set(ids)]
}
