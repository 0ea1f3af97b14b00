/** Key of a graph point whose node is gone. */
export const DEAD = -1

/** The points of a graph, by position: its labels are row numbers. */
export interface GraphPoints {
  rows: Uint32Array
  keys: Float64Array
  docs: Float64Array
  fingerprints: Float32Array
}

/** A vector of one key, as it comes from a batch. */
export interface VectorEntry {
  key: number
  doc: number
  /** numbers, or the bits of halves */
  vector: Float32Array | Uint16Array
}
