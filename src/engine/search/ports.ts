import { KsError } from '../../contract/errors.js'
import type { CompoundQuestion, Rewording } from '../../lib/text/compounds.js'
import type { Background } from './background.js'

/**
 * What the rest of the engine knows of the search indexes. Both indexes are projections: they hold nothing
 * that rows do not, so every promise here is about speed and recall, never about data.
 */

/**
 * The process of the indexes ended under one request, and under its repetitions: several times by a fault of its own, or
 * for as long as it was repeated. What was asked may be what ends it.
 */
export class IndexProcessDied extends KsError {
  constructor(cause: Error) {
    super('unavailable', cause.message, { cause })
    this.name = 'IndexProcessDied'
  }
}

/** One node as the text index sees it. `key` is the node's row key in the database, unique in the deployment. */
export interface IndexedNode {
  key: number
  /** row key of the node's document, for filtering by document */
  doc: number
  /** document title and heading path */
  title: string
  body: string
  /** unit-length vector in `IndexBatch.vectorSpace`; absent where the node has none */
  vector?: Float32Array
}

/** Changes up to the entry `seq` of the projection log. Applying a batch twice leaves the same index. */
export interface IndexBatch {
  seq: number
  add: IndexedNode[]
  remove: number[]
  /** vector space of the vectors in `add`; absent where they carry none */
  vectorSpace?: string
}

/** All that the entries `first` to `seq` of the projection log tell of, ready made by who committed them. */
export interface FreshBatch extends IndexBatch {
  first: number
}

/** Vectors of one vector space, without text: a retrained model's, or a replay's. */
export interface VectorBatch {
  vectorSpace: string
  dimension: number
  keys: number[]
  docs: number[]
  /** keys.length x dimension, row by row: numbers, or the bits of halves as they are stored */
  vectors: Float32Array | Uint16Array
}

/** Which vectors a vector space has, and a checksum of each. */
export interface VectorSums {
  dimension: number
  keys: Float64Array
  docs: Float64Array
  /** CRC-32 of the bytes of its halves, as they are stored */
  sums: Uint32Array
}

/** Documents (row keys), as the shorter list: these, or all but these. */
export interface DocumentScope {
  docs: readonly number[]
  isExcluded: boolean
}

export interface SearchRequest {
  /** newest entry of the projection log that the answer needs; absent = what is there */
  seq?: number
  /** analysed query terms in order, repeats kept (`analyzeQuery`) */
  terms: string[]
  /** of them those that may be compounds, or parts of one (`analyzeCompounds`) */
  compounds?: CompoundQuestion
  /** unit-length query vector; absent = text leg only */
  vector?: Float32Array
  vectorSpace?: string
  /** candidates wanted from each leg, 1 to 1000 */
  textK: number
  vectorK: number
  /** only nodes of these documents (row keys); absent = all */
  docs?: number[]
  /** hits, frequencies, rewordings and background are computed from these documents only; absent = all */
  scope?: DocumentScope
  /** whether the background of the vector's cosines is wanted */
  wantsBackground?: boolean
}

/** What looks for words: an index of the gateway's own, in one of two libraries, or tables of the database. */
export type SearchEngine = 'tantivy' | 'fts5' | 'postgres'

export interface SearchHit {
  key: number
  /** text score (BM25); absent when the text leg did not return the node */
  bm25?: number
  /** cosine to the query vector; present for every hit whose vector is known */
  cosine?: number
}

export interface SearchHits {
  /** union of both legs, unordered */
  hits: SearchHit[]
  textCount: number
  /** how many nodes hold each of the asked terms; empty where the text leg could not be asked */
  frequencies: ReadonlyMap<string, number>
  /** what the nodes say in other words, which were searched for too */
  rewordings: readonly Rewording[]
  vectorCount: number
  /** cosines of the query with passages picked without looking at it, where that was wanted and there are enough */
  background?: Background
  textMs: number
  vectorMs: number
  textEngine: SearchEngine
  vectorMethod: 'none' | 'exact' | 'hnsw'
  /** a leg that could not be asked in full, with the reason; empty when all is well */
  degraded: string[]
}

