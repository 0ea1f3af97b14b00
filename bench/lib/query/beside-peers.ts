import { createHttpSide } from '../ask.js'
import { addVectors } from '../built-in-vectors.js'
import { type Peer, startPeer, writeWorkload } from '../peers/host.js'
import type { Figure } from '../report.js'
import { computePercentile, computeRatio, measureInTurns, type TimedSide } from '../turns.js'
import type { BenchSpace } from './space.js'

const QUERIES_PER_ROUND = 200
const WARM_UP = 50
/** passages that the product takes from each of its indexes for a question */
const PRODUCT_CANDIDATES = 200
/** above this, comparing all vectors is too slow to be an alternative */
const MAX_PASSAGES_WITHOUT_GRAPH = 20_000
const BARS = { lance: 1, bare: 2.5 }

interface PeerComparison {
  engine: string
  description: string
  top?: number
  bar?: number
}

/** Compares the daemon with engines in separate processes, on the same passages, questions and vectors, interleaved. */
export async function compareWithPeers(
  space: BenchSpace,
  rounds: number,
  bars: { lance: boolean; bare: boolean },
): Promise<Figure[]> {
  const { corpus, client, spaceId, size, folder } = space
  writeWorkload(folder, addVectors(corpus.passages, corpus.queries))
  const comparisons: Record<string, PeerComparison> = {
    lancedb: {
      engine: 'lancedb',
      description: 'LanceDB hybrid, HNSW-SQ graph, its top 10',
      ...(bars.lance ? { bar: BARS.lance } : {}),
    },
    'lancedb, more': {
      engine: 'lancedb',
      description: `LanceDB hybrid, HNSW-SQ graph, top ${PRODUCT_CANDIDATES}: as many as ours ranks`,
      top: PRODUCT_CANDIDATES,
    },
    bare: {
      engine: 'bare',
      description: `bare Tantivy + bare HNSW, ${PRODUCT_CANDIDATES} of each, no texts read`,
      ...(bars.bare ? { bar: BARS.bare } : {}),
    },
    ...(size > MAX_PASSAGES_WITHOUT_GRAPH
      ? {}
      : {
          'lancedb, flat': { engine: 'lancedb-flat', description: 'LanceDB hybrid, no graph, its top 10' },
          'sqlite-vec': { engine: 'sqlite-vec', description: 'FTS5 + sqlite-vec, no graph, its top 10' },
        }),
  }
  const peers = new Map<string, Peer>()
  try {
    for (const { engine } of Object.values(comparisons))
      if (!peers.has(engine)) peers.set(engine, await startPeer(engine, folder, folder))
    const sides: Record<string, TimedSide> = { ours: createHttpSide(client, spaceId, corpus.queries) }
    for (const [name, { engine, top }] of Object.entries(comparisons))
      sides[name] = (indexes) => peers.get(engine)!.ask(indexes, top)
    const indexes = [...corpus.queries.keys()]
    await measureInTurns(sides, indexes.slice(0, WARM_UP))
    const times: Record<string, number[]>[] = []
    for (let round = 0; round < rounds; round++)
      times.push(await measureInTurns(sides, indexes.slice(-QUERIES_PER_ROUND)))
    const getTimes = (name: string) => times.map((one) => one[name] ?? [])
    return Object.entries(comparisons).map(([name, { engine, description, bar }]): Figure => {
      const recall = peers.get(engine)?.recall ?? Number.NaN
      return {
        name: `${size.toLocaleString('en-US')} passages, p50 / ${description}`,
        ...computeRatio(getTimes('ours'), getTimes(name)),
        unit: '',
        conditions: `${computePercentile(getTimes(name), 0.5).value.toFixed(2)} ms in process, vectors given, recall@10 ${recall.toFixed(3)}; in turns`,
        ...(bar === undefined ? {} : { bar: { atMost: bar } }),
      }
    })
  } finally {
    await Promise.all([...peers.values()].map((peer) => peer.stop()))
  }
}
