import type { EngineContext } from '../context.js'
import { storeContained } from '../documents/contained.js'
import { ReceivedContained } from '../documents/receive-contained.js'
import type { CompileFailure, PreparedDocument } from '../parse/compiled.js'
import { waitsForPages } from '../parse/ocr/pages-read.js'
import { containedIn } from '../rows/contained-documents.js'
import { requeue } from '../rows/job-claims.js'
import { markFailed } from '../rows/job-documents.js'
import { isHeld, type JobRow, moveJob, openJob } from '../rows/jobs.js'
import { nodesOfVersion } from '../rows/nodes.js'
import { lastSequence } from '../rows/projection-log.js'
import type { SpaceRow } from '../rows/spaces.js'
import { endCommits } from '../rows/staged-commits.js'
import { dropUnpublished, metadataOf, versionKeyOf } from '../rows/versions.js'
import { policiesOf } from '../spaces/manifest.js'
import { countPages } from '../spaces/parser-pages.js'
import type { Read, Write } from '../storage/program.js'
import { mayWait, type Publications, publishStored } from './publications.js'
import { readFiles } from './read-files.js'
import { type ReadWork, storeVersions, type ToFollow } from './store-versions.js'
import type { Built, Work } from './work.js'

/** How a batch is published; the runner shares one for all of its batches. */
interface Parting {
  /** publishes the batch together with other waiting ones */
  publications: Publications
  /** called when all of the batch is stored, with whether it then waits without work */
  onStored: (isWaiting: boolean) => void
}

/**
 * Takes a batch of jobs of one space from their stage to publication. Each step computes first, then writes in one
 * transaction; the next run of a job repeats what a crash interrupted, with one result.
 *
 * @param publishing absent: the batch is published alone
 */
export async function compileBatch(
  context: EngineContext,
  space: SpaceRow,
  batch: Work[],
  signal: AbortSignal,
  parting?: Parting,
): Promise<void> {
  const fresh = batch.filter(({ job }) => job.stage === 'queued')
  const resumed = batch.filter(({ job }) => job.stage !== 'queued')
  const { reloaded, lost } = await context.db.read(reload(resumed))
  if (lost.length > 0) fresh.push(...(await context.db.write(() => beginAnew(lost), { lock: space.key })))
  const toFollow: ToFollow[] = []
  const built = [...(await buildNodes(context, space, fresh, toFollow, signal)), ...reloaded]
  // the index may not have received their passages before the crash
  if (reloaded.length > 0) toFollow.push({ seq: await context.db.read(lastSequence(space.key)), fresh: undefined })
  const stored = { space, built, toFollow }
  parting?.onStored(mayWait(stored))
  await (parting === undefined ? publishStored(context, stored, signal) : parting.publications.publish(stored, signal))
}

/**
 * Parses files and stores versions with their nodes; an unreadable file ends its job here.
 *
 * @param indexUpdates receives the updates for the index
 */
async function buildNodes(
  context: EngineContext,
  space: SpaceRow,
  batch: Work[],
  toFollow: ToFollow[],
  signal: AbortSignal,
): Promise<Built[]> {
  if (batch.length === 0) return []
  const received = new ReceivedContained(context, space.tenant)
  const files = await readFiles(context, space, batch, received, signal).catch(async (error: unknown) => {
    await received.discard()
    throw error
  })
  await received.finish()
  countPages(
    context,
    space,
    files.flatMap((file) => (file?.result.ok === true && !file.isReadOn ? [file.result.document.metadata] : [])),
  )
  const read: ReadWork[] = []
  for (const [index, work] of batch.entries()) {
    const result = files[index]?.result
    if (result === undefined) continue
    const failure = result.ok ? await storeFilesOf(context, space, work, result.document, received) : result.failure
    if (failure !== undefined) await failJob(context, space, work, failure)
    else if (result.ok) read.push({ work, document: result.document })
  }
  const { built, refused } = await storeVersions(context, space, read, signal, toFollow)
  for (const { work, failure } of refused) await failJob(context, space, work, failure)
  return built
}

/** Documents contained in a document are stored before its version: after a crash in between all of it is repeated. */
async function storeFilesOf(
  context: EngineContext,
  space: SpaceRow,
  work: Work,
  { contained = [] }: PreparedDocument,
  received: ReceivedContained,
) {
  // a document that contained files before has documents for them, which it may contain no longer
  const mayHaveHeld = contained.length > 0 || work.job.version > 1
  if (!mayHaveHeld) return undefined
  const [there = []] = contained.length > 0 ? [] : await context.db.read(containedIn([work.document]))
  if (contained.length + there.length === 0) return undefined
  return await storeContained(context, space, work, contained, received)
}

/** The jobs whose nodes an earlier run of the process built, and those whose version is lost. */
function* reload(resumed: readonly Work[]): Read<{ reloaded: Built[]; lost: Work[] }> {
  const reloaded: Built[] = []
  const lost: Work[] = []
  for (const work of resumed) {
    const versionKey = yield* versionKeyOf(work.document.key, work.job.version)
    if (versionKey === undefined) lost.push(work)
    else {
      const pagesWait = waitsForPages(yield* metadataOf(versionKey))
      reloaded.push({ ...work, versionKey, nodes: yield* nodesOfVersion(versionKey), pagesWait })
    }
  }
  return { reloaded, lost }
}

/**
 * A job whose version was lost, as by database damage, reads its file again; otherwise it would be resumed for ever.
 */
function* beginAnew(lost: readonly Work[]): Write<Work[]> {
  const fresh: Work[] = []
  for (const { job, document } of lost)
    if ((yield* isHeld(job)) && (yield* requeue(job.key))) fresh.push({ job: { ...job, stage: 'queued' }, document })
  return fresh
}

/**
 * Ends a job that cannot succeed, if its claim is still valid. The document records the reason; an earlier published
 * version remains visible.
 */
export async function failJob(
  context: EngineContext,
  space: SpaceRow,
  { job }: Work,
  failure: CompileFailure | { code: string; message: string },
): Promise<void> {
  const days = policiesOf(space).retentionPolicy.failedCommitRetentionDays
  const dropped = await context.db.write(() => endInVain(job, failure, days), { lock: space.key })
  await forget(context, space, dropped)
}

/** @returns the log entry up to which the index must remove passages; 0 for none */
function* endInVain(job: JobRow, failure: { code: string; message: string }, days: number): Write<number> {
  const row = yield* openJob(job.key)
  if (row === undefined) return 0
  if (!(yield* moveJob(row.id, row.stage, 'failed', { error: failure.message, claim: job }))) return 0
  yield* endCommits([job.id], 'failed-terminal', failure, days)
  yield* markFailed(job.doc_key, failure)
  return yield* dropUnpublished(job.doc_key, job.version)
}

/**
 * Removes dropped passages from the index. If that fails now, the index reads them from the log when it is opened
 * again.
 */
export async function forget({ indexes, log }: EngineContext, space: SpaceRow, dropped: number): Promise<void> {
  await indexes
    .follow(space.id, dropped)
    .catch((error: unknown) =>
      log.warn({ space: space.id, error: String(error) }, 'the passages of a failed job are still in the index'),
    )
}
