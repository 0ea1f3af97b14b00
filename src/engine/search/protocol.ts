import type { CompoundQuestion, Rewording } from '../../lib/text/compounds.js'
import type { CosineBackground } from './background.js'
import type { TextEngine } from './text-index.js'

/**
 * Messages between the daemon and the index process. Numbers travel in typed arrays: one copy instead of one object per
 * node. Every request gets one answer, in any order; requests of one space are started in the order sent.
 */

/** Nodes and removed keys of one slice. Texts are as in the source; the index process analyses them. */
export interface StageRequest {
  op: 'stage'
  space: string
  keys: Float64Array
  docs: Float64Array
  titles: string[]
  bodies: string[]
  remove: Float64Array
  vectors?: NodeVectors
}

/** Vectors of some nodes of a slice. */
export interface NodeVectors {
  vectorSpace: string
  dimension: number
  /** positions in the slice */
  positions: Uint32Array
  /** positions.length × dimension */
  values: Float32Array
}

/** Vectors come from a change, or from a replay of the source, which may be older than changes. */
export type VectorOrigin = 'change' | 'replay'

export interface VectorsRequest {
  op: 'vectors'
  space: string
  vectorSpace: string
  dimension: number
  keys: Float64Array
  docs: Float64Array
  /** float32 numbers, or the bits of float16 numbers */
  values: Float32Array | Uint16Array
  origin: VectorOrigin
}

/** Checksums of the source's vectors. Vectors of a graph file with the same checksum are used as they are. */
export interface ConfirmRequest {
  op: 'confirm'
  space: string
  vectorSpace: string
  dimension: number
  keys: Float64Array
  docs: Float64Array
  /** CRC-32 of each vector's float16 bytes */
  sums: Uint32Array
}

export interface SearchMessage {
  op: 'search'
  space: string
  terms: string[]
  compounds?: CompoundQuestion
  vector?: Float32Array
  vectorSpace?: string
  textK: number
  vectorK: number
  docs?: Float64Array
  scope?: ScopeMessage
  wantsBackground?: boolean
}

/** See `DocumentScope`. */
export interface ScopeMessage {
  docs: Float64Array
  isExcluded: boolean
}

/** Begins or ends the replay of a vector space's vectors. */
export interface LoadRequest {
  op: 'load'
  space: string
  vectorSpace: string
  dimension: number
  /** `restart`: discards existing vectors, then begins */
  phase: 'begin' | 'restart' | 'end'
}

export type IndexRequest =
  /** opens a space; `discard` removes its files first, because they crash the process */
  | { op: 'open'; space: string; discard: boolean }
  /** empties the text index, before everything is staged again */
  | { op: 'reset'; space: string }
  | StageRequest
  /** `staged`: slices sent since the last commit */
  | { op: 'commit'; space: string; watermark: number; staged: number }
  | LoadRequest
  | VectorsRequest
  | ConfirmRequest
  | { op: 'activate'; space: string; vectorSpace: string }
  | SearchMessage
  | { op: 'status'; space: string }
  /** counts of the indexes after all earlier requests */
  | { op: 'count'; space: string; vectorSpace: string }
  | { op: 'drop'; space: string }
  | { op: 'close' }

export interface OpenReply {
  watermark: number
  textCount: number
}

export interface SearchReply {
  keys: Float64Array
  /** NaN where the text leg did not return the node */
  bm25: Float64Array
  /** NaN where the node's vector is unknown */
  cosine: Float64Array
  textCount: number
  frequencies: Map<string, number>
  rewordings: Rewording[]
  vectorCount: number
  background?: CosineBackground
  textMs: number
  vectorMs: number
  textEngine: TextEngine
  vectorMethod: 'none' | 'exact' | 'hnsw'
  degraded: string[]
}

export interface StatusReply {
  textEngine: TextEngine
  watermark: number
  textCount: number
  vectorSpace?: string
  vectorCount: number
  graphCount: number
}

export interface CountReply {
  textCount: number
  vectorCount: number
}

export interface LoadReply {
  /** vectors in a graph file that wait for confirmation */
  filled: number
}

export interface ConfirmReply {
  /** keys whose vectors have to be sent */
  missing: Float64Array
}

/** The reply of each request; operations that are not listed reply with undefined. */
export interface IndexReplies {
  open: OpenReply
  search: SearchReply
  status: StatusReply
  count: CountReply
  load: LoadReply
  confirm: ConfirmReply
}

export type IndexReplyOf<R extends IndexRequest> = R['op'] extends keyof IndexReplies
  ? IndexReplies[R['op']]
  : undefined

export interface IndexChildRequest {
  id: number
  request: IndexRequest
}

/**
 * `invalid`: the request breaks a rule; `failed`: the index failed; `full`: the disk is full; `closed`: the space is
 * not open
 */
export type IndexErrorReason = 'invalid' | 'failed' | 'full' | 'closed'

export type IndexChildMessage =
  | { kind: 'reply'; id: number; value: unknown }
  | { kind: 'error'; id: number; reason: IndexErrorReason; message: string }
  /** the process closed a space to limit the number of open ones */
  | { kind: 'closed'; space: string }
  /** native code works for a space outside of a request */
  | { kind: 'building'; space: string; running: boolean }
  /** one write of a text index takes this long; sent every second while searches are still answered */
  | { kind: 'writing'; forMs: number }
  | { kind: 'log'; message: string }
