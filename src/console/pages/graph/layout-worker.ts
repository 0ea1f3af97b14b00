import { UndirectedGraph } from 'graphology'
import module, { inferSettings } from 'graphology-layout-forceatlas2'
import { layoutGroups, type NodePositions } from './grouped-layout.js'
import type { LayoutInput, LayoutUpdate } from './layout-messages.js'

// the types describe the CommonJS module; a bundler returns its default export directly
const forceAtlas2 = ('default' in module ? module.default : module) as typeof module.default

/** iterations between two updates */
const ITERATIONS_PER_STEP = 20
const STEP_COUNT = 8
/** Number of nodes above which distant ones are approximated together (Barnes-Hut). */
const BARNES_HUT_MIN_NODES = 500

/** Computes the layout in a worker, so that the page stays responsive with thousands of nodes. */
addEventListener('message', ({ data }: MessageEvent<LayoutInput>) => {
  if (data.groups !== undefined) return layoutGroups(data, applyForces, post)
  for (let step = 1; step <= STEP_COUNT; step++) {
    applyForces(data, data.edges, ITERATIONS_PER_STEP)
    post({ x: data.x, y: data.y, isLast: step === STEP_COUNT })
  }
})

function post(update: LayoutUpdate): void {
  postMessage(update)
}

function applyForces(
  positions: NodePositions,
  edges: readonly LayoutInput['edges'][number][],
  iterations: number,
): void {
  const graph = new UndirectedGraph<{ x: number; y: number; size: number }>()
  for (const [index, x] of positions.x.entries())
    graph.addNode(String(index), { x, y: positions.y[index] ?? 0, size: positions.size[index] ?? 1 })
  for (const [from, to, weight] of edges) graph.mergeEdge(String(from), String(to), { weight })
  const settings = {
    ...inferSettings(graph),
    barnesHutOptimize: graph.order > BARNES_HUT_MIN_NODES,
    adjustSizes: false,
    gravity: 0.6,
    scalingRatio: 8,
    edgeWeightInfluence: 1,
  }
  forceAtlas2.assign(graph, { iterations, settings })
  graph.forEachNode((id, { x, y }) => {
    positions.x[Number(id)] = x
    positions.y[Number(id)] = y
  })
}
