import type { CompoundQuestion, Rewording } from '../../lib/text/compounds.js'
import type { Background } from './background.js'
import type { TextEngine } from './text-index.js'

/**
 * What the daemon and the index process say to each other. Numbers travel in typed arrays: one copy instead of one
 * object a node. Every request is answered once, in any order; requests of one space are begun in the order sent.
 */

/** Nodes and removed keys of one slice. Texts are as the source has them; the index process analyses. */
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

/** Vectors of some of a slice's nodes. */
export interface NodeVectors {
  vectorSpace: string
  dimension: number
  /** positions in the slice */
  positions: Uint32Array
  /** positions.length x dimension */
  values: Float32Array
}

export interface VectorsRequest {
  op: 'vectors'
  space: string
  vectorSpace: string
  dimension: number
  keys: Float64Array
  docs: Float64Array
  /** numbers, or the bits of halves */
  values: Float32Array | Uint16Array
  /** they come from the source's stream */
  replayed: boolean
}

/** Vectors that the source has. Those that came with a graph's file and have the same checksum are taken from there. */
export interface ConfirmRequest {
  op: 'confirm'
  space: string
  vectorSpace: string
  dimension: number
  keys: Float64Array
  docs: Float64Array
  /** CRC-32 of each vector's halves */
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

/** Begins or ends the stream of a vector space's vectors. */
export interface LoadRequest {
  op: 'load'
  space: string
  vectorSpace: string
  dimension: number
  phase: 'begin' | 'end'
  /** forgets those that are here first */
  fresh: boolean
}

export type IndexRequest =
  /** opens a space; `discard` throws its files away first, because they end the process */
  | { op: 'open'; space: string; discard: boolean }
  /** empties the text index, before everything is staged anew */
  | { op: 'reset'; space: string }
  | StageRequest
  /** `staged`: slices sent since the last commit, without those the text index had already */
  | { op: 'commit'; space: string; watermark: number; staged: number }
  | LoadRequest
  | VectorsRequest
  | ConfirmRequest
  | { op: 'activate'; space: string; vectorSpace: string }
  | SearchMessage
  | { op: 'status'; space: string }
  /** what is there once all that was sent before is done */
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
  /** NaN where the node's vector is not known */
  cosine: Float64Array
  textCount: number
  frequencies: Map<string, number>
  rewordings: Rewording[]
  vectorCount: number
  background?: Background
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
  /** vectors that a graph's file brought, which wait to be confirmed */
  filled: number
}

export interface ConfirmReply {
  /** keys whose vectors have to be sent */
  lacking: Float64Array
}

/** The answer of each request; what is not named here is answered with nothing. */
export interface Replies {
  open: OpenReply
  search: SearchReply
  status: StatusReply
  count: CountReply
  load: LoadReply
  confirm: ConfirmReply
}

export type ReplyOf<R extends IndexRequest> = R['op'] extends keyof Replies ? Replies[R['op']] : undefined

export interface ToChild {
  id: number
  request: IndexRequest
}

/** `invalid`: it breaks a rule; `failed`: the index could not do it; `full`: no room on the disk; `closed`: the space is. */
export type ErrorReason = 'invalid' | 'failed' | 'full' | 'closed'

export type FromChild =
  | { kind: 'reply'; id: number; value: unknown }
  | { kind: 'error'; id: number; reason: ErrorReason; message: string }
  /** the process has let go of a space to keep the number of open ones bounded */
  | { kind: 'closed'; space: string }
  /** native code works for a space without a request */
  | { kind: 'building'; space: string; running: boolean }
  /** one piece of the writing of text indexes takes so long; told every second while searches are answered beside it */
  | { kind: 'writing'; forMs: number }
  | { kind: 'log'; message: string }
