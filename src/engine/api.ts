import type { Readable } from 'node:stream'
import type { DocumentMultimodalManifest, DocumentOutline, ParseArtifact } from '../contract/gateway/document-parts.js'
import type {
  AcceptedDocument,
  BulkDelete,
  BulkReindex,
  BulkUpload,
  CheckDocumentsBody,
  CheckedDocuments,
  DocumentAsset,
} from '../contract/gateway/documents.js'
import type { EmbeddingMigration } from '../contract/gateway/embedding-migrations.js'
import type { ExplainBody, Explanation } from '../contract/gateway/explain.js'
import type {
  CatResult,
  FsCatQuery,
  FsFindQuery,
  FsGrepQuery,
  FsLsQuery,
  FsMvBody,
  FsRmQuery,
  FsTreeQuery,
  FsWriteBody,
  GrepListing,
  Listing,
  Moved,
  Removed,
  TreeListing,
  VirtualItem,
} from '../contract/gateway/fs.js'
import type { BulkJob, DocumentCompilationJob, ListedJob, RetriedJobs } from '../contract/gateway/jobs.js'
import type {
  AnswerDelta,
  AnswerDone,
  AnswerError,
  AnswerTrace,
  QueryBody,
  TraceListing,
} from '../contract/gateway/queries.js'
import type { RetentionPolicy, RetentionPolicyBody } from '../contract/gateway/retention.js'
import type { RetrievalProfile, RetrievalProfileBody } from '../contract/gateway/retrieval-profile.js'
import type { SearchBody, SearchResult } from '../contract/gateway/search.js'
import type { KnowledgeSpaceStats, KnowledgeSpaceStatus } from '../contract/gateway/space-status.js'
import type {
  CreateSpaceBody,
  EmbeddingProfile,
  KnowledgeSpace,
  KnowledgeSpaceManifest,
  QuotaPolicy,
  UpdateSpaceBody,
} from '../contract/gateway/spaces.js'
import type { Health } from '../contract/gateway/system.js'
import type { DiskRoom } from '../local/disk-room.js'
import type { ChatOperations } from './chat/operations.js'
import type { Resolve } from './egress/connect.js'
import type { GraphOperations } from './graph/operations.js'
import type { IntegrityOperations } from './integrity/integrity.js'
import type { JobFilter } from './jobs/list.js'
import type { LocalFileOperations } from './local-files/operations.js'
import type { ModelOperations } from './models/in-use.js'
import type { ProviderConfig } from './models/provider-config.js'
import type { ModelReference } from './models/types.js'
import type { QualityOperations } from './quality/operations.js'
import type { ResearchOperations } from './research/operations.js'
import type { SourceOperations } from './sources/operations.js'
import type { SnapshotOperations } from './workspaces/operations.js'

/** Who asks: tenant and subject come from the token, never from a body. */
export interface Caller {
  tenant: string
  subject: string
  /** the daemon's own work, such as a schedule: no scope of a source holds it up, and no token stands for it */
  isDaemon?: true
  /** of a request under an Idempotency-Key: keeps its answer, inside the transaction of its effect; see `writeAnswer` */
  answered?: (answer: unknown) => void
}

export interface Page<T> {
  items: T[]
  nextCursor?: string
}

export interface PageRequest {
  limit: number
  cursor?: string | undefined
}

/** One file part of an upload, as it arrives. */
export interface UploadFile {
  /** relative path with `/` between folders, as the client named it; display text only */
  filename: string
  /** media type the client declared */
  mimeType?: string
  content: Readable
  /** kept with the document; not of clients */
  metadata?: Record<string, unknown>
}

export interface UploadOptions {
  many: boolean
  /** what the request is answered with; absent where more follows than the upload */
  answer?: (items: AcceptedDocument[]) => unknown
}

/**
 * An upload in progress. Each `add` resolves when the file's bytes are durable; nothing is visible and nothing is
 * promised until `commit` resolves. `abort` forgets everything that was added.
 */
export interface Upload {
  /** @throws KsError `upload-too-large`, `quota-exceeded` */
  add(file: UploadFile): Promise<void>
  /** @throws KsError `not-found` when the source is not of this space, `invalid-request` when no file was added */
  commit(options: { sourceId?: string | undefined }): Promise<AcceptedDocument[]>
  abort(): Promise<void>
}

export type AnswerFrame =
  | { event: 'answer.delta'; data: AnswerDelta }
  | { event: 'answer.done'; data: AnswerDone }
  | { event: 'answer.error'; data: AnswerError }

/** A query that was admitted: headers may be sent, then the frames follow. */
export interface QueryRun {
  /** id of the trace, sent as x-query-run-id */
  traceId: string
  /** sent as x-session-id */
  sessionId: string
  /** ends after one `answer.done` or `answer.error`; ends early, without a trace, when the signal aborts before the claim */
  frames(): AsyncIterable<AnswerFrame>
}

