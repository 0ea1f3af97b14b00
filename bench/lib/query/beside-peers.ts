import { overHttp } from '../ask.js'
import { withVectors } from '../built-in-vectors.js'
import { type Peer, startPeer, writeWorkload } from '../peers/host.js'
import type { Figure } from '../report.js'
import { inTurns, percentileOf, ratioOf, type Side } from '../turns.js'
import type { Space } from './space.js'

const QUERIES_A_ROUND = 200
const WARM_UP = 50
/** passages that the product takes from each of its indexes for a question */
const PRODUCT_CANDIDATES = 200
/** above this, comparing all vectors is nobody's choice */
const LARGEST_WITHOUT_GRAPH = 20_000
const BARS = { lance: 1, bare: 2.5 }

interface Compared {
  engine: string
  says: string
  top?: number
  bar?: number
}

/** The same passages, questions and vectors, asked over HTTP and of each engine in a process of its own, in turns. */
export async function besideItsPeers(
  space: Space,
  rounds: number,
  bars: { lance: boolean; bare: boolean },
): Promise<Figure[]> {
  const { corpus, client, spaceId, size, folder } = space
  writeWorkload(folder, withVectors(corpus.passages, corpus.queries))
  const compared: Record<string, Compared> = {
    lancedb: {
      engine: 'lancedb',
      says: 'LanceDB hybrid, HNSW-SQ graph, its top 10',
      ...(bars.lance ? { bar: BARS.lance } : {}),
    },
    'lancedb, more': {
      engine: 'lancedb',
      says: `LanceDB hybrid, HNSW-SQ graph, top ${PRODUCT_CANDIDATES}: as many as ours ranks`,
      top: PRODUCT_CANDIDATES,
    },
    bare: {
      engine: 'bare',
      says: `bare Tantivy + bare HNSW, ${PRODUCT_CANDIDATES} of each, no texts read`,
      ...(bars.bare ? { bar: BARS.bare } : {}),
    },
    ...(size > LARGEST_WITHOUT_GRAPH
      ? {}
      : {
          'lancedb, flat': { engine: 'lancedb-flat', says: 'LanceDB hybrid, no graph, its top 10' },
          'sqlite-vec': { engine: 'sqlite-vec', says: 'FTS5 + sqlite-vec, no graph, its top 10' },
        }),
  }
  const peers = new Map<string, Peer>()
  try {
    for (const { engine } of Object.values(compared))
      if (!peers.has(engine)) peers.set(engine, await startPeer(engine, folder, folder))
    const sides: Record<string, Side> = { ours: overHttp(client, spaceId, corpus.queries) }
    for (const [name, { engine, top }] of Object.entries(compared))
      sides[name] = (places) => peers.get(engine)!.ask(places, top)
    const places = [...corpus.queries.keys()]
    await inTurns(sides, places.slice(0, WARM_UP))
    const times: Record<string, number[]>[] = []
    for (let round = 0; round < rounds; round++) times.push(await inTurns(sides, places.slice(-QUERIES_A_ROUND)))
    const of = (name: string) => times.map((one) => one[name] ?? [])
    return Object.entries(compared).map(([name, { engine, says, bar }]): Figure => {
      const recall = peers.get(engine)?.recall ?? Number.NaN
      return {
        name: `${size.toLocaleString('en-US')} passages, p50 / ${says}`,
        ...ratioOf(of('ours'), of(name)),
        unit: '',
        beside: `${percentileOf(of(name), 0.5).value.toFixed(2)} ms in process, vectors given, recall@10 ${recall.toFixed(3)}; in turns`,
        ...(bar === undefined ? {} : { bar: { atMost: bar } }),
      }
    })
  } finally {
    await Promise.all([...peers.values()].map((peer) => peer.stop()))
  }
}
