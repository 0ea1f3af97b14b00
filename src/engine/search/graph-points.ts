/** Key of a graph point whose node was removed. */
export const DEAD_KEY = -1

/** The points of a graph, by position. Labels of the graph are row numbers. */
export interface GraphPoints {
  rows: Uint32Array
  keys: Float64Array
  docs: Float64Array
  fingerprints: Float32Array
}

/** The vector of one key in a batch. */
export interface VectorEntry {
  key: number
  doc: number
  /** float32 numbers, or the bits of float16 numbers */
  vector: Float32Array | Uint16Array
}
