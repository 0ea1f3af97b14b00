import { UndirectedGraph } from 'graphology'
import module from 'graphology-communities-louvain'

// The type declarations expose the function as member `default`; Node loads this CommonJS module as the function
// itself.
const louvain = module as unknown as typeof module.default

export interface ClusterLink {
  from: number
  to: number
  weight: number
}

/** Louvain's passes visit nodes in random order: a fixed seed gives the same groups for the same graph. */
const SEED = 0x2f6e2b1

/**
 * Finds groups of points that are linked more among themselves than to others (Louvain, Blondel et al. 2008), the
 * largest first, ties by their first point. Points without a link are in no group.
 */
export function findGroups(links: readonly ClusterLink[]): number[][] {
  if (links.length === 0) return []
  const graph = new UndirectedGraph<Record<string, never>, { weight: number }>()
  for (const { from, to, weight } of links)
    graph.updateUndirectedEdge(
      graph.mergeNode(from)[0],
      graph.mergeNode(to)[0],
      ({ weight: current = 0 }: { weight?: number }) => ({ weight: current + weight }),
    )
  const groups = new Map<number, number[]>()
  for (const [point, group] of Object.entries(louvain(graph, { getEdgeWeight: 'weight', rng: createRandom(SEED) })))
    groups.set(group, [...(groups.get(group) ?? []), Number(point)])
  for (const points of groups.values()) points.sort((a, b) => a - b)
  return [...groups.values()].sort((a, b) => b.length - a.length || (a[0] ?? 0) - (b[0] ?? 0))
}

/** mulberry32: numbers in [0, 1), the same ones for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
