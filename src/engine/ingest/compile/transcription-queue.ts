import { createReadStream } from 'node:fs'
import { KsError } from '../../../contract/errors.js'
import { type LinkedAbort, linkAbort } from '../../../lib/abort.js'
import { openInside } from '../../../local/open-inside.js'
import { BackgroundService } from '../../base/background-service.js'
import { formatModelName, type ModelReference } from '../../base/model-reference.js'
import { ProviderFailure } from '../../base/provider-failure.js'
import { computeRetryDelayMs } from '../../base/provider-problem.js'
import { retryUntilWritten } from '../../base/retry-until-written.js'
import { type EngineContext, findFinalFailure, MAX_JOB_RETRY_DELAY_MS, runInSpace } from '../../library/index.js'
import { type Transcript, toProviderProblem } from '../../models/index.js'
import { getRecordingEnding } from '../../readers/index.js'
import type { LocalObjectFile } from '../../store/objects.js'
import type { DocumentRow } from '../../store/rows/documents.js'
import { claimJobs, deferJobs, makeJobsDue, recordJobFailure, releaseJob } from '../../store/rows/job-claims.js'
import { findOpenJob, type JobRow } from '../../store/rows/jobs.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import { failCommitForRetry } from '../../store/rows/staged-commits.js'
import { isWriteStopped } from '../../store/write-stop.js'
import { retryRecordingsNow, storeTranscript } from '../rows/transcripts.js'
import { failJob } from './pipeline.js'
import type { CompileWork } from './work.js'

/** Jobs that wait here are delayed by this, repeatedly: so a job that becomes due waits in no process. */
const JOB_DELAY_MS = 120_000
const RENEWAL_INTERVAL_MS = 40_000
/** interval of checks whether the current transcription is still needed */
const CHECK_INTERVAL_MS = 1000
const CHUNK_BYTES = 1024 * 1024

/** A recording whose job waits for its transcript. */
interface WaitingRecording {
  spaceKey: number
  jobKey: number
  document: DocumentRow
  mediaType: string
}

/**
 * Transcribes recordings with a model, one at a time, in the background: an hour of speech takes minutes, which must
 * not block a compilation. The job of a waiting recording is unclaimed and delayed; once the transcript is stored, the
 * job continues. After a crash its job becomes due after a while, and is queued here again.
 */
