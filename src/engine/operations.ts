import type { AcceptedDocument, BulkUpload } from '../contract/gateway/documents.js'
import type { Caller } from './base/caller.js'
import { streamAsTenant } from './base/tenant-scope.js'
import type { createBundleOperations } from './bundles/operations.js'
import type { createChatService } from './chat/operations.js'
import { cancelMigration, getMigration, startMigration } from './compile/migration-operations.js'
import type { EngineContext } from './context.js'
import { deleteDocuments } from './documents/delete.js'
import { getMultimodal, getOutline, getParseArtifact } from './documents/derived.js'
import { checkDocuments, getDocument, listDocuments } from './documents/documents.js'
import { getItemAsset } from './documents/item-assets.js'
import { reindexDocuments } from './documents/reindex.js'
import { beginUpload } from './documents/upload.js'
import { explainQuery } from './explain/explain.js'
import { createIdempotency } from './idempotency/idempotency.js'
import { createIntegrityOperations } from './integrity/integrity.js'
import { cancelJob, getJob } from './jobs/jobs.js'
import { retryFailed, retryJob } from './jobs/retry.js'
import type { JobRunner } from './jobs/runner.js'
import { createLocalFileOperations } from './local-files/operations.js'
import type { GoldenRuns } from './quality/golden-runs.js'
import { createQuality } from './quality/operations.js'
import type { QueryServices } from './query/retrieval.js'
import { startQuery } from './query/run.js'
import { searchSpace } from './query/search.js'
import { getBulkJob } from './queue/bulk.js'
import { listJobs } from './queue/list.js'
import type { ResearchService } from './research/operations.js'
import { insertBulkJob } from './rows/bulk-jobs.js'
import { findSpace } from './rows/spaces.js'
import { replaySnapshot } from './snapshots/replay.js'
import {
  createSnapshot,
  deleteSnapshot,
  listSnapshots,
  readSnapshotDetail,
  readSnapshotFile,
} from './snapshots/snapshots.js'
import type { SourceService } from './sources/operations.js'
import { followChanges } from './spaces/changes.js'
import { getSpaceProfile, setRetrievalProfile } from './spaces/profile.js'
import { createRetentionPolicies } from './spaces/retention-policy.js'
import {
  createSpace,
  deleteSpace,
  getSpace,
  getSpaceManifest,
  listSpaces,
  setEmbeddingProfile,
  updateSpace,
} from './spaces/spaces.js'
import { createTokenOperations } from './spaces/tokens.js'
import { createModelOperations } from './status/models-in-use.js'
import { getSpaceStats, getSpaceStatus } from './status/status.js'
import { bind, bindRead } from './storage/bind-operation.js'
import { writeReply } from './storage/write-reply.js'
import { getTrace, listConflicts, listEvidence, listMissing } from './traces/traces.js'
import type { FileSystemReader } from './vfs/vfs.js'
import type { GraphServices } from './views/graph-operations.js'
import { moveFiles, removeFiles, writeFile } from './workspaces/files.js'

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
