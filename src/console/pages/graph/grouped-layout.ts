import type { LayoutInput } from './layout-messages.js'

type LayoutEdge = LayoutInput['edges'][number]

/** Moves positions by the forces between nodes. @param iterations how often all nodes move */
export type ApplyForces = (places: NodePositions, edges: readonly LayoutEdge[], iterations: number) => void

export interface NodePositions {
  x: number[]
  y: number[]
  size: number[]
}

interface NodeGroup {
  nodes: number[]
  radius: number
}

interface PlacedGroup extends NodeGroup {
  edges: readonly LayoutEdge[]
  centreX: number
  centreY: number
}

const GOLDEN_ANGLE = 2.399_963
/** Minimal distance of two circles, as a factor of the sum of their radii. */
const GAP_FACTOR = 1.15
const SPACING = 6
/** Rounds in which overlapping circles are pushed apart. */
const MAX_PUSH_ROUNDS = 200
const GROUP_ITERATIONS = 300
const NODE_ITERATIONS = 60
/** Fraction of a circle's nodes that set its scale; outliers are pulled in. */
const INNER_FRACTION = 0.92

/**
 * Lays out nodes by groups: each group is a circle near related groups, without overlap, and contains its nodes.
 *
 * @param report called first with the nodes spread evenly, then with each group laid out
 */
export function layoutGroups(
  input: LayoutInput,
  forces: ApplyForces,
  report: (x: number[], y: number[], isLast: boolean) => void,
) {
  const groups = collectGroups(input.groups ?? [])
  const centres = placeGroups(groups, input, forces)
  const x = input.x.slice()
  const y = input.y.slice()
  for (const [groupIndex, { nodes, radius }] of groups.entries()) {
    const [centreX = 0, centreY = 0] = [centres.x[groupIndex], centres.y[groupIndex]]
    for (const [nodeIndex, node] of nodes.entries()) {
      const distance = 0.95 * radius * Math.sqrt(nodeIndex / Math.max(1, nodes.length))
      x[node] = centreX + distance * Math.cos(nodeIndex * GOLDEN_ANGLE)
      y[node] = centreY + distance * Math.sin(nodeIndex * GOLDEN_ANGLE)
    }
  }
  report(x, y, false)
  const inner = groupEdges(groups, input)
  const last = groups.length - 1
  for (const [groupIndex, group] of groups.entries()) {
    const edges = inner[groupIndex] ?? []
    const [centreX = 0, centreY = 0] = [centres.x[groupIndex], centres.y[groupIndex]]
    if (group.nodes.length > 3 && edges.length > 0)
      layoutGroup({ ...group, edges, centreX, centreY }, { x, y, size: input.size }, forces)
    const [hub] = group.nodes
    if (groupIndex === last || hub === undefined) continue
    x[hub] = centreX
    y[hub] = centreY
  }
  report(x, y, true)
}

/** Groups in their order; nodes without a group form the last one. */
function collectGroups(groupOfNode: readonly number[]): NodeGroup[] {
  const count = groupOfNode.reduce((highest, group) => Math.max(highest, group), -1) + 1
  const nodes: number[][] = Array.from({ length: count + 1 }, () => [])
  for (const [node, group] of groupOfNode.entries()) nodes[group === -1 ? count : group]?.push(node)
  return nodes.map((members) => ({
    nodes: members,
    radius: members.length === 0 ? 0 : SPACING * Math.sqrt(members.length + 2),
  }))
}