export class TranscriptionQueue extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'waiting recordings were not renewed'
  protected override readonly failureLevel = 'debug'
  #waiting: WaitingRecording[] = []
  #current: { waiting: WaitingRecording; stop: LinkedAbort } | undefined
  #lastSpace = 0
  #renewedAt = Number.NEGATIVE_INFINITY

  /** Starts; jobs that a crash left are due at once. */
  override start(context: EngineContext): void {
    context.db.recover(() => retryRecordingsNow(context.instance))
    super.start(context)
  }

  /** count of recordings that are being transcribed */
  override get active(): number {
    return this.#current === undefined ? 0 : 1
  }

  /** Releases the job of a recording until its transcript exists. */
  async enqueue(space: SpaceRow, { job, document }: CompileWork, mediaType: string): Promise<void> {
    const { db, now } = this.context
    await db.write(() => releaseJob(job, now() + JOB_DELAY_MS), { lock: space.key })
    const isQueued = this.#listQueued().some(
      (queued) => queued.jobKey === job.key && queued.document.object_key === document.object_key,
    )
    if (!isQueued) this.#waiting.push({ spaceKey: space.key, jobKey: job.key, document, mediaType })
    this.wake()
  }

  /** Stops. The waiting jobs are due at the next start. */
  override async stop(): Promise<void> {
    const remaining = this.#listQueued()
    await super.stop()
    await this.#eachSpace(remaining, (keys) => makeJobsDue(keys)).catch(() => undefined)
  }

  protected override intervalMs(): number {
    return this.#current === undefined ? Number.POSITIVE_INFINITY : CHECK_INTERVAL_MS
  }

  protected override async tick(): Promise<void> {
    if (this.#current === undefined) this.#launchNext()
    else await this.#checkJobs(this.#current)
  }

  /** The waiting recordings, and the one that is being transcribed. */
  #listQueued(): WaitingRecording[] {
    return this.#current === undefined ? this.#waiting : [...this.#waiting, this.#current.waiting]
  }

  /** Starts with the next recording, of another space than the last one if possible. */
  #launchNext(): void {
    const { context } = this
    if (isWriteStopped(context)) return
    const other = this.#waiting.findIndex(({ spaceKey }) => spaceKey !== this.#lastSpace)
    const [waiting] = this.#waiting.splice(Math.max(0, other), 1)
    if (waiting === undefined) return
    this.#lastSpace = waiting.spaceKey
    const stop = linkAbort(this.stopSignal)
    this.#current = { waiting, stop }
    const transcription = runInSpace(context.db, waiting.spaceKey, () => this.#process(context, waiting, stop.signal))
      .catch((error: unknown) => {
        // its job is due again after a while
        if (!stop.signal.aborted) context.log.error({ error: String(error) }, 'a recording could not be transcribed')
      })
      .finally(() => {
        stop.dispose()
        this.#current = undefined
        this.wake()
      })
    this.track(transcription)
  }

  /** Aborts a transcription that is no longer needed, and renews the delay of the waiting jobs. */
  async #checkJobs({ waiting, stop }: { waiting: WaitingRecording; stop: LinkedAbort }): Promise<void> {
    const { db, now } = this.context
    const job = await runInSpace(db, waiting.spaceKey, () => db.read(findOpenJob(waiting.jobKey)))
    if (job === undefined) stop.abort(new KsError('already-terminal', 'the job of the recording has ended'))
    if (performance.now() - this.#renewedAt < RENEWAL_INTERVAL_MS || isWriteStopped(this.context)) return
    this.#renewedAt = performance.now()
    await this.#eachSpace(this.#listQueued(), (keys) => deferJobs(keys, now() + JOB_DELAY_MS))
  }

  async #eachSpace(
    all: readonly WaitingRecording[],
    write: (jobKeys: number[]) => ReturnType<typeof makeJobsDue>,
  ): Promise<void> {
    const { db } = this.context
    const keys = new Map<number, number[]>()
    for (const { spaceKey, jobKey } of all) keys.set(spaceKey, [...(keys.get(spaceKey) ?? []), jobKey])
    for (const [spaceKey, jobKeys] of keys) await runInSpace(db, spaceKey, () => db.write(() => write(jobKeys)))
  }

  async #process(context: EngineContext, waiting: WaitingRecording, signal: AbortSignal): Promise<void> {
    const { db, objects, models } = context
    const { document, mediaType, jobKey, spaceKey } = waiting
    const model = context.options.defaultTranscription
    if (model === undefined || (await db.read(findOpenJob(jobKey))) === undefined) return
    const bytes = await objects.local([document.object_key], async ([file]) => file && (await readFileBytes(file)))
    try {
      const transcript = bytes && (await this.#transcribe(models, model, { bytes, document, mediaType }, signal))
      await retryUntilWritten(context, 'a transcript', signal, () =>
        db.write(
          function* () {
            if (transcript !== undefined)
              yield* storeTranscript(document, { ...transcript, model: formatModelName(model) })
            yield* makeJobsDue([jobKey])
          },
          { lock: spaceKey },
        ),
      )
    } catch (error) {
      if (signal.aborted) return
      await this.#failed(context, waiting, error, signal)
    }
    context.wake()
  }

  #transcribe(
    models: EngineContext['models'],
    model: ModelReference,
    { bytes, document: { filename }, mediaType }: { bytes: Buffer; document: DocumentRow; mediaType: string },
    signal: AbortSignal,
  ): Promise<Transcript> {
    const recording = { bytes, extension: getRecordingEnding(mediaType, filename), mimeType: mediaType }
    return models.transcriber(model).listen(recording, signal)
  }

  /** Ends the job of a recording where a retry cannot succeed, and otherwise delays it. */
  async #failed(context: EngineContext, waiting: WaitingRecording, error: unknown, signal: AbortSignal): Promise<void> {
    const { db, now, log, instance } = context
    const { jobKey, spaceKey, document } = waiting
    const [job, space] = [await db.read(findOpenJob(jobKey)), await db.read(findSpaceByKey(spaceKey))]
    if (job === undefined || space === undefined) return
    const { failure, isPermanent, passes, waitMs } = explainFailure(context, waiting, job, error)
    const reason = isPermanent ? failure : findFinalFailure(job, failure, passes, now())
    log.warn(
      { document: document.id, error: failure.message, isGivenUp: reason !== undefined },
      'a recording was not transcribed',
    )
    if (reason === undefined) {
      await retryUntilWritten(context, 'the next attempt of a transcription', signal, () =>
        db.write(
          function* () {
            const until = now() + waitMs
            yield* deferJobs([jobKey], until)
            yield* recordJobFailure(jobKey, failure.message, passes, now())
            yield* failCommitForRetry(job.id, failure, until, passes ? 0 : 1)
          },
          { lock: spaceKey },
        ),
      )
      return
    }
    await retryUntilWritten(context, 'the end of a job', signal, async () => {
      const [claimed] = await db.write(() => claimJobs([job], instance))
      if (claimed !== undefined) await failJob(context, space, { job: claimed, document }, reason)
    })
  }
}

