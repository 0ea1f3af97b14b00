import type { EmbeddingMigrations } from './ingest/compile/embedding-migrations.js'
import type { TranscriptionQueue } from './ingest/compile/transcription-queue.js'
import type { VectorFiller } from './ingest/compile/vector-filler.js'
import type { ConflictFinder } from './knowledge/conflicts/finder.js'
import type { PageIndexer } from './knowledge/derived/page-index/indexer.js'
import type { PictureDescriber } from './knowledge/derived/pictures/describer.js'
import type { FailedQueryClustering } from './retrieval/quality/clustering.js'

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