export interface ItemAsset {
  bytes: Uint8Array
  contentType: string
}

/** A response kept under an idempotency key. */
export interface StoredResponse {
  status: number
  body: string
  headers: Record<string, string>
  /** what the request's upload held, where it had one: the key is for this content only */
  content?: string
}

/** The embedded engine: everything the two APIs can do, free of HTTP. All failures are `KsError`. */
export interface Engine {
  spaces: {
    create(caller: Caller, body: CreateSpaceBody): Promise<KnowledgeSpace>
    list(caller: Caller, page: PageRequest): Promise<Page<KnowledgeSpace>>
    get(caller: Caller, id: string): Promise<KnowledgeSpace>
    update(caller: Caller, id: string, body: UpdateSpaceBody): Promise<KnowledgeSpace>
    delete(caller: Caller, id: string): Promise<void>
    manifest(caller: Caller, id: string): Promise<KnowledgeSpaceManifest>
    setEmbeddingProfile(caller: Caller, id: string, model: ModelReference): Promise<EmbeddingProfile>
    startMigration(caller: Caller, id: string, model: ModelReference): Promise<EmbeddingMigration>
    migration(caller: Caller, id: string, migrationId: string): Promise<EmbeddingMigration>
    cancelMigration(caller: Caller, id: string, migrationId: string): Promise<EmbeddingMigration>
    status(caller: Caller, id: string): Promise<KnowledgeSpaceStatus>
    stats(caller: Caller, id: string, windowMinutes: number): Promise<KnowledgeSpaceStats>
    retrievalProfile(caller: Caller, id: string): Promise<RetrievalProfile>
    setRetrievalProfile(caller: Caller, id: string, body: RetrievalProfileBody): Promise<RetrievalProfile>
  }
  documents: {
    list(caller: Caller, spaceId: string, page: PageRequest): Promise<Page<DocumentAsset>>
    get(caller: Caller, spaceId: string, documentId: string): Promise<DocumentAsset>
    parseArtifact(caller: Caller, spaceId: string, documentId: string, version: number): Promise<ParseArtifact>
    outline(caller: Caller, spaceId: string, documentId: string): Promise<DocumentOutline>
    multimodal(caller: Caller, spaceId: string, documentId: string): Promise<DocumentMultimodalManifest>
    itemAsset(
      caller: Caller,
      spaceId: string,
      documentId: string,
      itemId: string,
      variant: string | undefined,
    ): Promise<ItemAsset>
    /** Admits an upload of one file (`single`) or many. @throws KsError `not-found`, `capacity-exceeded` */
    upload(caller: Caller, spaceId: string, options: UploadOptions): Promise<Upload>
    /** Makes the bulk job that counts the items of a committed bulk upload. */
    bulkUpload(caller: Caller, spaceId: string, items: AcceptedDocument[]): Promise<BulkUpload>
    /** Waits until a document is published or failed; for `compilation: inline`. */
    settled(caller: Caller, spaceId: string, accepted: AcceptedDocument): Promise<DocumentAsset>
    delete(caller: Caller, spaceId: string, documentIds: string[]): Promise<BulkDelete>
    reindex(caller: Caller, spaceId: string, which: { all: true } | { documentIds: string[] }): Promise<BulkReindex>
    check(caller: Caller, spaceId: string, body: CheckDocumentsBody): Promise<CheckedDocuments>
  }
  jobs: {
    get(caller: Caller, id: string): Promise<DocumentCompilationJob>
    cancel(caller: Caller, id: string): Promise<DocumentCompilationJob>
    bulk(caller: Caller, id: string): Promise<BulkJob>
    list(caller: Caller, spaceId: string, page: PageRequest & JobFilter): Promise<Page<ListedJob>>
    /** @throws KsError `already-terminal` for a job that was published */
    retry(caller: Caller, id: string): Promise<DocumentCompilationJob>
    retryFailed(caller: Caller, spaceId: string): Promise<RetriedJobs>
  }
  queries: {
    /** Admits a query. @throws KsError `not-found`, `deletion-active`, `profile-mode-mismatch`, `busy`, `unavailable` */
    start(caller: Caller, body: QueryBody, signal: AbortSignal): Promise<QueryRun>
    /** Runs a query again, watched: why a document is or is not in its evidence. @throws KsError as `start` */
    explain(caller: Caller, spaceId: string, body: ExplainBody): Promise<Explanation>
    /** Finds passages as a query does, and leaves nothing behind. @throws KsError as `start` */
    search(caller: Caller, spaceId: string, body: SearchBody): Promise<SearchResult>
    trace(caller: Caller, traceId: string): Promise<AnswerTrace>
    evidence(caller: Caller, traceId: string, page: PageRequest): Promise<TraceListing>
    conflicts(caller: Caller, traceId: string, page: PageRequest): Promise<TraceListing>
    missing(caller: Caller, traceId: string, page: PageRequest): Promise<TraceListing>
  }
  quality: QualityOperations
  research: ResearchOperations
  sources: SourceOperations
  localFiles: LocalFileOperations
  fs: {
    ls(caller: Caller, spaceId: string, query: FsLsQuery): Promise<Listing>
    tree(caller: Caller, spaceId: string, query: FsTreeQuery): Promise<TreeListing>
    grep(caller: Caller, spaceId: string, query: FsGrepQuery): Promise<GrepListing>
    find(caller: Caller, spaceId: string, query: FsFindQuery): Promise<Listing>
    cat(caller: Caller, spaceId: string, query: FsCatQuery): Promise<CatResult>
    write(caller: Caller, spaceId: string, body: FsWriteBody): Promise<VirtualItem>
    mv(caller: Caller, spaceId: string, body: FsMvBody): Promise<Moved>
    rm(caller: Caller, spaceId: string, query: FsRmQuery): Promise<Removed>
  }
  snapshots: SnapshotOperations
  retention: {
    ofTenant(caller: Caller): Promise<RetentionPolicy>
    setTenant(caller: Caller, body: RetentionPolicyBody): Promise<RetentionPolicy>
    ofSpace(caller: Caller, spaceId: string): Promise<RetentionPolicy>
    setSpace(caller: Caller, spaceId: string, body: RetentionPolicyBody): Promise<RetentionPolicy>
  }
  graph: GraphOperations
  integrity: IntegrityOperations
  chat: ChatOperations
  idempotency: {
    /**
     * Claims a key for a request. Returns the stored response when the same request was answered before.
     * @throws KsError `idempotency-conflict` for another request under the key, or while the first still runs
     */
    begin(caller: Caller, key: string, fingerprint: string): StoredResponse | undefined
    /** Keeps the answer inside the caller's transaction. */
    keep(caller: Caller, key: string, response: StoredResponse): void
    /** Keeps the answer, where it is not the one that is kept already. */
    finish(caller: Caller, key: string, response: StoredResponse): void
    /** Gives the key back, unless an answer was kept with the effect: the request had none. */
    abandon(caller: Caller, key: string): void
  }
  tokens: {
    isRevoked(jti: string): boolean
    revoke(jti: string, expiresAt: number): void
  }
  health(): Health
  /** What is wrong with the database, in a sentence, once damage of its file was met. */
  damage(): string | undefined
  /** Running and waiting work, for `daemon status` and for the idle exit. */
  activity(): {
    activeJobs: number
    waitingJobs: number
    runningQueries: number
    /** trainings and builds of vector graphs */
    backgroundTasks: number
    indexPid?: number
    parserPids: number[]
  }
  /** The part of it that is one tenant's. */
  jobsOf(tenant: string): { activeJobs: number; waitingJobs: number }
  models: ModelOperations
  /** Stops taking work, lets what runs reach its next durable step, closes everything. */
  close(): Promise<void>
}

