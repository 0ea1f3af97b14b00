import { createReadStream } from 'node:fs'
import { KsError } from '../../contract/errors.js'
import { openInside } from '../../local/open-inside.js'
import { type ModelReference, modelName } from '../base/model-reference.js'
import { ProviderFailure } from '../base/provider-failure.js'
import { untilWritten } from '../base/until-written.js'
import type { EngineContext } from '../context.js'
import { troubleOf } from '../models/trouble.js'
import type { Transcript } from '../models/types.js'
import { recordingEnding } from '../parse/recording.js'
import { givenUp, MAX_RETRY_MILLISECONDS } from '../queue/retry-policy.js'
import type { DocumentRow } from '../rows/documents.js'
import { claimJobs, giveBack, goOn, noteFailure, putOff } from '../rows/job-claims.js'
import { type JobRow, openJob } from '../rows/jobs.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { failRetryably } from '../rows/staged-commits.js'
import { hurryRecordings, keepTranscript } from '../rows/transcripts.js'
import { inSpace } from '../spaces/in-space.js'
import type { LocalFile } from '../storage/objects.js'
import { isWriteStopped } from '../storage/write-stop.js'
import { failJob } from './pipeline.js'
import { pauseAfter } from './vector-filler.js'
import type { Work } from './work.js'

/** Jobs that wait here are delayed by this, repeatedly: so a job that becomes due waits in no process. */
const PUT_OFF_MS = 120_000
const RENEWED_MS = 40_000
/** interval of checks whether the current transcription is still needed */
const LOOK_MS = 1000
const CHUNK_BYTES = 1024 * 1024

/** A recording whose job waits for its transcript. */
interface Waiting {
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
export class Listener {
  #context: EngineContext | undefined
  #waiting: Waiting[] = []
  #current: { waiting: Waiting; stop: AbortController; done: Promise<void> } | undefined
  #lastSpace = 0
  #isClosed = false
  #timer: NodeJS.Timeout | undefined
  #renewed = 0
  #looking = Promise.resolve()

  /** Starts; jobs that a crash left are due at once. */
  start(context: EngineContext): void {
    this.#context = context
    context.db.recover(() => hurryRecordings(context.instance))
  }

  /** Soon checks for work: the disk may have space again. */
  wake(): void {
    this.#next()
  }

  /** count of recordings that are being transcribed */
  get active(): number {
    return this.#current === undefined ? 0 : 1
  }

  /** Releases the job of a recording until its transcript exists. */
  async listenTo(space: SpaceRow, { job, document }: Work, mediaType: string): Promise<void> {
    const { db } = this.#started()
    await db.write(() => giveBack(job, Date.now() + PUT_OFF_MS), { lock: space.key })
    const isKnown = [...this.#waiting, ...(this.#current === undefined ? [] : [this.#current.waiting])].some(
      ({ jobKey }) => jobKey === job.key,
    )
    if (!isKnown) this.#waiting.push({ spaceKey: space.key, jobKey: job.key, document, mediaType })
    this.#next()
  }

  /** Stops. The waiting jobs are due at the next start. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    const current = this.#current
    current?.stop.abort(new KsError('unavailable', 'the daemon is stopping'))
    await Promise.allSettled([current?.done, this.#looking])
    const left = current === undefined ? this.#waiting : [...this.#waiting, current.waiting]
    await this.#eachSpace(left, (keys) => goOn(keys)).catch(() => undefined)
  }

  #started(): EngineContext {
    if (this.#context === undefined) throw new KsError('internal', 'a recording was queued before the start')
    return this.#context
  }

  /** Starts with the next recording, of another space than the last one if possible. */
  #next(): void {
    const context = this.#context
    if (context === undefined || this.#isClosed || this.#current !== undefined || isWriteStopped(context)) return
    const other = this.#waiting.findIndex(({ spaceKey }) => spaceKey !== this.#lastSpace)
    const [waiting] = this.#waiting.splice(Math.max(0, other), 1)
    if (waiting === undefined) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    this.#lastSpace = waiting.spaceKey
    const stop = new AbortController()
    const done = inSpace(context.db, waiting.spaceKey, () => this.#listen(context, waiting, stop.signal))
      .catch((error: unknown) => {
        // its job is due again after a while
        if (!stop.signal.aborted) context.log.error({ error: String(error) }, 'a recording could not be transcribed')
      })
      .finally(() => {
        if (this.#isClosed) return
        this.#current = undefined
        this.#next()
      })
    this.#current = { waiting, stop, done }
    this.#timer ??= setInterval(() => {
      this.#looking = this.#looking
        .then(() => this.#look(context))
        .catch((error: unknown) => context.log.debug({ error: String(error) }, 'waiting recordings were not renewed'))
    }, LOOK_MS).unref()
  }

  /** Aborts a transcription that is no longer needed, and renews the delay of the waiting jobs. */
  async #look(context: EngineContext): Promise<void> {
    const { db } = context
    const current = this.#current
    if (current !== undefined) {
      const { jobKey, spaceKey } = current.waiting
      const job = await inSpace(db, spaceKey, () => db.read(openJob(jobKey)))
      if (job === undefined) current.stop.abort(new KsError('already-terminal', 'the job of the recording has ended'))
    }
    if (Date.now() - this.#renewed < RENEWED_MS || isWriteStopped(context)) return
    this.#renewed = Date.now()
    const all = current === undefined ? this.#waiting : [...this.#waiting, current.waiting]
    await this.#eachSpace(all, (keys) => putOff(keys, Date.now() + PUT_OFF_MS))
  }

  async #eachSpace(all: readonly Waiting[], write: (jobKeys: number[]) => ReturnType<typeof goOn>): Promise<void> {
    const { db } = this.#started()
    const keys = new Map<number, number[]>()
    for (const { spaceKey, jobKey } of all) keys.set(spaceKey, [...(keys.get(spaceKey) ?? []), jobKey])
    for (const [spaceKey, some] of keys) await inSpace(db, spaceKey, () => db.write(() => write(some)))
  }

