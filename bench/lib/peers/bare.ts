import { setImmediate as turn } from 'node:timers/promises'
import hnswlib from 'hnswlib-node'
import type { TextIndex } from '../../../src/engine/search/text-index.js'
import { analyzeQuery } from '../../../src/lib/text/analyze.js'
import { bareTextIndex } from '../bare-text.js'
import { fuse, type PeerEngine, TOP } from './engine.js'

/** What the product asks of each index for a question; a width of the walk below that finds no more. */
const CANDIDATES = 200
/** as the product's graphs are built and walked */
const LINKS = 16
const BUILD_WIDTH = 100
const POINTS_A_TURN = 500

/**
 * The floor: the same two libraries in one process, one call each, no texts read, nothing ranked but by rank, nobody
 * else to be kept apart from.
 */
export async function openBare(folder: string, dimension: number): Promise<PeerEngine> {
  const texts: string[] = []
  const vectors: Float32Array[] = []
  const graph = new hnswlib.HierarchicalNSW('ip', dimension)
  let index: TextIndex | undefined
  const walk = (vector: Float32Array, k: number) => {
    graph.setEf(Math.max(CANDIDATES, k))
    return graph.searchKnn(Array.from(vector), Math.min(k, vectors.length)).neighbors
  }
  return {
    async add(documents) {
      for (const { title, text, vector } of documents) {
        texts.push(`${title}\n${text}`)
        vectors.push(vector)
      }
    },
    async searchable() {
      index = await bareTextIndex(folder, texts)
      graph.initIndex(Math.max(1, vectors.length), LINKS, BUILD_WIDTH)
      for (const [place, vector] of vectors.entries()) {
        graph.addPoint(Array.from(vector), place + 1)
        if (place % POINTS_A_TURN === 0) await turn()
      }
    },
    async settled() {},
    async hybrid({ text, vector }) {
      const found = await index?.search(analyzeQuery(text), CANDIDATES)
      return fuse(found?.keys ?? [], walk(vector, CANDIDATES))
    },
    async nearest(vector) {
      return walk(vector, TOP)
    },
    childPid: () => undefined,
    async close() {
      await index?.close()
    },
  }
}
