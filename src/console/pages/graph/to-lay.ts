/** What a layout begins with, by the place of each node. */
export interface ToLay {
  x: number[]
  y: number[]
  size: number[]
  edges: [from: number, to: number, weight: number][]
  /** of a picture by groups: the group of each node, -1 for none; the first node of a group is its middle */
  groups?: number[]
}

export interface Laid {
  x: number[]
  y: number[]
  isLast: boolean
}
