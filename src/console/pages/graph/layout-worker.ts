import { UndirectedGraph } from 'graphology'
import module, { inferSettings } from 'graphology-layout-forceatlas2'
import { layGroups, type Places } from './grouped-layout.js'
import type { Laid, ToLay } from './to-lay.js'

// the types describe the CommonJS module; a bundler returns its default export directly
const forceAtlas2 = ('default' in module ? module.default : module) as typeof module.default

/** iterations between two updates */
const STEP = 20
const STEPS = 8
/** Number of nodes above which distant ones are approximated together (Barnes-Hut). */
const MANY = 500

/** Computes the layout in a worker, so that the page stays responsive with thousands of nodes. */
addEventListener('message', ({ data }: MessageEvent<ToLay>) => {
  if (data.groups !== undefined) return layGroups(data, forces, (x, y, isLast) => tell({ x, y, isLast }))
  const places = { x: data.x, y: data.y, size: data.size }
  for (let step = 1; step <= STEPS; step++) {
    forces(places, data.edges, STEP)
    tell({ x: places.x, y: places.y, isLast: step === STEPS })
  }
})

function tell(laid: Laid): void {
  postMessage(laid)
}

function forces(places: Places, edges: readonly ToLay['edges'][number][], iterations: number): void {
  const graph = new UndirectedGraph<{ x: number; y: number; size: number }>()
  for (const [at, x] of places.x.entries())
    graph.addNode(String(at), { x, y: places.y[at] ?? 0, size: places.size[at] ?? 1 })
  for (const [from, to, weight] of edges) graph.mergeEdge(String(from), String(to), { weight })
  const settings = {
    ...inferSettings(graph),
    barnesHutOptimize: graph.order > MANY,
    adjustSizes: false,
    gravity: 0.6,
    scalingRatio: 8,
    edgeWeightInfluence: 1,
  }
  forceAtlas2.assign(graph, { iterations, settings })
  graph.forEachNode((id, { x, y }) => {
    places.x[Number(id)] = x
    places.y[Number(id)] = y
  })
}