export interface IndexStatus {
  space: string
  textEngine: SearchEngine
  textWatermark: number
  textCount: number
  vectorSpace?: string
  vectorCount: number
  graphCount: number
  /** why an index is not whole now; empty when all is well */
  degraded: string[]
}

/** What the indexes of a space hold when they are whole. */
export interface ExpectedCounts {
  /** newest entry of the projection log */
  seq: number
  nodes: number
  /** the active vector space, and how many vectors it has */
  vectorSpace?: string
  vectors: number
}

export interface SourceHead {
  seq: number
  vectorSpace?: string
  dimension?: number
}

/** Where lost or missing projections are rebuilt from: the database. Implemented by the storage side. */
export interface ReplaySource {
  /** Runs work in the scope of the tenant of a space. */
  inSpace<T>(space: string, work: () => Promise<T>): Promise<T>
  /** newest entry of a space's projection log, and its active vector space */
  head(space: string): Promise<SourceHead>
  /** oldest entry from which `changes` can answer; an index that is behind it starts anew from 0 */
  oldest(space: string): Promise<number>
  /** by counters, at no cost that grows with the space */
  expected(space: string): Promise<ExpectedCounts>
  /** counted row by row, to decide when a counter and an index disagree */
  counted(space: string): Promise<ExpectedCounts>
  /**
   * Text changes by the entries behind `after` up to `to`, in small batches, in order. From 0 every live node, whatever `to`
   * is, and up to the newest entry.
   */
  changes(space: string, after: number, to: number): AsyncIterable<IndexBatch>
  /** every live vector of a vector space, in small batches */
  vectors(space: string, vectorSpace: string): AsyncIterable<VectorBatch>
  /** the same without the vectors, for an index that has most of them in a file */
  sums(space: string, vectorSpace: string): AsyncIterable<VectorSums>
  /** the live ones of some nodes */
  vectorsOf(space: string, vectorSpace: string, keys: readonly number[]): AsyncIterable<VectorBatch>
}

/**
 * The search indexes as the engine knows them: held by a process of this gateway (`indexes.ts`), or tables of the database
 * (`postgres/`). All methods are safe to call while either restarts.
 */
export interface SearchIndexes {
  /**
   * Resolves when `search` sees all that a space's projection log says up to the entry `seq`, which is committed; 0 is always
   * there. What the text index lacks is read from the log, whichever process wrote it, and in whatever order this is called.
   *
   * @param fresh spares reading the log where its entries are the very next ones
   */
  follow(space: string, seq: number, fresh?: FreshBatch): Promise<void>
  /** Says that `follow` will be asked for up to an entry. Nothing of it can be seen yet, and no search waits for it. */
  underWay(space: string, seq: number): void
  /** Adds vectors of a vector space that may not be active yet. */
  addVectors(space: string, batch: VectorBatch): Promise<void>
  /** Makes a vector space the one that is kept; vectors of others are dropped. */
  activateVectors(space: string, vectorSpace: string): Promise<void>
  search(space: string, request: SearchRequest, signal?: AbortSignal): Promise<SearchHits>
  status(space: string): Promise<IndexStatus>
  /** Why the indexes of a space are not whole now; empty when they are. Waits for a replay that just began, not long. */
  degraded(space: string): Promise<string[]>
  /** Resolves when both indexes have caught up with the source, or cannot. */
  settle(space: string): Promise<void>
  /** Throws both indexes of a space away and builds them anew from the source; resolves when they are whole. */
  rebuild(space: string): Promise<void>
  /** Removes both indexes of a space. */
  drop(space: string): Promise<void>
  /** Of each space whose indexes are open, the entry of its log up to which searches see all now. */
  applied(): Promise<Map<string, number>>
  /** Whether a search would be answered now without anything being started first. */
  isRunning(): boolean
  /** Process id of the index process now, if it runs (for diagnostics and fault tests). */
  pid(): number | undefined
  /** vector graphs being built */
  builds(): number
  /** The daemon is stopping: an index process that does not answer is not waited for long. */
  hurry(): void
  close(): Promise<void>
}
