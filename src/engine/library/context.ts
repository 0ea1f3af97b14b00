import type { ChangedSpaces } from '../base/changed-spaces.js'
import type { DegradedClass } from '../base/degraded.js'
import type { ForegroundPriority } from '../base/foreground-priority.js'
import type { Leases } from '../base/leases.js'
import type { EngineLog } from '../base/log.js'
import type { EngineMetrics } from '../base/metrics.js'
import type { EngineOptions } from '../base/options.js'
import type { LsaEmbedder, ModelRegistry } from '../models/index.js'
import type { Drawer } from '../readers/index.js'
import type { SearchIndexes } from '../search/index.js'
import type { Compiler, ReadingProgress } from '../store/compiled.js'
import type { Database } from '../store/database.js'
import type { Driver } from '../store/driver.js'
import type { ObjectStore } from '../store/objects.js'
import type { DocumentRow } from '../store/rows/documents.js'
import type { JobRow } from '../store/rows/jobs.js'
import type { SpaceRow } from '../store/rows/spaces.js'
import type { StoreIdentity } from '../store/store-identity.js'

/** The current publication of a space, as background work needs it. */
export interface SpaceHead {
  key: number
  head_revision: number
}

/** The operations of other slices on the vectors of spaces whose model is a provider's. */
interface VectorService {
  /** Starts a look for due vectors soon. */
  wake(): void
  /** Retries the provider of a space now, rejected passages included. */
  retryNow(spaceKey: number): Promise<void>
  /** Number of published passages of a space without a vector, and why. @returns undefined if none is missing */
  missing(spaceKey: number): Promise<{ passages: number; class: DegradedClass | undefined } | undefined>
  /** Waits for the vectors of versions while the provider is being called. */
  waitForVectors(spaceKey: number, versions: readonly number[], signal: AbortSignal): Promise<void>
}

/** The operations of other slices on embedding migrations. */
interface MigrationService {
  wake(): void
  /** Called when the caller's transaction has ended a migration: its work stops, and its vectors are removed. */
  stopEnded(migration: { key: number; space_key: number }): Promise<void>
}

/** The operations of other slices on the page index. */
interface PageIndexService {
  /** Called when a space has published. */
  notePublication(spaceKey: number): void
  /**
   * Waits a moment for indexes that are almost built. @returns number of documents without an index; a lower bound if
   * there are many
   */
  countMissing(space: SpaceHead): Promise<number>
}

/** The operations of other slices on the descriptions of pictures. */
interface PictureService {
  /** Called when a space has published. */
  notePublication(spaceKey: number): void
}

/** The operations of other slices on transcripts of recordings. */
interface RecordingService {
  /** Releases the job of a recording until its transcript exists. */
  enqueue(space: SpaceRow, work: { job: JobRow; document: DocumentRow }, mediaType: string): Promise<void>
}

/** The operations of other slices on the comparison of documents. */
interface ConflictService {
  /** Called when a space has published. */
  published(spaceKey: number): void
  /** Waits until everything is compared, for at most `milliseconds`. @returns whether it is */
  catchUp(space: SpaceHead, milliseconds: number): Promise<boolean>
  /** Number of versions of a space that cannot be read. */
  unreadable(spaceKey: number): number
}

/** The operations of other slices on the clusters of failed queries. */
interface FailedClusterService {
  /** Called when the row of a captured failed query of a space is committed. */
  captured(spaceKey: number): void
  /** Waits until every failed query is clustered, for at most `milliseconds`; the rest follows in the background. */
  catchUp(space: SpaceHead, milliseconds: number): Promise<void>
}

/**
 * The shared services of the engine's slices, wired in `engine.ts`. It is a layer below all slices: of a background
 * service it declares only the operations that other slices call.
 */
export interface EngineContext {
  /** id of this gateway, which is one run of a process; its claims are valid as long as its row exists */
  instance: string
  db: Driver
  /** the same database, if it is a local file whose pages can be checked and reclaimed */
  databaseFile: Database | undefined
  /** whether other gateways may use the same database, as on a server; a file belongs to one process */
  isShared: boolean
  objects: ObjectStore
  /** whether the object store belongs to this database */
  identity: StoreIdentity
  indexes: SearchIndexes
  compiler: Compiler
  /** progress of slow files that are being parsed, by job id; kept in memory only */
  reading: Map<string, ReadingProgress>
  /** renders previews of pictures and pages */
  drawer: Drawer
  lsa: LsaEmbedder
  models: ModelRegistry
  /** computes the vectors of spaces whose model is a provider's */
  vectors: VectorService
  /** migrates spaces to other embedding models */
  migrations: MigrationService
  /** builds the page index of published documents */
  pageIndexes: PageIndexService
  /** describes the pictures of published documents by a vision model, if one is configured */
  pictures: PictureService
  /** transcribes recordings by a model, if one is configured */
  recordings: RecordingService
  /** finds conflicts between documents of a space */
  conflicts: ConflictService
  /** clusters failed queries that ask the same */
  failedClusters: FailedClusterService
  /** notifies listeners of changed spaces */
  changes: ChangedSpaces
  leases: Leases
  /** counters for the operator's metrics */
  measures: EngineMetrics
  /** gives queries priority over background work */
  foregroundPriority: ForegroundPriority
  options: EngineOptions
  log: EngineLog
  /** time for ages and expiry, in milliseconds since the epoch */
  now: () => number
  /** called when there may be work for the job runner, or a model to train of the space with this key */
  wake: (spaceKey?: number) => void
}
