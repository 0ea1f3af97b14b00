import type { ChangedSpaces } from './base/changed-spaces.js'
import type { DegradedClass } from './base/degraded.js'
import type { Leases } from './base/leases.js'
import type { EngineLog } from './base/log.js'
import type { Measures } from './base/measures.js'
import type { EngineOptions } from './base/options.js'
import type { RightOfWay } from './base/right-of-way.js'
import type { LsaEmbedding } from './models/builtin/lsa-embedder.js'
import type { ModelRegistry } from './models/registry.js'
import type { Compiler, ReadingProgress } from './parse/compiled.js'
import type { Drawer } from './parse/draw/drawer.js'
import type { DocumentRow } from './rows/documents.js'
import type { JobRow } from './rows/jobs.js'
import type { SpaceRow } from './rows/spaces.js'
import type { SearchIndexes } from './search/ports.js'
import type { Database } from './storage/database.js'
import type { Driver } from './storage/driver.js'
import type { ObjectStore } from './storage/objects.js'
import type { StoreIdentity } from './storage/store-identity.js'

/** A space, as far as work behind it has to know: what was published by its head is to be worked at. */
export interface SpaceHead {
  key: number
  head_revision: number
}

/** What slices ask of the vectors of spaces whose model is a provider's. */
interface Vectors {
  /** Looks soon whether a provider owes vectors. */
  wake(): void
  /** Asks the provider of a space at once, also for what it refused. */
  askAgain(spaceKey: number): Promise<void>
  /** Published passages of a space without their vectors, and why. @returns nothing when none is missing */
  missing(spaceKey: number): Promise<{ passages: number; class: DegradedClass | undefined } | undefined>
  /** Waits for the vectors of versions while the provider is at work. */
  patience(spaceKey: number, versions: readonly number[], signal: AbortSignal): Promise<void>
}

/** What slices ask of moves to other embedding models. */
interface Migrations {
  wake(): void
  /** A migration has ended by the caller's transaction: nothing more is done for it, and what it filled is removed. */
  ended(migration: { key: number; space_key: number }): Promise<void>
}

/** What slices ask of the page index. */
interface PageIndexes {
  /** A space has published. */
  published(spaceKey: number): void
  /** Waits a moment for what is nearly there. @returns documents that have none yet; of many that is the least there are */
  missing(space: SpaceHead): Promise<number>
}

/** What slices ask of the descriptions of pictures. */
interface Pictures {
  /** A space has published. */
  published(spaceKey: number): void
}

/** What slices ask of who listens to recordings. */
interface Recordings {
  /** Gives the job of a recording back until it is known what is said in it. */
  listenTo(space: SpaceRow, work: { job: JobRow; document: DocumentRow }, mediaType: string): Promise<void>
}

/** What slices ask of the comparison of documents. */
interface Conflicts {
  /** A space has published. */
  published(spaceKey: number): void
  /** Waits until everything was compared, for so many milliseconds at most. @returns whether it was */
  catchUp(space: SpaceHead, milliseconds: number): Promise<boolean>
  /** Versions of a space that cannot be read. */
  unreadable(spaceKey: number): number
}

/** What slices ask of the clusters of failed queries. */
interface FailedClusters {
  /** A failed query of a space was captured, and its row is committed. */
  captured(spaceKey: number): void
  /** Waits until every failed query was compared, for so many milliseconds at most; the rest follows behind. */
  catchUp(space: SpaceHead, milliseconds: number): Promise<void>
}

/**
 * What the slices of the engine share; wired by hand in `engine.ts`. It stands below all slices: of one that works behind
 * the others, it knows only what those ask of it.
 */
export interface EngineContext {
  /** names this gateway, which is one run of a process; what it claims is its own as long as its row is there */
  instance: string
  db: Driver
  /** the same, where it is a file of this machine, whose pages can be checked and given back */
  databaseFile: Database | undefined
  /** whether other gateways may be at work on the same database, as on a server; a file belongs to one process */
  isShared: boolean
  objects: ObjectStore
  /** whether the database can know all objects */
  identity: StoreIdentity
  indexes: SearchIndexes
  compiler: Compiler
  /** how far the files are that are read now and take a while, by the ids of their jobs; kept nowhere else */
  reading: Map<string, ReadingProgress>
  /** makes previews of pictures and pages */
  drawer: Drawer
  lsa: LsaEmbedding
  models: ModelRegistry
  /** makes the vectors of spaces whose model is a provider's */
  vectors: Vectors
  /** moves spaces to other embedding models */
  migrations: Migrations
  /** makes the page index of what is published */
  pageIndexes: PageIndexes
  /** has a vision model describe the pictures of what is published, where one is configured */
  pictures: Pictures
  /** asks a model what is said in recordings, where one is configured */
  recordings: Recordings
  /** finds what documents of a space say against each other */
  conflicts: Conflicts
  /** finds which failed queries ask the same */
  failedClusters: FailedClusters
  /** tells who follows them which spaces changed */
  changes: ChangedSpaces
  leases: Leases
  /** what is counted for the operator */
  measures: Measures
  /** of questions over what works in the background */
  rightOfWay: RightOfWay
  options: EngineOptions
  log: EngineLog
  /** milliseconds since the epoch by which things grow old */
  now: () => number
  /** called when there may be work for the job runner, or a model to train of the space with this key */
  wake: (spaceKey?: number) => void
}
