import type { Leases } from './base/leases.js'
import type { EngineLog } from './base/log.js'
import type { EngineOptions } from './base/options.js'
import type { RightOfWay } from './base/right-of-way.js'
import type { Compiler } from './compile/compiled.js'
import type { EmbeddingMigrations } from './compile/embedding-migrations.js'
import type { VectorFiller } from './compile/vector-filler.js'
import type { ConflictFinder } from './conflicts/finder.js'
import type { LsaEmbedding } from './models/builtin/lsa-embedder.js'
import type { ModelRegistry } from './models/registry.js'
import type { FailedQueryClustering } from './quality/clustering.js'
import type { PageIndexer } from './query/page-index/indexer.js'
import type { SearchIndexes } from './search/ports.js'
import type { Database } from './storage/database.js'
import type { ObjectStore } from './storage/objects.js'
import type { StoreIdentity } from './storage/store-identity.js'

/** What the slices of the engine share; wired by hand in `engine.ts`. */
export interface EngineContext {
  /** names this run of the process; work claimed under another instance is orphaned */
  instance: string
  db: Database
  objects: ObjectStore
  /** whether the database can know all objects */
  identity: StoreIdentity
  indexes: SearchIndexes
  compiler: Compiler
  lsa: LsaEmbedding
  models: ModelRegistry
  /** makes the vectors of spaces whose model is a provider's */
  vectors: VectorFiller
  /** moves spaces to other embedding models */
  migrations: EmbeddingMigrations
  /** makes the page index of what is published */
  pageIndexes: PageIndexer
  /** finds what documents of a space say against each other */
  conflicts: ConflictFinder
  /** finds which failed queries ask the same */
  failedClusters: FailedQueryClustering
  leases: Leases
  /** of questions over what works in the background */
  rightOfWay: RightOfWay
  options: EngineOptions
  log: EngineLog
  /** milliseconds since the epoch by which things grow old */
  now: () => number
  /** called when there may be work for the job runner, or a model to train of the space with this key */
  wake: (spaceKey?: number) => void
}
