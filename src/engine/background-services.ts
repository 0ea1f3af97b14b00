import type { EmbeddingMigrations } from './compile/embedding-migrations.js'
import type { TranscriptionQueue } from './compile/transcription-queue.js'
import type { VectorFiller } from './compile/vector-filler.js'
import type { ConflictFinder } from './conflicts/finder.js'
import type { PageIndexer } from './derived/page-index/indexer.js'
import type { PictureDescriber } from './derived/pictures/describer.js'
import type { FailedQueryClustering } from './quality/clustering.js'

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
