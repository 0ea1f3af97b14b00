import type { EmbeddingMigrations, TranscriptionQueue, VectorFiller } from './ingest/index.js'
import type { ConflictFinder, PageIndexer, PictureDescriber } from './knowledge/index.js'
import type { FailedQueryClustering } from './retrieval/index.js'

/** Services that work in the background, in the order in which they start. */
export interface BackgroundServices {
  vectors: VectorFiller
  migrations: EmbeddingMigrations
  pageIndexes: PageIndexer
  pictures: PictureDescriber
  recordings: TranscriptionQueue
  conflicts: ConflictFinder
  failedClusters: FailedQueryClustering
}
