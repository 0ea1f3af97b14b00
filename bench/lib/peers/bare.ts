import { setImmediate as waitForEventLoop } from 'node:timers/promises'
import hnswlib from 'hnswlib-node'
import type { TextIndex } from '../../../src/engine/search/text-index.js'
import { analyzeQuery } from '../../../src/lib/text/analyze.js'
import { buildTextIndex } from '../bare-text.js'
import { fuse, type PeerEngine, TOP } from './engine.js'

/** as many as the product takes from each index; the search width must not be smaller */
const CANDIDATES = 200
/** like the product's graphs */
const LINKS = 16
const BUILD_WIDTH = 100
const POINTS_PER_PAUSE = 500

/** Opens the lower bound: the product's two libraries in one process, one call each, without texts, ranking or access control. */
export async function openBare(folder: string, dimension: number): Promise<PeerEngine> {
  const texts: string[] = []
  const vectors: Float32Array[] = []
  const graph = new hnswlib.HierarchicalNSW('ip', dimension)
  let index: TextIndex | undefined
  const searchGraph = (vector: Float32Array, k: number) => {
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
    async waitUntilSearchable() {
      index = await buildTextIndex(folder, texts)
      graph.initIndex(Math.max(1, vectors.length), LINKS, BUILD_WIDTH)
      for (const [index, vector] of vectors.entries()) {
        graph.addPoint(Array.from(vector), index + 1)
        if (index % POINTS_PER_PAUSE === 0) await waitForEventLoop()
      }
    },
    async waitUntilSettled() {},
    async searchHybrid({ text, vector }) {
      const found = await index?.search(analyzeQuery(text), CANDIDATES)
      return fuse(found?.keys ?? [], searchGraph(vector, CANDIDATES))
    },
    async searchNearest(vector) {
      return searchGraph(vector, TOP)
    },
    childPid: () => undefined,
    async close() {
      await index?.close()
    },
  }
}
