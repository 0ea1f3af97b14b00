import type { AcceptedDocument, BulkUpload } from '../contract/gateway/documents.js'
import type { createChatService, ResearchService } from './answers/index.js'
import type { Caller } from './base/caller.js'
import { streamAsTenant } from './base/tenant-scope.js'
import {
  createSnapshot,
  deleteSnapshot,
  type FileSystemReader,
  listSnapshots,
  readSnapshotDetail,
  readSnapshotFile,
  replaySnapshot,
} from './files/index.js'
import {
  cancelJob,
  cancelMigration,
  getJob,
  getMigration,
  type JobRunner,
  retryFailed,
  retryJob,
  type SourceService,
  startMigration,
} from './ingest/index.js'
import type { GraphServices } from './knowledge/index.js'
import {
  beginUpload,
  checkDocuments,
  createIdempotency,
  createLocalFileOperations,
  createRetentionPolicies,
  createSpace,
  createTokenOperations,
  deleteDocuments,
  deleteSpace,
  type EngineContext,
  followChanges,
  getBulkJob,
  getDocument,
  getItemAsset,
  getMultimodal,
  getOutline,
  getParseArtifact,
  getSpace,
  getSpaceManifest,
  getSpaceProfile,
  getTrace,
  listConflicts,
  listDocuments,
  listEvidence,
  listJobs,
  listMissing,
  listSkippedFiles,
  listSpaces,
  moveFiles,
  recordSkippedFiles,
  reindexDocuments,
  removeFiles,
  setEmbeddingProfile,
  setRetrievalProfile,
  updateSpace,
  writeFile,
} from './library/index.js'
import {
  createQuality,
  explainQuery,
  type GoldenRuns,
  type QueryServices,
  searchSpace,
  searchSpaces,
  startQuery,
  startSpacesQuery,
} from './retrieval/index.js'
import { bind, bindRead } from './store/bind-operation.js'
import { insertBulkJob } from './store/rows/bulk-jobs.js'
import { findSpace } from './store/rows/spaces.js'
import { writeReply } from './store/write-reply.js'
import {
  type createBundleOperations,
  createIntegrityOperations,
  createModelOperations,
  getSpaceStats,
  getSpaceStatus,
} from './upkeep/index.js'

/** Services that operations share. */
export interface OperationServices {
  runner: JobRunner
  queries: QueryServices
  files: FileSystemReader
  graph: GraphServices
  research: ResearchService
  sources: SourceService
  bundles: ReturnType<typeof createBundleOperations>
  chat: ReturnType<typeof createChatService>
  goldenRuns: GoldenRuns
}

/**
 * The operations of one engine, by group. The first argument names the tenant; then follow the parameters of the path
 * in their order, and the query or the body. The types are those of the functions.
 */
export function createOperations(context: EngineContext, services: OperationServices) {
  const { db } = context
  const { runner, queries, files, graph, research, sources, bundles, chat, goldenRuns } = services
  return {
    spaces: {
      create: bind(createSpace, context),
      list: bindRead(db, listSpaces),
      get: bindRead(db, getSpace),
      update: bind(updateSpace, db),
      delete: bind(deleteSpace, context),
      manifest: bindRead(db, bind(getSpaceManifest, context)),
      setEmbeddingProfile: bind(setEmbeddingProfile, context),
      startMigration: bind(startMigration, context),
      migration: bindRead(db, getMigration),
      cancelMigration: bind(cancelMigration, context),
      status: bind(getSpaceStatus, context),
      stats: bind(getSpaceStats, context),
      retrievalProfile: bindRead(db, getSpaceProfile),
      setRetrievalProfile: bind(setRetrievalProfile, context),
    },
    documents: {
      list: bindRead(db, listDocuments),
      get: bindRead(db, getDocument),
      parseArtifact: bind((caller: Caller, spaceId: string, documentId: string, version: number) =>
        getParseArtifact(db, caller, spaceId, { documentId, version }),
      ),
      outline: bind(getOutline, db),
      multimodal: bind(getMultimodal, db),
      itemAsset: bind(getItemAsset, context),
      upload: bind(beginUpload, context),
      bulkUpload: bind(createBulkUpload, context),
      /** Waits until a document is published or failed; for `compilation: inline`. */
      settled: bind(async (caller: Caller, spaceId: string, accepted: AcceptedDocument) => {
        await runner.waitUntilSettled(accepted.compilationJob.id)
        return db.read(getDocument(caller, spaceId, accepted.asset.id))
      }),
      delete: bind(deleteDocuments, context),
      reindex: bind(reindexDocuments, context),
      check: bind(checkDocuments, context),
      skipped: bindRead(db, listSkippedFiles),
      recordSkipped: bind(recordSkippedFiles, db),
    },
    jobs: {
      get: bindRead(db, getJob),
      cancel: bind(cancelJob, context),
      bulk: bindRead(db, getBulkJob),
      list: bindRead(db, bind(listJobs, context)),
      retry: bind(retryJob, context),
      retryFailed: bind(retryFailed, context),
    },
    queries: {
      start: bind(startQuery, queries),
      explain: bind(explainQuery, queries),
      search: bind(searchSpace, queries),
      startSpaces: bind(startSpacesQuery, queries),
      searchSpaces: bind(searchSpaces, queries),
      trace: bindRead(db, getTrace),
      evidence: bindRead(db, listEvidence),
      conflicts: bindRead(db, listConflicts),
      missing: bindRead(db, listMissing),
    },
    changes: {
      follow: (caller: Caller, seconds: number, signal: AbortSignal) =>
        streamAsTenant(caller.tenant, () => followChanges(context, caller, seconds, signal)),
    },
    quality: createQuality(context, goldenRuns),
    research: research.operations,
    sources: sources.operations,
    fs: {
      ...files,
      write: bind(writeFile, context),
      mv: bind(moveFiles, context),
      rm: bind(removeFiles, context),
    },
    /** A snapshot belongs to its creator; other callers get `not-found`. */
    snapshots: {
      create: bind(createSnapshot, context),
      list: bindRead(db, listSnapshots),
      get: bindRead(db, readSnapshotDetail),
      file: bind(readSnapshotFile, context),
      delete: bind(deleteSnapshot, context),
      replay: bind(replaySnapshot, queries),
    },
    localFiles: createLocalFileOperations(context),
    retention: createRetentionPolicies(context),
    graph: graph.operations,
    bundles,
    integrity: createIntegrityOperations(context),
    chat: chat.operations,
    idempotency: createIdempotency(context),
    tokens: createTokenOperations(db),
    models: createModelOperations(context),
  }
}

/** Creates the bulk job that tracks the items of a committed bulk upload. */
function createBulkUpload(
  { db }: EngineContext,
  caller: Caller,
  spaceId: string,
  items: AcceptedDocument[],
): Promise<BulkUpload> {
  const bulkItems = items.map((item) => ({ documentId: item.asset.id, jobId: item.compilationJob.id }))
  return writeReply(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    return { bulkJobId: yield* insertBulkJob(space, 'document_upload', bulkItems), total: items.length, items }
  })
}