  async #listen(context: EngineContext, waiting: Waiting, signal: AbortSignal): Promise<void> {
    const { db, objects, models } = context
    const { document, mediaType, jobKey, spaceKey } = waiting
    const model = context.options.defaultTranscription
    if (model === undefined || (await db.read(openJob(jobKey))) === undefined) return
    const bytes = await objects.local([document.object_key], async ([file]) => file && (await bytesOf(file)))
    try {
      const heard = bytes && (await this.#heard(models, model, { bytes, document, mediaType }, signal))
      await untilWritten(context, 'a transcript', signal, () =>
        db.write(
          function* () {
            if (heard !== undefined) yield* keepTranscript(document, { ...heard, model: modelName(model) })
            yield* goOn([jobKey])
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

  #heard(
    models: EngineContext['models'],
    model: ModelReference,
    { bytes, document: { filename }, mediaType }: { bytes: Buffer; document: DocumentRow; mediaType: string },
    signal: AbortSignal,
  ): Promise<Transcript> {
    const recording = { bytes, extension: recordingEnding(mediaType, filename), mimeType: mediaType }
    return models.transcriber(model).listen(recording, signal)
  }

  /** Ends the job of a recording where a retry cannot succeed, and otherwise delays it. */
  async #failed(context: EngineContext, waiting: Waiting, error: unknown, signal: AbortSignal): Promise<void> {
    const { db, now, log, instance } = context
    const { jobKey, spaceKey, document } = waiting
    const [job, space] = [await db.read(openJob(jobKey)), await db.read(spaceByKey(spaceKey))]
    if (job === undefined || space === undefined) return
    const { failure, isPermanent, passes, waitMs } = whyUnheard(context, waiting, job, error)
    const reason = isPermanent ? failure : givenUp(job, failure, passes, now())
    log.warn(
      { document: document.id, error: failure.message, isGivenUp: reason !== undefined },
      'a recording was not transcribed',
    )
    if (reason === undefined) {
      await untilWritten(context, 'the next attempt of a transcription', signal, () =>
        db.write(
          function* () {
            const until = Date.now() + waitMs
            yield* putOff([jobKey], until)
            yield* noteFailure(jobKey, failure.message, passes, now())
            yield* failRetryably(job.id, failure, until, passes ? 0 : 1)
          },
          { lock: spaceKey },
        ),
      )
      return
    }
    await untilWritten(context, 'the end of a job', signal, async () => {
      const [claimed] = await db.write(() => claimJobs([job], instance))
      if (claimed !== undefined) await failJob(context, space, { job: claimed, document }, reason)
    })
  }
}

/** Statuses of a provider that is temporarily unavailable for any request. */
const AWAY = [408, 429, 502, 503, 504]

/** Explains the failure of a transcription, and whether and when to retry. */
function whyUnheard(
  { options }: EngineContext,
  { document: { filename, size_bytes: size }, mediaType }: Waiting,
  job: JobRow,
  error: unknown,
) {
  const trouble = troubleOf(error, options.defaultTranscription?.model ?? '')
  const cause = error instanceof KsError && error.cause instanceof ProviderFailure ? error.cause : undefined
  const { kind, status = 0 } = cause ?? {}
  const said = error instanceof KsError ? error.message : 'the provider could not be asked'
  const refusesIt = kind === 'context-too-long' || (kind === 'status' && [400, 413, 415, 422].includes(status))
  const isSlow = kind === 'timeout'
  const advice = refusesIt
    ? `: it may not take ${mediaType}, or not ${Math.ceil(size / 1024 / 1024)} MB of it; a program in \`converters\`, or a provider of plugin \`command\` with \`convert\`, makes another file of it`
    : isSlow
      ? ': `ingestTimeoutMs` of the provider gives it more time'
      : trouble.message.slice(said.length)
  const passes = kind === 'unreachable' || kind === 'circuit-open' || (kind === 'status' && AWAY.includes(status))
  return {
    failure: { code: 'provider-failed', message: `${filename} was not transcribed: ${said}${advice}` },
    // what timed out twice will time out again, and each attempt costs money
    isPermanent: trouble.isPermanent || (isSlow && job.attempts > 0),
    passes,
    waitMs: Math.min(
      MAX_RETRY_MILLISECONDS,
      pauseAfter({ ...trouble, isPermanent: false }, passes ? job.waits : job.attempts),
    ),
  }
}

/** Reads a file without blocking the event loop for all of its bytes. */
async function bytesOf({ path, root }: LocalFile): Promise<Buffer> {
  const chunks: Buffer[] = []
  const stream = createReadStream(path, { fd: openInside(path, root), highWaterMark: CHUNK_BYTES })
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
