import type { LayoutInput, LayoutUpdate } from './layout-messages.js'

type LayoutEdge = LayoutInput['edges'][number]

/** Moves positions by the forces between nodes. @param iterations how often all nodes move */
export type ApplyForces = (positions: NodePositions, edges: readonly LayoutEdge[], iterations: number) => void

export interface NodePositions {
  x: number[]
  y: number[]
  size: number[]
}

interface NodeGroup {
  /** indexes of its nodes, the centre first */
  nodes: number[]
  /** of its circle */
  radius: number
}

interface PlacedGroup extends NodeGroup {
  edges: readonly LayoutEdge[]
  centreX: number
  centreY: number
}

/** in radians: points at multiples of it are spread evenly around a centre */
export const GOLDEN_ANGLE = 2.399_963
/** Minimal distance of two circles, as a factor of the sum of their radii. */
const GAP_FACTOR = 1.15
/** Approximate distance of two nodes in a circle. */
const SPACING = 6
/** Rounds in which overlapping circles are pushed apart. */
const MAX_PUSH_ROUNDS = 200
/** Iterations of the forces between groups, and between the nodes of a group. */
const GROUP_ITERATIONS = 300
const NODE_ITERATIONS = 60
/** Fraction of a circle's nodes that set its scale; outliers are pulled in. */
const INNER_FRACTION = 0.92
/** Avoids divisions by zero. */
const MIN_LENGTH = 1e-6

/**
 * Lays out nodes by groups: each group is a circle near related groups, without overlap, and contains its nodes.
 *
 * @param onUpdate called first with the nodes spread evenly, then with each group laid out
 */
export function layoutGroups(input: LayoutInput, applyForces: ApplyForces, onUpdate: (update: LayoutUpdate) => void) {
  const groups = collectGroups(input.groups ?? [])
  const centres = placeGroups(groups, input, applyForces)
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
  onUpdate({ x, y, isLast: false })
  const edgesByGroup = groupEdges(groups, input)
  const ungroupedIndex = groups.length - 1
  for (const [groupIndex, group] of groups.entries()) {
    const edges = edgesByGroup[groupIndex] ?? []
    const [centreX = 0, centreY = 0] = [centres.x[groupIndex], centres.y[groupIndex]]
    if (group.nodes.length > 3 && edges.length > 0)
      layoutGroup({ ...group, edges, centreX, centreY }, { x, y, size: input.size }, applyForces)
    const [hub] = group.nodes
    if (groupIndex === ungroupedIndex || hub === undefined) continue
    x[hub] = centreX
    y[hub] = centreY
  }
  onUpdate({ x, y, isLast: true })
}

/** Groups in their order; nodes without a group form the last one. */
function collectGroups(groupOfNode: readonly number[]): NodeGroup[] {
  const count = groupOfNode.reduce((max, group) => Math.max(max, group), -1) + 1
  const nodes: number[][] = Array.from({ length: count + 1 }, () => [])
  for (const [node, group] of groupOfNode.entries()) nodes[group === -1 ? count : group]?.push(node)
  return nodes.map((members) => ({
    nodes: members,
    radius: members.length === 0 ? 0 : SPACING * Math.sqrt(members.length + 2),
  }))
}

