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
import type { BulkJob, DocumentCompilationJob, ListedJob, RetriedJobs } from '../contract/gateway/jobs.js'
import type { AnswerTrace, QueryBody, TraceListing } from '../contract/gateway/queries.js'
import type { RetentionPolicy, RetentionPolicyBody } from '../contract/gateway/retention.js'
import type { RetrievalProfile, RetrievalProfileBody } from '../contract/gateway/retrieval-profile.js'
import type { SearchBody, SearchResult } from '../contract/gateway/search.js'
import type { KnowledgeSpaceStats, KnowledgeSpaceStatus } from '../contract/gateway/space-status.js'
import type {
  CreateSpaceBody,
  EmbeddingProfile,
  KnowledgeSpace,
  KnowledgeSpaceManifest,
  UpdateSpaceBody,
} from '../contract/gateway/spaces.js'
import type { Health } from '../contract/gateway/system.js'
import type { Caller } from './base/caller.js'
import type { JsonBody } from './base/json-body.js'
import type { ModelReference } from './base/model-reference.js'
import type { Page, PageRequest } from './base/page.js'
import type { QueryRun } from './base/query-run.js'
import type { Upload, UploadOptions } from './base/upload.js'
import type { BundleOperations } from './bundles/operations.js'
import type { ChatOperations } from './chat/operations.js'
import type { ItemAsset } from './documents/item-assets.js'
import type { Idempotency } from './idempotency/idempotency.js'
import type { IntegrityOperations } from './integrity/integrity.js'
import type { LocalFileOperations } from './local-files/operations.js'
import type { QualityOperations } from './quality/operations.js'
import type { JobFilter } from './queue/list.js'
import type { ResearchOperations } from './research/operations.js'
import type { SnapshotOperations } from './snapshots/operations.js'
import type { SourceOperations } from './sources/operations.js'
import type { ChangeFrame } from './spaces/changes.js'
import type { MetricsSnapshot } from './status/collect-metrics.js'
import type { ModelOperations } from './status/models-in-use.js'
import type { FileSystemReader } from './vfs/vfs.js'
import type { GraphOperations } from './views/graph-operations.js'
import type { FileSystemWriter } from './workspaces/files.js'

/** The embedded engine: all operations of the two APIs, independent of HTTP. All failures are `KsError`. */
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
    parseArtifact(
      caller: Caller,
      spaceId: string,
      documentId: string,
      version: number,
    ): Promise<JsonBody<ParseArtifact>>
    outline(caller: Caller, spaceId: string, documentId: string): Promise<JsonBody<DocumentOutline>>
    multimodal(caller: Caller, spaceId: string, documentId: string): Promise<JsonBody<DocumentMultimodalManifest>>
    itemAsset(
      caller: Caller,
      spaceId: string,
      documentId: string,
      itemId: string,
      variant: string | undefined,
    ): Promise<ItemAsset>
    /** Admits an upload of one file (`single`) or many. @throws KsError `not-found`, `capacity-exceeded` */
    upload(caller: Caller, spaceId: string, options: UploadOptions): Promise<Upload>
    /** Creates the bulk job that tracks the items of a committed bulk upload. */
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
    /**
     * Admits a query. @throws KsError `not-found`, `deletion-active`, `profile-mode-mismatch`, `busy`, `unavailable`
     */
    start(caller: Caller, body: QueryBody, signal: AbortSignal): Promise<QueryRun>
    /** Runs a query again and reports why a document is or is not in its evidence. @throws KsError as `start` */
    explain(caller: Caller, spaceId: string, body: ExplainBody): Promise<Explanation>
    /** Finds passages as a query does, and stores nothing. @throws KsError as `start` */
    search(caller: Caller, spaceId: string, body: SearchBody): Promise<SearchResult>
    trace(caller: Caller, traceId: string): Promise<AnswerTrace>
    evidence(caller: Caller, traceId: string, page: PageRequest): Promise<TraceListing>
    conflicts(caller: Caller, traceId: string, page: PageRequest): Promise<TraceListing>
    missing(caller: Caller, traceId: string, page: PageRequest): Promise<TraceListing>
  }
  changes: {
    /** Streams the spaces of the caller's tenant that change, for the given seconds or until the signal aborts. */
    follow(caller: Caller, seconds: number, signal: AbortSignal): AsyncIterable<ChangeFrame>
  }
  quality: QualityOperations
  research: ResearchOperations
  sources: SourceOperations
  localFiles: LocalFileOperations
  fs: FileSystemReader & FileSystemWriter
  snapshots: SnapshotOperations
  retention: {
    ofTenant(caller: Caller): Promise<RetentionPolicy>
    setTenant(caller: Caller, body: RetentionPolicyBody): Promise<RetentionPolicy>
    ofSpace(caller: Caller, spaceId: string): Promise<RetentionPolicy>
    setSpace(caller: Caller, spaceId: string, body: RetentionPolicyBody): Promise<RetentionPolicy>
  }
  graph: GraphOperations
  bundles: BundleOperations
  integrity: IntegrityOperations
  chat: ChatOperations
  idempotency: Idempotency
  tokens: {
    isRevoked(jti: string): Promise<boolean>
    revoke(jti: string, expiresAt: number): Promise<void>
    /** Consumes an id that is valid once. @returns whether it was unused */
    spend(id: string, expiresAt: number): Promise<boolean>
  }
  health(): Promise<Health>
  /** Number of engines that are open on the database, this one included: limits are shared among them. */
  gateways(): number
  /**
   * Resolves when all writes that are visible now are durable, or failed to become so: replies to other machines wait
   * for it.
   */
  durable(): Promise<void>
  /** A message about the damage of the database file, once it was noticed. */
  damage(): string | undefined
  /** Running and waiting work, for `daemon status` and for the idle exit. */
  activity(): Promise<{
    activeJobs: number
    waitingJobs: number
    runningQueries: number
    /** trainings and builds of vector graphs */
    backgroundTasks: number
    indexPid?: number
    parserPids: number[]
  }>
  /** The counters since the start, and the current queues, of all tenants; contains no data of any of them. */
  measured(): Promise<MetricsSnapshot>
  jobsOf(tenant: string): Promise<{ activeJobs: number; waitingJobs: number }>
  models: ModelOperations
  /** Accepts no more work, lets running work reach its next durable step, then closes everything. */
  close(): Promise<void>
}