/** Statuses of a provider that is temporarily unavailable for any request. */
const UNAVAILABLE_STATUSES = [408, 429, 502, 503, 504]

/** Explains the failure of a transcription, and whether and when to retry. */
function explainFailure(
  { options }: EngineContext,
  { document: { filename, size_bytes: size }, mediaType }: WaitingRecording,
  job: JobRow,
  error: unknown,
) {
  const trouble = toProviderProblem(error, options.defaultTranscription?.model ?? '')
  const cause = error instanceof KsError && error.cause instanceof ProviderFailure ? error.cause : undefined
  const { kind, status = 0 } = cause ?? {}
  const reason = error instanceof KsError ? error.message : 'the provider could not be asked'
  const refusesIt = kind === 'context-too-long' || (kind === 'status' && [400, 413, 415, 422].includes(status))
  const isSlow = kind === 'timeout'
  const explanation = refusesIt
    ? `${reason}: it may not take ${mediaType}, or not ${Math.ceil(size / 1024 / 1024)} MB of it; a program in \`converters\`, or a provider of plugin \`command\` with \`convert\`, makes another file of it`
    : isSlow
      ? `${reason}: \`ingestTimeoutMs\` of the provider gives it more time`
      : trouble.message
  const passes =
    kind === 'unreachable' || kind === 'circuit-open' || (kind === 'status' && UNAVAILABLE_STATUSES.includes(status))
  return {
    failure: { code: 'provider-failed', message: `${filename} was not transcribed: ${explanation}` },
    // what timed out twice will time out again, and each attempt costs money
    isPermanent: trouble.isPermanent || (isSlow && job.attempts > 0),
    passes,
    waitMs: Math.min(
      MAX_JOB_RETRY_DELAY_MS,
      computeRetryDelayMs({ ...trouble, isPermanent: false }, passes ? job.waits : job.attempts),
    ),
  }
}

/** Reads a file without blocking the event loop for all of its bytes. */
async function readFileBytes({ path, root }: LocalObjectFile): Promise<Buffer> {
  const chunks: Buffer[] = []
  const stream = createReadStream(path, { fd: openInside(path, root), highWaterMark: CHUNK_BYTES })
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