function placeGroups(
  groups: readonly NodeGroup[],
  { groups: groupOfNode = [], edges }: LayoutInput,
  forces: ApplyForces,
): NodePositions {
  const weights = new Map<string, LayoutEdge>()
  for (const [from, to] of edges) {
    const [one, other] = [groupOfNode[from] ?? -1, groupOfNode[to] ?? -1].sort((a, b) => a - b)
    if (one === undefined || other === undefined || one < 0 || one === other) continue
    const existing = weights.get(`${one} ${other}`)
    if (existing === undefined) weights.set(`${one} ${other}`, [one, other, 1])
    else existing[2]++
  }
  let area = 0
  const positions: NodePositions = { x: [], y: [], size: groups.map(({ radius }) => radius) }
  for (const [index, { radius }] of groups.entries()) {
    // The largest is in the middle; each next one starts at the edge of the previous ones.
    const distance = GAP_FACTOR * Math.sqrt(area)
    area += radius * radius * 1.3
    positions.x.push(distance * Math.cos(index * GOLDEN_ANGLE))
    positions.y.push(distance * Math.sin(index * GOLDEN_ANGLE))
  }
  const targetRadius = outerRadius(positions)
  if (weights.size > 0) forces(positions, [...weights.values()], GROUP_ITERATIONS)
  const scale = targetRadius / Math.max(outerRadius(positions), 1e-6)
  positions.x = positions.x.map((value) => value * scale)
  positions.y = positions.y.map((value) => value * scale)
  pushApart(positions)
  return positions
}

function outerRadius({ x, y }: NodePositions): number {
  return x.reduce((max, value, index) => Math.max(max, Math.hypot(value, y[index] ?? 0)), 0)
}

function pushApart({ x, y, size }: NodePositions): void {
  for (let round = 0; round < MAX_PUSH_ROUNDS; round++) {
    let isMoved = false
    for (let first = 0; first < x.length; first++)
      for (let second = first + 1; second < x.length; second++) {
        const across = (x[second] ?? 0) - (x[first] ?? 0)
        const down = (y[second] ?? 0) - (y[first] ?? 0)
        const distance = Math.hypot(across, down)
        const minDistance = GAP_FACTOR * ((size[first] ?? 0) + (size[second] ?? 0))
        if (distance >= minDistance) continue
        isMoved = true
        const angle = distance > 1e-6 ? Math.atan2(down, across) : second * GOLDEN_ANGLE
        const half = (minDistance - distance) / 2
        x[first] = (x[first] ?? 0) - half * Math.cos(angle)
        y[first] = (y[first] ?? 0) - half * Math.sin(angle)
        x[second] = (x[second] ?? 0) + half * Math.cos(angle)
        y[second] = (y[second] ?? 0) + half * Math.sin(angle)
      }
    if (!isMoved) return
  }
}

function groupEdges(groups: readonly NodeGroup[], { groups: groupOfNode = [], edges }: LayoutInput): LayoutEdge[][] {
  const local = new Map<number, number>()
  for (const { nodes } of groups) for (const [index, node] of nodes.entries()) local.set(node, index)
  const inner: LayoutEdge[][] = groups.map(() => [])
  for (const [from, to, weight] of edges) {
    const group = groupOfNode[from]
    if (group === undefined || group !== groupOfNode[to]) continue
    inner[group === -1 ? groups.length - 1 : group]?.push([local.get(from) ?? 0, local.get(to) ?? 0, weight])
  }
  return inner
}

/** Lays out the nodes of one group and fits them into its circle. */
function layoutGroup(
  { nodes, radius, edges, centreX, centreY }: PlacedGroup,
  all: NodePositions,
  forces: ApplyForces,
): void {
  const local: NodePositions = {
    x: nodes.map((node) => (all.x[node] ?? 0) - centreX),
    y: nodes.map((node) => (all.y[node] ?? 0) - centreY),
    size: nodes.map((node) => all.size[node] ?? 1),
  }
  forces(local, edges, NODE_ITERATIONS)
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [across, down] = [mean(local.x), mean(local.y)]
  const distances = local.x.map((value, index) => Math.hypot(value - across, (local.y[index] ?? 0) - down))
  const outer = distances.toSorted((a, b) => a - b)[Math.floor(INNER_FRACTION * (distances.length - 1))] ?? 1
  for (const [index, node] of nodes.entries()) {
    const reach = (distances[index] ?? 0) / Math.max(outer, 1e-6)
    // positions beyond the circle are compressed towards its edge
    const distance = radius * (reach <= 1 ? 0.9 * reach : 0.9 + 0.1 * (1 - 1 / reach))
    const angle = Math.atan2((local.y[index] ?? 0) - down, (local.x[index] ?? 0) - across)
    all.x[node] = centreX + distance * Math.cos(angle)
    all.y[node] = centreY + distance * Math.sin(angle)
  }
}
