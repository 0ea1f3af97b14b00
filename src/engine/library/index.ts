/** Spaces, documents, objects, workspaces, traces and the queue: what a space consists of, and who may change it. */

export type { EngineContext, SpaceHead } from './context.js'
export { getNestingDepths, storeContained } from './documents/contained.js'
export { deleteDocuments, type RetiredDocuments, retireDocuments } from './documents/delete.js'
export { getMultimodal, getOutline, getParseArtifact } from './documents/derived.js'
export { checkDocuments, getDocument, listDocuments } from './documents/documents.js'
export { drawVariant, getItemAsset } from './documents/item-assets.js'
export { listVariants } from './documents/item-variants.js'
export { isPaged } from './documents/published.js'
export { queueRemainingPages } from './documents/queue-remaining-pages.js'
export { ContainedFileReceiver } from './documents/receive-contained.js'
export { queueCompilations, reindexDocuments } from './documents/reindex.js'
export { listSkippedFiles, recordSkippedFiles } from './documents/skipped-files.js'
export { beginUpload } from './documents/upload.js'
export {
  type EmbeddedNodes,
  type EmbeddedQuery,
  embedNodes,
  embedQuery,
  embedQuestions,
  embedTrained,
  getSpaceAccount,
  termWeights,
} from './embedding/embeddings.js'
export { embeddingReference, isTrained } from './embedding/vector-spaces.js'
export { createIdempotency, removeExpiredAnswers } from './idempotency/idempotency.js'
export { checkLocalFiles, type FileState } from './local-files/file-state.js'
export { createLocalFileOperations } from './local-files/operations.js'
export { storeObjects, writeNothing } from './objects/receive.js'
export { createRemoval, finishRemoval, removeUnreferenced } from './objects/remove.js'
export { sweepObjects } from './objects/sweep.js'
export { getBulkJob } from './queue/bulk.js'
export { listJobs } from './queue/list.js'
export {
  describeError,
  findFinalFailure,
  getRetryDelay,
  getWaitDelay,
  isTemporaryError,
  type JobFailure,
  MAX_JOB_RETRY_DELAY_MS,
  mayBePoison,
  toJobFailure,
} from './queue/retry-policy.js'
export { followChanges } from './spaces/changes.js'
export { runInSpace, streamInSpace } from './spaces/in-space.js'
export {
  DEFAULT_POLICIES,
  NODE_SCHEMA_VERSION,
  PARSER_POLICY_VERSION,
  PROJECTION_SET_VERSION,
  parsePolicies,
} from './spaces/manifest.js'
export { countPages } from './spaces/parser-pages.js'
export { getProfile, getSpaceProfile, setRetrievalProfile, toProfile } from './spaces/profile.js'
export {
  assertRawBytesQuota,
  assertReindexQuota,
  assertTraceQuota,
  checkVersionQuota,
  checkVersionQuotas,
  getQuotas,
  type VersionSize,
} from './spaces/quota.js'
export {
  createRetentionPolicies,
  getRetentionRules,
  type RetentionRules,
  sessionExpiry,
} from './spaces/retention-policy.js'
export type { SpaceSnapshot } from './spaces/snapshot.js'
export {
  assertEmbeddingModel,
  createSpace,
  deleteSpace,
  getSpace,
  getSpaceManifest,
  listSpaces,
  setEmbeddingProfile,
  updateSpace,
} from './spaces/spaces.js'
export { createBudgetStore } from './spaces/stored-budget.js'
export { createTenantAccount } from './spaces/tenant-account.js'
export { createTokenOperations } from './spaces/tokens.js'
export { captureFailedQuery, toQueryKey } from './traces/capture.js'
export { toMissingItemKey } from './traces/missing-key.js'
export { TraceRecorder } from './traces/recorder.js'
export { GENERATE_STEP, getTrace, listConflicts, listEvidence, listMissing, toEvidenceEntry } from './traces/traces.js'
export { moveFiles, removeFiles, writeFile } from './workspaces/files.js'
export { parseWorkspaceName } from './workspaces/paths.js'