export interface EngineOptions {
  dataDir: string
  /** `inline`: an upload answers when its document is published */
  compilation: 'durable' | 'inline'
  providers: ProviderConfig[]
  /** used for spaces that name no embedding model */
  defaultEmbedding: ModelReference
  /** answers questions where a space's profile names no reasoning model */
  defaultGenerator: ModelReference
  /** reads texts aloud where an application names no model */
  defaultSpeech?: ModelReference | undefined
  /** writes down what is said where an application names no model */
  defaultTranscription?: ModelReference | undefined
  limits: {
    uploadBytes: number
    bulkFiles: number
    bulkBytes: number
    concurrentQueries: number
    waitingQueries: number
    spacesPerTenant: number
  }
  /** instead of the numbers in the manifests of all spaces */
  quotas: QuotaOverrides
  retention: RetentionSchedule
  /** between two looks for passages without a vector, milliseconds; ten minutes where absent */
  vectorAuditMs?: number
  sources?: {
    /** addresses and CIDR ranges outside the public internet that sources may reach */
    egressAllow?: readonly string[]
    /** how names of places are looked up; by the system where absent */
    resolve?: Resolve
    /** time between two looks at the schedule, milliseconds */
    tickMs?: number
  }
  /** absent: files of this machine are not looked at */
  localFiles?: {
    /** told the path of a file that does not look as it did when its document was made */
    onStale(path: string): void
  }
  /** the room on the disk of the data directory; absent: it shows only when a write fails */
  room?: DiskRoom
  /** milliseconds since the epoch by which things grow old; the clock of the system where absent */
  now?: () => number
  log: EngineLog
}

export type QuotaOverrides = {
  [N in Exclude<keyof QuotaPolicy, 'providerBudgets'> | keyof QuotaPolicy['providerBudgets']]?: number
}

/** How the background clean-up works through what has outlived its policy. */
export interface RetentionSchedule {
  /** from the end of one run to the start of the next */
  intervalMs: number
  /** most rows that one transaction removes */
  batchRows: number
}

export interface EngineLog {
  debug(fields: Record<string, unknown>, message: string): void
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}
