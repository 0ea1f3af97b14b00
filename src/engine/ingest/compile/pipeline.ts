import {
  ContainedFileReceiver,
  countPages,
  type EngineContext,
  parsePolicies,
  storeContained,
} from '../../library/index.js'
import type { CompileFailure } from '../../store/compiled.js'
import type { Read, Write } from '../../store/program.js'
import { hasPendingPages } from '../../store/recognised-pages.js'
import { listContained } from '../../store/rows/contained-documents.js'
import { requeueJob } from '../../store/rows/job-claims.js'
import { markDocumentFailed } from '../../store/rows/job-documents.js'
import { findOpenJob, isClaimValid, type JobRow, moveJob } from '../../store/rows/jobs.js'
import { listNodesOfVersion } from '../../store/rows/nodes.js'
import { getLastSequence } from '../../store/rows/projection-log.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { endCommits } from '../../store/rows/staged-commits.js'
import { findVersionKey, getVersionMetadata, removeUnpublishedVersion } from '../../store/rows/versions.js'
import { canShareCommit, type Publications, publishStored } from './publications.js'
import { readFiles } from './read-files.js'
import { type IndexUpdate, type ParsedWork, storeVersions } from './store-versions.js'
import type { BuiltWork, CompileWork } from './work.js'

interface BatchOptions {
  signal: AbortSignal
  /** publishes the batch together with other waiting ones of the runner; absent: the batch is published alone */
  publications?: Publications
  /** called when all of the batch is stored, with whether it then waits without work */
  onStored?: (isWaiting: boolean) => void
}

/**
 * Takes a batch of jobs of one space from their stage to publication. Each step computes first, then writes in one
 * transaction; the next run of a job repeats what a crash interrupted, with one result.
 */
export async function compileBatch(
  context: EngineContext,
  space: SpaceRow,
  batch: CompileWork[],
  { signal, publications, onStored }: BatchOptions,
): Promise<void> {
  const queued = batch.filter(({ job }) => job.stage === 'queued')
  const resumed = batch.filter(({ job }) => job.stage !== 'queued')
  const { reloaded, lost } = await context.db.read(reload(resumed))
  if (lost.length > 0) queued.push(...(await context.db.write(() => requeueLost(lost), { lock: space.key })))
  const { built, indexUpdates } = await buildNodes(context, space, queued, signal)
  built.push(...reloaded)
  // the index may not have received their passages before the crash
  if (reloaded.length > 0)
    indexUpdates.push({ seq: await context.db.read(getLastSequence(space.key)), fresh: undefined })
  const stored = { space, built, indexUpdates: indexUpdates }
  onStored?.(canShareCommit(stored))
  await (publications === undefined ? publishStored(context, stored, signal) : publications.publish(stored, signal))
}

/** Parses files and stores versions with their nodes; an unreadable file ends its job here. */
async function buildNodes(
  context: EngineContext,
  space: SpaceRow,
  batch: CompileWork[],
  signal: AbortSignal,
): Promise<{ built: BuiltWork[]; indexUpdates: IndexUpdate[] }> {
  if (batch.length === 0) return { built: [], indexUpdates: [] }
  const received = new ContainedFileReceiver(context, space.tenant)
  const files = await readFiles(context, space, batch, { containedSink: received, signal }).catch(
    async (error: unknown) => {
      await received.discard()
      throw error
    },
  )
  await received.finish()
  countPages(
    context,
    space,
    files.flatMap((file) => (file?.result.ok === true && !file.isContinued ? [file.result.document.metadata] : [])),
  )
  const read: ParsedWork[] = []
  for (const [index, work] of batch.entries()) {
    const result = files[index]?.result
    if (result === undefined) continue
    const failure = result.ok
      ? await storeContainedFiles(context, space, { work, document: result.document }, received)
      : result.failure
    if (failure !== undefined) await failJob(context, space, work, failure)
    else if (result.ok) read.push({ work, document: result.document })
  }
  const { built, refused, indexUpdates } = await storeVersions(context, space, read, signal)
  for (const { work, failure } of refused) await failJob(context, space, work, failure)
  return { built, indexUpdates }
}

/** Documents contained in a document are stored before its version: after a crash in between all of it is repeated. */
async function storeContainedFiles(
  context: EngineContext,
  space: SpaceRow,
  { work, document: { contained = [] } }: ParsedWork,
  received: ContainedFileReceiver,
) {
  // a document that contained files before has documents for them, which it may contain no longer
  const mayHaveHeld = contained.length > 0 || work.job.version > 1
  if (!mayHaveHeld) return undefined
  const [existing = []] = contained.length > 0 ? [] : await context.db.read(listContained([work.document]))
  if (contained.length + existing.length === 0) return undefined
  return await storeContained(context, space, { ...work, files: contained }, received)
}

/** The jobs whose nodes an earlier run of the process built, and those whose version is lost. */
function* reload(resumed: readonly CompileWork[]): Read<{ reloaded: BuiltWork[]; lost: CompileWork[] }> {
  const reloaded: BuiltWork[] = []
  const lost: CompileWork[] = []
  for (const work of resumed) {
    const versionKey = yield* findVersionKey(work.document.key, work.job.version)
    if (versionKey === undefined) lost.push(work)
    else {
      const hasRemainingPages = hasPendingPages(yield* getVersionMetadata(versionKey))
      reloaded.push({ ...work, versionKey, nodes: yield* listNodesOfVersion(versionKey), hasRemainingPages })
    }
  }
  return { reloaded, lost }
}

/**
 * A job whose version was lost, as by database damage, reads its file again; otherwise it would be resumed for ever.
 */
function* requeueLost(lost: readonly CompileWork[]): Write<CompileWork[]> {
  const fresh: CompileWork[] = []
  for (const { job, document } of lost)
    if ((yield* isClaimValid(job)) && (yield* requeueJob(job.key)))
      fresh.push({ job: { ...job, stage: 'queued' }, document })
  return fresh
}

/**
 * Ends a job that cannot succeed, if its claim is still valid. The document records the reason; an earlier published
 * version remains visible.
 */
export async function failJob(
  context: EngineContext,
  space: SpaceRow,
  { job }: CompileWork,
  failure: CompileFailure | { code: string; message: string },
): Promise<void> {
  const days = parsePolicies(space).retentionPolicy.failedCommitRetentionDays
  const dropped = await context.db.write(() => failClaimedJob(job, failure, days), { lock: space.key })
  await removeFromIndex(context, space, dropped)
}

/** @returns the log entry up to which the index must remove passages; 0 for none */
function* failClaimedJob(job: JobRow, failure: { code: string; message: string }, days: number): Write<number> {
  const row = yield* findOpenJob(job.key)
  if (row === undefined) return 0
  if (!(yield* moveJob(row.id, row.stage, 'failed', { error: failure.message, claim: job }))) return 0
  yield* endCommits([job.id], 'failed-terminal', failure, days)
  yield* markDocumentFailed(job.doc_key, failure)
  return yield* removeUnpublishedVersion(job.doc_key, job.version)
}

/**
 * Removes dropped passages from the index. If that fails now, the index reads them from the log when it is opened
 * again.
 */
export async function removeFromIndex(
  { indexes, log }: EngineContext,
  space: SpaceRow,
  dropped: number,
): Promise<void> {
  await indexes
    .follow(space.id, dropped)
    .catch((error: unknown) =>
      log.warn({ space: space.id, error: String(error) }, 'the passages of a failed job are still in the index'),
    )
}
