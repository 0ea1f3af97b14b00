import { KsError } from '../../contract/errors.js'
import type { CompoundQuestion, Rewording } from '../../lib/text/compounds.js'
import type { CosineBackground } from './background.js'

/**
 * The search indexes as the rest of the engine sees them. Both indexes are projections: they contain nothing that rows
 * do not, so their guarantees concern speed and recall, never data.
 */

/**
 * The index process ended during a request and during its repetitions: several times by crashing, or until the retry
 * limit. The request itself may be the cause.
 */
export class IndexProcessFailedError extends KsError {
  constructor(cause: Error) {
    super('unavailable', cause.message, { cause })
    this.name = 'IndexProcessDied'
  }
}

/** A node as the text index sees it. `key` is the node's row key in the database, unique in the deployment. */
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

/** Changes up to the entry `seq` of the index log. Applying a batch twice gives the same index. */
export interface IndexBatch {
  seq: number
  add: IndexedNode[]
  remove: number[]
  /** vector space of the vectors in `add`; absent where there are none */
  vectorSpace?: string
}

/** Complete content of the log entries `first` to `seq`, prepared by the writer that committed them. */
export interface FreshBatch extends IndexBatch {
  first: number
}

/** Vectors of one vector space without text, for example of a retrained model or of a replay. */
export interface VectorBatch {
  vectorSpace: string
  dimension: number
  keys: number[]
  docs: number[]
  /** keys.length × dimension, row by row: float32 numbers, or the bits of float16 numbers as they are stored */
  vectors: Float32Array | Uint16Array
}

/** The keys of a vector space's vectors, with a checksum of each vector. */
export interface VectorSums {
  dimension: number
  keys: Float64Array
  docs: Float64Array
  /** CRC-32 of the vector's float16 bytes, as they are stored */
  sums: Uint32Array
}

/** A set of documents (row keys), given by the shorter list: the members, or the documents that are excluded. */
export interface DocumentScope {
  docs: readonly number[]
  isExcluded: boolean
}

export interface SearchRequest {
  /** newest log entry that the answer must include; absent = what is applied now */
  seq?: number
  /** analysed query terms in order, with repetitions (`analyzeQuery`) */
  terms: string[]
  /** the terms that may be compounds or parts of one (`analyzeCompounds`) */
  compounds?: CompoundQuestion
  /** unit-length query vector; absent = text leg only */
  vector?: Float32Array
  vectorSpace?: string
  /** maximal number of candidates of each leg, 1 to 1000 */
  textK: number
  vectorK: number
  /** restricts results to nodes of these documents (row keys); absent = all */
  docs?: number[]
  /** hits, frequencies, rewordings and background use these documents only; absent = all */
  scope?: DocumentScope
  /** requests the background of the vector's cosines */
  wantsBackground?: boolean
}

/** The engine of text searches: one of two libraries in the index process, or tables of the database. */
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
  /** number of nodes with each of the query terms; empty where the text leg failed */
  frequencies: ReadonlyMap<string, number>
  /** alternative wordings in the nodes, which were searched for too */
  rewordings: readonly Rewording[]
  vectorCount: number
  /** cosines of the query with passages picked without looking at it; only on request, where there are enough */
  background?: CosineBackground
  textMs: number
  vectorMs: number
  textEngine: SearchEngine
  vectorMethod: 'none' | 'exact' | 'hnsw'
  /** reasons why a leg was not searched completely; empty when all is well */
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
  /** reasons why an index is incomplete now; empty when all is well */
  degraded: string[]
}

/** Contents of the indexes of a space when they are complete. */
export interface ExpectedCounts {
  /** newest entry of the index log */
  seq: number
  nodes: number
  /** the active vector space, and the number of its vectors */
  vectorSpace?: string
  vectors: number
}

export interface ReplaySourceHead {
  seq: number
  vectorSpace?: string
  dimension?: number
}

/** Source of missing projections: the database. Implemented by the storage side. */
export interface ReplaySource {
  /** Runs work in the tenant scope of a space. */
  inSpace<T>(space: string, work: () => Promise<T>): Promise<T>
  /** newest entry of a space's index log, and its active vector space */
  head(space: string): Promise<ReplaySourceHead>
  /** oldest entry from which `changes` can answer; an index older than that is rebuilt from 0 */
  oldestEntry(space: string): Promise<number>
  /** from counters; the cost does not grow with the space */
  expectedCounts(space: string): Promise<ExpectedCounts>
  /** counted row by row, to decide when a counter and an index disagree */
  countRows(space: string): Promise<ExpectedCounts>
  /**
   * Text changes of the entries after `after` up to `to`, in small batches, in order. After 0: every live node,
   * whatever `to` is, and up to the newest entry.
   */
  changes(space: string, after: number, to: number): AsyncIterable<IndexBatch>
  /** every live vector of a vector space, in small batches */
  vectors(space: string, vectorSpace: string): AsyncIterable<VectorBatch>
  /** the same without the vectors, for an index that has most of them in a file */
  vectorSums(space: string, vectorSpace: string): AsyncIterable<VectorSums>
  /** the live vectors of the given nodes */
  vectorsOfNodes(space: string, vectorSpace: string, keys: readonly number[]): AsyncIterable<VectorBatch>
}

/**
 * The search indexes as the engine sees them: in a process of this gateway (`indexes.ts`), or in tables of the database
 * (`postgres/`). All methods are safe to call while either restarts.
 */
export interface SearchIndexes {
  /**
   * Resolves when `search` sees everything in a space's index log up to the committed entry `seq`; 0 is always reached.
   * What the text index lacks is read from the log, whichever process wrote it, and in whatever order calls arrive.
   *
   * @param fresh spares reading the log where its entries are the next ones
   */
  follow(space: string, seq: number, fresh?: FreshBatch): Promise<void>
  /** Announces a `follow` up to an entry. The entry is not visible yet, and no search waits for it. */
  announce(space: string, seq: number): void
  /** Adds vectors of a vector space, which need not be active. */
  addVectors(space: string, batch: VectorBatch): Promise<void>
  /** Makes a vector space the only one that is kept; vectors of others are removed. */
  activateVectors(space: string, vectorSpace: string): Promise<void>
  search(space: string, request: SearchRequest, signal?: AbortSignal): Promise<SearchHits>
  status(space: string): Promise<IndexStatus>
  /**
   * Reasons why the indexes of a space lack entries now; empty when they are complete, even if they are still being
   * loaded. Waits shortly for a replay that has just begun.
   */
  degradedReasons(space: string): Promise<string[]>
  /** Resolves when both indexes have caught up with the source, or have failed to. */
  settle(space: string): Promise<void>
  /** Discards both indexes of a space and rebuilds them from the source; resolves when they are complete. */
  rebuild(space: string): Promise<void>
  /** Removes both indexes of a space. */
  drop(space: string): Promise<void>
  /** For each space with open indexes, the log entry up to which searches see everything now. */
  applied(): Promise<Map<string, number>>
  /** Whether a search would be answered now without a start. */
  isRunning(): boolean
  /** Process id of the index process, if it runs (for diagnostics and fault tests). */
  pid(): number | undefined
  /** number of vector graphs being built */
  countBuilds(): number
  /** The daemon is shutting down: shortens the wait for an index process that does not answer. */
  beginShutdown(): void
  close(): Promise<void>
}
