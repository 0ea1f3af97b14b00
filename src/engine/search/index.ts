/** Indexes for vectors and terms: projections of the store that can be rebuilt. */

export type { CosineBackground } from './background.js'
export { MAX_FILTER_DOCS, MAX_K } from './limits.js'
export { checkSearchBackend, openSearchIndexes } from './open-indexes.js'
export {
  type DocumentScope,
  type ExpectedCounts,
  type FreshBatch,
  type IndexBatch,
  type IndexedNode,
  IndexProcessFailedError,
  type ReplaySource,
  type SearchHit,
  type SearchHits,
  type SearchIndexes,
  type SearchRequest,
  type VectorBatch,
  type VectorSums,
} from './ports.js'
export { REWORDING_WEIGHT, weighTerms } from './text-index.js'
