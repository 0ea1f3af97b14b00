import type { EngineContext } from '../context.js'
import type { CompileFailure } from '../parse/compiled.js'
import { requeue } from '../rows/job-claims.js'
import { markFailed } from '../rows/job-documents.js'
import { isHeld, type JobRow, moveJob, openJob } from '../rows/jobs.js'
import { nodesOfVersion } from '../rows/nodes.js'
import { lastSequence } from '../rows/projection-log.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { endCommit } from '../rows/staged-commits.js'
import { oweVectors } from '../rows/vectors-due.js'
import { dropUnpublished, versionKeyOf } from '../rows/versions.js'
import { policiesOf } from '../spaces/manifest.js'
import { countPages } from '../spaces/parser-pages.js'
import type { Read, Write } from '../storage/program.js'
import { embedNodes } from './embeddings.js'
import { publishBatch } from './publish.js'
import { smokeTest } from './smoke.js'
import { type ReadWork, storeVersions } from './store-versions.js'
import { isTrained } from './vector-spaces.js'
import type { Built, Work } from './work.js'

/**
 * Takes a batch of jobs of one space from their stage to publication. Each step computes first, then writes in one
 * transaction; what a crash interrupts is done again by the next run of the job, with one result.
 */
export async function compileBatch(
  context: EngineContext,
  space: SpaceRow,
  batch: Work[],
  signal: AbortSignal,
): Promise<void> {
  const fresh = batch.filter(({ job }) => job.stage === 'queued')
  const resumed = batch.filter(({ job }) => job.stage !== 'queued')
  const { reloaded, lost } = await context.db.read(reload(resumed))
  if (lost.length > 0) fresh.push(...(await context.db.write(() => beginAnew(lost))))
  const built = [...(await buildNodes(context, space, fresh, signal)), ...reloaded]
  if (built.length === 0) return
  // whether the index got their passages before the crash is not known
  if (reloaded.length > 0) await context.indexes.follow(space.id, await context.db.read(lastSequence(space.key)))
  const nodes = built.flatMap((item) => item.nodes)
  for (;;) {
    // read anew: the space may have got another model while its documents were parsed, or after the vectors were made
    const live = (await context.db.read(spaceByKey(space.key))) ?? space
    const embedded = isTrained(live)
      ? await embedNodes(context, live, nodes)
      : await askProvider(context, live, built, signal)
    signal.throwIfAborted()
    await context.rightOfWay.giveWay()
    await smokeTest(context, space, built)
    if (await publishBatch(context, space, built, embedded)) return
  }
}

/** A provider's vectors are stored as they come; what is missing when the text is published follows by itself. */
async function askProvider(
  context: EngineContext,
  space: SpaceRow,
  built: readonly Built[],
  signal: AbortSignal,
): Promise<undefined> {
  const versions = built.flatMap(({ versionKey, nodes }) => (nodes.length === 0 ? [] : [versionKey]))
  if (versions.length === 0) return
  await context.db.write(() => oweAll(space.key, versions))
  await context.vectors.patience(space.key, versions, signal)
}

function readAll({ compiler, objects }: EngineContext, batch: readonly Work[], signal: AbortSignal) {
  const documents = batch.map(({ document }) => document)
  const keys = documents.map((document) => document.object_key)
  return objects.local(keys, (files) => {
    const requests = documents.flatMap(({ filename, mime_type: declaredType }, place) => {
      const file = files[place]
      return file === undefined ? [] : [{ ...file, filename, declaredType }]
    })
    return compiler.compile(requests, signal)
  })
}

/** Parses files and stores versions with their nodes; a file that cannot be read ends its job here. */
async function buildNodes(
  context: EngineContext,
  space: SpaceRow,
  batch: Work[],
  signal: AbortSignal,
): Promise<Built[]> {
  if (batch.length === 0) return []
  const results = await readAll(context, batch, signal)
  countPages(
    context,
    space,
    results.flatMap((result) => (result.ok ? [result.document.metadata] : [])),
  )
  const read: ReadWork[] = []
  for (const [index, work] of batch.entries()) {
    const result = results[index]
    if (result?.ok === true) read.push({ work, document: result.document })
    else if (result !== undefined) await failJob(context, space, work, result.failure)
  }
  const { built, refused } = await storeVersions(context, space, read, signal)
  for (const { work, failure } of refused) await failJob(context, space, work, failure)
  return built
}

function* oweAll(spaceKey: number, versions: readonly number[]): Write<void> {
  for (const version of versions) yield* oweVectors(spaceKey, version)
}

/** The jobs whose nodes an earlier run of the process built, and those of which nothing is left. */
function* reload(resumed: readonly Work[]): Read<{ reloaded: Built[]; lost: Work[] }> {
  const reloaded: Built[] = []
  const lost: Work[] = []
  for (const work of resumed) {
    const versionKey = yield* versionKeyOf(work.document.key, work.job.version)
    if (versionKey === undefined) lost.push(work)
    else reloaded.push({ ...work, versionKey, nodes: yield* nodesOfVersion(versionKey) })
  }
  return { reloaded, lost }
}

/** A job whose version was lost, as a damaged database loses rows, reads its file again: it would be taken up for ever. */
function* beginAnew(lost: readonly Work[]): Write<Work[]> {
  const fresh: Work[] = []
  for (const { job, document } of lost)
    if ((yield* isHeld(job)) && (yield* requeue(job.key))) fresh.push({ job: { ...job, stage: 'queued' }, document })
  return fresh
}

/** Ends a job that cannot succeed, by who claimed it. The document says why; a version that was published before goes on answering. */
export async function failJob(
  context: EngineContext,
  space: SpaceRow,
  { job }: Work,
  failure: CompileFailure | { code: string; message: string },
): Promise<void> {
  const days = policiesOf(space).retentionPolicy.failedCommitRetentionDays
  const dropped = await context.db.write(() => endInVain(job, failure, days))
  await forget(context, space, dropped)
}

/** @returns the log's entry for what the index has to forget; 0 for nothing */
function* endInVain(job: JobRow, failure: { code: string; message: string }, days: number): Write<number> {
  const row = yield* openJob(job.key)
  if (row === undefined) return 0
  if (!(yield* moveJob(row.id, row.stage, 'failed', { error: failure.message, claim: job }))) return 0
  yield* endCommit(job.id, 'failed-terminal', failure, days)
  yield* markFailed(job.doc_key, failure)
  return yield* dropUnpublished(job.doc_key, job.version)
}

/** Takes what was dropped out of the index. One that cannot do so now reads it from the log when it is opened anew. */
export async function forget({ indexes, log }: EngineContext, space: SpaceRow, dropped: number): Promise<void> {
  await indexes
    .follow(space.id, dropped)
    .catch((error: unknown) =>
      log.warn({ space: space.id, error: String(error) }, 'the passages of a failed job are in the index yet'),
    )
}