/** Computes the centres of the groups' circles. The weight of an edge is the number of edges between two groups. */
function placeGroups(
  groups: readonly NodeGroup[],
  { groups: groupOfNode = [], edges }: LayoutInput,
  applyForces: ApplyForces,
): NodePositions {
  const bridges = new Map<string, LayoutEdge>()
  for (const [from, to] of edges) {
    const [fromGroup = -1, toGroup = -1] = [groupOfNode[from], groupOfNode[to]]
    if (fromGroup < 0 || toGroup < 0 || fromGroup === toGroup) continue
    const [first, second] = [Math.min(fromGroup, toGroup), Math.max(fromGroup, toGroup)]
    const existing = bridges.get(`${first} ${second}`)
    if (existing === undefined) bridges.set(`${first} ${second}`, [first, second, 1])
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
  const targetRadius = computeOuterRadius(positions)
  if (bridges.size > 0) applyForces(positions, [...bridges.values()], GROUP_ITERATIONS)
  const scale = targetRadius / Math.max(computeOuterRadius(positions), MIN_LENGTH)
  positions.x = positions.x.map((value) => value * scale)
  positions.y = positions.y.map((value) => value * scale)
  pushApart(positions)
  return positions
}

function computeOuterRadius({ x, y }: NodePositions): number {
  return x.reduce((max, value, index) => Math.max(max, Math.hypot(value, y[index] ?? 0)), 0)
}

/** Moves circles until none overlap. */
function pushApart({ x, y, size }: NodePositions): void {
  for (let round = 0; round < MAX_PUSH_ROUNDS; round++) {
    let isMoved = false
    for (let first = 0; first < x.length; first++)
      for (let second = first + 1; second < x.length; second++) {
        const deltaX = (x[second] ?? 0) - (x[first] ?? 0)
        const deltaY = (y[second] ?? 0) - (y[first] ?? 0)
        const distance = Math.hypot(deltaX, deltaY)
        const minDistance = GAP_FACTOR * ((size[first] ?? 0) + (size[second] ?? 0))
        if (distance >= minDistance) continue
        isMoved = true
        const angle = distance > MIN_LENGTH ? Math.atan2(deltaY, deltaX) : second * GOLDEN_ANGLE
        const half = (minDistance - distance) / 2
        x[first] = (x[first] ?? 0) - half * Math.cos(angle)
        y[first] = (y[first] ?? 0) - half * Math.sin(angle)
        x[second] = (x[second] ?? 0) + half * Math.cos(angle)
        y[second] = (y[second] ?? 0) + half * Math.sin(angle)
      }
    if (!isMoved) return
  }
}

/** Lists the edges inside of each group; nodes are indexes in `NodeGroup.nodes`. */
function groupEdges(groups: readonly NodeGroup[], { groups: groupOfNode = [], edges }: LayoutInput): LayoutEdge[][] {
  const indexInGroup = new Map(groups.flatMap(({ nodes }) => nodes.map((node, index) => [node, index] as const)))
  const edgesByGroup: LayoutEdge[][] = groups.map(() => [])
  for (const [from, to, weight] of edges) {
    const group = groupOfNode[from]
    if (group === undefined || group !== groupOfNode[to]) continue
    const groupIndex = group === -1 ? groups.length - 1 : group
    edgesByGroup[groupIndex]?.push([indexInGroup.get(from) ?? 0, indexInGroup.get(to) ?? 0, weight])
  }
  return edgesByGroup
}

/** Lays out the nodes of one group and fits them into its circle. */
function layoutGroup(
  { nodes, radius, edges, centreX, centreY }: PlacedGroup,
  all: NodePositions,
  applyForces: ApplyForces,
): void {
  const local: NodePositions = {
    x: nodes.map((node) => (all.x[node] ?? 0) - centreX),
    y: nodes.map((node) => (all.y[node] ?? 0) - centreY),
    size: nodes.map((node) => all.size[node] ?? 1),
  }
  applyForces(local, edges, NODE_ITERATIONS)
  const [meanX, meanY] = [computeMean(local.x), computeMean(local.y)]
  const distances = local.x.map((x, index) => Math.hypot(x - meanX, (local.y[index] ?? 0) - meanY))
  const outer = distances.toSorted((a, b) => a - b)[Math.floor(INNER_FRACTION * (distances.length - 1))] ?? 1
  for (const [index, node] of nodes.entries()) {
    const relativeDistance = (distances[index] ?? 0) / Math.max(outer, MIN_LENGTH)
    // outliers are compressed into the outer tenth of the circle
    const distance = radius * (relativeDistance <= 1 ? 0.9 * relativeDistance : 0.9 + 0.1 * (1 - 1 / relativeDistance))
    const angle = Math.atan2((local.y[index] ?? 0) - meanY, (local.x[index] ?? 0) - meanX)
    all.x[node] = centreX + distance * Math.cos(angle)
    all.y[node] = centreY + distance * Math.sin(angle)
  }
}

/** Mean of the numbers; 0 of none. */
export function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1)
}
