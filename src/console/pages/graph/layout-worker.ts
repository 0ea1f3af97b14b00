import { UndirectedGraph } from 'graphology'
import module, { inferSettings } from 'graphology-layout-forceatlas2'
import type { Laid, ToLay } from './layout.js'

// its types describe the CommonJS module, whose default a bundler gives as such
const forceAtlas2 = ('default' in module ? module.default : module) as typeof module.default

/** between two pictures of the way there */
const STEP = 20
const STEPS = 8

/** The layout runs here, so that the page stays at hand while thousands of nodes find their places. */
addEventListener('message', ({ data }: MessageEvent<ToLay>) => {
  const graph = new UndirectedGraph<{ x: number; y: number; size: number }>()
  for (const [at, x] of data.x.entries()) graph.addNode(String(at), { x, y: data.y[at] ?? 0, size: data.size[at] ?? 1 })
  for (const [from, to, weight] of data.edges) graph.mergeEdge(String(from), String(to), { weight })
  const settings = {
    ...inferSettings(graph),
    barnesHutOptimize: graph.order > 500,
    adjustSizes: false,
    gravity: 0.6,
    scalingRatio: 8,
    edgeWeightInfluence: 1,
  }
  for (let step = 1; step <= STEPS; step++) {
    forceAtlas2.assign(graph, { iterations: STEP, settings })
    const laid: Laid = { x: [], y: [], isLast: step === STEPS }
    graph.forEachNode((_, { x, y }) => {
      laid.x.push(x)
      laid.y.push(y)
    })
    postMessage(laid)
  }
})
