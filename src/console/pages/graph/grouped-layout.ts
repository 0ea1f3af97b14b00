import type { ToLay } from './to-lay.js'

type Edge = ToLay['edges'][number]

/** Moves positions by the forces between nodes. @param iterations how often all nodes move */
export type Forces = (places: Places, edges: readonly Edge[], iterations: number) => void

export interface Places {
  x: number[]
  y: number[]
  size: number[]
}

interface Group {
  nodes: number[]
  radius: number
}

const GOLDEN_ANGLE = 2.399_963
/** Minimal distance of two circles, as a factor of the sum of their radii. */
const ROOM = 1.15
const SPACING = 6
/** Rounds in which overlapping circles are pushed apart. */
const PUSHES = 200
const GROUP_ITERATIONS = 300
const NODE_ITERATIONS = 60
/** Fraction of a circle's nodes that set its scale; outliers are pulled in. */
const INNER = 0.92

/**
 * Lays out nodes by groups: each group is a circle near related groups, without overlap, and contains its nodes.
 *
 * @param report called first with the nodes spread evenly, then with each group laid out
 */
export function layGroups(what: ToLay, forces: Forces, tell: (x: number[], y: number[], isLast: boolean) => void) {
  const groups = groupsOf(what.groups ?? [])
  const middles = placeGroups(groups, what, forces)
  const x = what.x.slice()
  const y = what.y.slice()
  for (const [at, { nodes, radius }] of groups.entries()) {
    const [left = 0, top = 0] = [middles.x[at], middles.y[at]]
    for (const [nth, node] of nodes.entries()) {
      const far = 0.95 * radius * Math.sqrt(nth / Math.max(1, nodes.length))
      x[node] = left + far * Math.cos(nth * GOLDEN_ANGLE)
      y[node] = top + far * Math.sin(nth * GOLDEN_ANGLE)
    }
  }
  tell(x, y, false)
  const inner = edgesWithin(groups, what)
  const last = groups.length - 1
  for (const [at, group] of groups.entries()) {
    const edges = inner[at] ?? []
    if (group.nodes.length > 3 && edges.length > 0)
      settle(group, edges, { x, y, size: what.size }, [middles.x[at] ?? 0, middles.y[at] ?? 0], forces)
    const [middle] = group.nodes
    if (at === last || middle === undefined) continue
    x[middle] = middles.x[at] ?? 0
    y[middle] = middles.y[at] ?? 0
  }
  tell(x, y, true)
}

/** Groups in their order; nodes without a group form the last one. */
function groupsOf(of: readonly number[]): Group[] {
  const count = of.reduce((most, group) => Math.max(most, group), -1) + 1
  const nodes: number[][] = Array.from({ length: count + 1 }, () => [])
  for (const [node, group] of of.entries()) nodes[group === -1 ? count : group]?.push(node)
  return nodes.map((own) => ({ nodes: own, radius: own.length === 0 ? 0 : SPACING * Math.sqrt(own.length + 2) }))
}

function placeGroups(groups: readonly Group[], { groups: of = [], edges }: ToLay, forces: Forces): Places {
  const weights = new Map<string, Edge>()
  for (const [from, to] of edges) {
    const [one, other] = [of[from] ?? -1, of[to] ?? -1].sort((a, b) => a - b)
    if (one === undefined || other === undefined || one < 0 || one === other) continue
    const known = weights.get(`${one} ${other}`)
    if (known === undefined) weights.set(`${one} ${other}`, [one, other, 1])
    else known[2]++
  }
  let area = 0
  const places: Places = { x: [], y: [], size: groups.map(({ radius }) => radius) }
  for (const [at, { radius }] of groups.entries()) {
    // The largest is in the middle; each next one starts at the edge of the previous ones.
    const far = ROOM * Math.sqrt(area)
    area += radius * radius * 1.3
    places.x.push(far * Math.cos(at * GOLDEN_ANGLE))
    places.y.push(far * Math.sin(at * GOLDEN_ANGLE))
  }
  const before = spanOf(places)
  if (weights.size > 0) forces(places, [...weights.values()], GROUP_ITERATIONS)
  const scale = before / Math.max(spanOf(places), 1e-6)
  places.x = places.x.map((value) => value * scale)
  places.y = places.y.map((value) => value * scale)
  pushApart(places)
  return places
}

function spanOf({ x, y }: Places): number {
  return x.reduce((most, value, at) => Math.max(most, Math.hypot(value, y[at] ?? 0)), 0)
}

function pushApart({ x, y, size }: Places): void {
  for (let round = 0; round < PUSHES; round++) {
    let isMoved = false
    for (let one = 0; one < x.length; one++)
      for (let other = one + 1; other < x.length; other++) {
        const across = (x[other] ?? 0) - (x[one] ?? 0)
        const down = (y[other] ?? 0) - (y[one] ?? 0)
        const apart = Math.hypot(across, down)
        const least = ROOM * ((size[one] ?? 0) + (size[other] ?? 0))
        if (apart >= least) continue
        isMoved = true
        const angle = apart > 1e-6 ? Math.atan2(down, across) : other * GOLDEN_ANGLE
        const half = (least - apart) / 2
        x[one] = (x[one] ?? 0) - half * Math.cos(angle)
        y[one] = (y[one] ?? 0) - half * Math.sin(angle)
        x[other] = (x[other] ?? 0) + half * Math.cos(angle)
        y[other] = (y[other] ?? 0) + half * Math.sin(angle)
      }
    if (!isMoved) return
  }
}

function edgesWithin(groups: readonly Group[], { groups: of = [], edges }: ToLay): Edge[][] {
  const local = new Map<number, number>()
  for (const { nodes } of groups) for (const [place, node] of nodes.entries()) local.set(node, place)
  const inner: Edge[][] = groups.map(() => [])
  for (const [from, to, weight] of edges) {
    const group = of[from]
    if (group === undefined || group !== of[to]) continue
    inner[group === -1 ? groups.length - 1 : group]?.push([local.get(from) ?? 0, local.get(to) ?? 0, weight])
  }
  return inner
}

/** Lays out the nodes of one group and fits them into its circle. */
function settle(
  { nodes, radius }: Group,
  edges: readonly Edge[],
  all: Places,
  [left, top]: readonly [number, number],
  forces: Forces,
): void {
  const own: Places = {
    x: nodes.map((node) => (all.x[node] ?? 0) - left),
    y: nodes.map((node) => (all.y[node] ?? 0) - top),
    size: nodes.map((node) => all.size[node] ?? 1),
  }
  forces(own, edges, NODE_ITERATIONS)
  const middle = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [across, down] = [middle(own.x), middle(own.y)]
  const far = own.x.map((value, at) => Math.hypot(value - across, (own.y[at] ?? 0) - down))
  const outer = far.toSorted((a, b) => a - b)[Math.floor(INNER * (far.length - 1))] ?? 1
  for (const [at, node] of nodes.entries()) {
    const reach = (far[at] ?? 0) / Math.max(outer, 1e-6)
    // positions beyond the circle are compressed towards its edge
    const drawn = radius * (reach <= 1 ? 0.9 * reach : 0.9 + 0.1 * (1 - 1 / reach))
    const angle = Math.atan2((own.y[at] ?? 0) - down, (own.x[at] ?? 0) - across)
    all.x[node] = left + drawn * Math.cos(angle)
    all.y[node] = top + drawn * Math.sin(angle)
  }
}
