/** Input of a layout. All arrays are indexed by node. */
export interface LayoutInput {
  x: number[]
  y: number[]
  size: number[]
  edges: [from: number, to: number, weight: number][]
  /** for a layout by groups: the group of each node, -1 for none; the first node of a group is its centre */
  groups?: number[]
}

/** Positions of the nodes so far. */
export interface LayoutUpdate {
  x: number[]
  y: number[]
  isLast: boolean
}
