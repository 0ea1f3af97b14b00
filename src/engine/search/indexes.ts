import { KsError } from '../../contract/errors.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { abortable } from './abortable.js'
import { CountAudit } from './count-audit.js'
import { withoutLoading } from './degraded-reasons.js'
import { FollowQueue, type FollowRequest } from './follow-queue.js'
import { createGrace, type GraceWait } from './grace.js'
import type { GraphLimits } from './graph-keeper.js'
import { IndexProcess, IndexProcessGoneError } from './index-process.js'
import { KnownLogPositions } from './known-log-positions.js'
import {
  type FreshBatch,
  IndexProcessFailedError,
  type IndexStatus,
  type ReplaySource,
  type SearchHits,
  type SearchIndexes,
  type SearchRequest,
  type VectorBatch,
} from './ports.js'
import { toSearchHits, toSearchMessage } from './search-messages.js'
import { checkBatch, checkVectorBatch } from './slices.js'
import { SpaceSession } from './space-session.js'
import type { TextEngine } from './text-index.js'
import { WATERMARK_LAG_MS } from './watermark.js'

export interface SearchIndexesOptions {
  /** directory of the index files; everything in it can be rebuilt */
  dir: string
  /** source of what the indexes lack */
  source: ReplaySource
  log?: (message: string) => void
  /** forces FTS5 even where Tantivy would load; absent = the environment variable `KS_TEXT_INDEX` decides */
  textEngine?: TextEngine
  /** maximal number of open spaces, default 32 */
  maxOpen?: number
  /** maximal wait of the first searches of a space for its replay, default 500 ms */
  graceMs?: number
  /** the same where the text is complete and only vectors still load, default 4 s */
  vectorsGraceMs?: number
  /** delay of a watermark on disk, default 2 s */
  watermarkLagMs?: number
  /** waits between changes while searches have priority */
  yieldToQueries?: () => Promise<void>
  /** sizes from which graphs are built; tests lower them */
  graph?: Partial<GraphLimits>
}

/** Small spaces replay faster than this, so their first answers after a start are complete. */
const GRACE_MS = 500
/** A publication of another gateway justifies a longer wait than an answer that reports itself as incomplete. */
const OTHER_GATEWAY_GRACE_MS = 2_000
/**
 * Retry limit of a request whose process is killed from outside. After a crash it is retried once, as it may be the
 * cause.
 */
const MAX_RETRY_MS = 15_000
/** Crashes during work for a space after which its files are discarded and rebuilt. */
const MAX_CRASHES = 2
/** Freshly rebuilt files are not the cause of crashes: they are not discarded again within this time. */
const MIN_REBUILD_INTERVAL_MS = 10 * 60_000
/** A failed replay is retried by the next use after this time. */
const RETRY_SESSION_MS = 1_000

interface SessionEntry {
  session: SpaceSession
  since: number
  grace: GraceWait
}

/**
 * The search indexes of a deployment in a child process that is restarted whenever it ends. No data is lost with it:
 * what an index lacks is replayed from the source.
 */
export function createSearchIndexes(options: SearchIndexesOptions): SearchIndexes {
  return new ProcessIndexes(options)
}

class ProcessIndexes implements SearchIndexes {
  readonly #options: SearchIndexesOptions
  readonly #process: IndexProcess
  readonly #sessions = new Map<string, SessionEntry>()
  readonly #queues = new Map<string, FollowQueue>()
  /** newest log entry of each space that this process knows of */
  readonly #knownPositions = new KnownLogPositions()
  readonly #crashes = new Map<string, number>()
  readonly #discardedAt = new Map<string, number>()
  readonly #audit: CountAudit

  constructor(options: SearchIndexesOptions) {
    this.#options = options
    this.#audit = new CountAudit({
      findOpen: (space) => {
        const session = this.#sessions.get(space)?.session
        return session?.generation === this.#process.generation ? session : undefined
      },
      replace: (space, audited) => this.#replaceSession(space, audited),
      log: (message) => options.log?.(message),
    })
    this.#process = new IndexProcess({
      settings: {
        dir: options.dir,
        graph: options.graph ?? {},
        maxOpen: options.maxOpen,
        watermarkLagMs: options.watermarkLagMs ?? WATERMARK_LAG_MS,
      },
      ...omitUndefined({ textEngine: options.textEngine }),
      yieldToQueries: options.yieldToQueries,
      log: (message) => options.log?.(message),
      onClosed: (space) => this.#sessions.delete(space),
      onGone: (suspects) => {
        this.#sessions.clear()
        for (const space of suspects) this.#crashes.set(space, (this.#crashes.get(space) ?? 0) + 1)
      },
    })
  }

  async follow(space: string, seq: number, fresh?: FreshBatch): Promise<void> {
    if (fresh !== undefined) checkBatch(fresh)
    if (seq <= this.#appliedPosition(space)) return
    this.announce(space, seq)
    await this.#getQueue(space).push({ seq, ...omitUndefined({ fresh }) })
  }

  announce(space: string, seq: number): void {
    this.#knownPositions.note(space, seq)
  }

  async addVectors(space: string, batch: VectorBatch): Promise<void> {
    checkVectorBatch(batch)
    await this.#withRetries(async () => {
      const { session } = await this.#getSession(space)
      await session.opened
      await session.addVectors(batch)
    })
    this.#audit.noteChange(space)
  }

  async activateVectors(space: string, vectorSpace: string): Promise<void> {
    await this.#withRetries(async () => {
      const { session } = await this.#getSession(space)
      await session.opened
      await session.load(vectorSpace)
      await this.#process.request({ op: 'activate', space, vectorSpace }, session.generation)
      session.keepOnly(vectorSpace)
    })
  }

  async search(space: string, request: SearchRequest, signal?: AbortSignal): Promise<SearchHits> {
    const message = toSearchMessage(space, request)
    signal?.throwIfAborted()
    const answer = this.#withRetries(async () => {
      const entry = await this.#getSession(space)
      await entry.session.opened
      await entry.grace(message.vectorSpace, 'search')
      const lagReasons = await this.#waitFor(space, request.seq ?? 0)
      const reply = await this.#process.request(message, entry.session.generation)
      return toSearchHits(reply, [...entry.session.notes(message.vectorSpace), ...lagReasons])
    })
    return signal === undefined ? answer : abortable(answer, signal)
  }

  async status(space: string): Promise<IndexStatus> {
    return this.#withRetries(async () => {
      const { session } = await this.#getSession(space)
      await session.opened
      const { textEngine, watermark, textCount, vectorSpace, vectorCount, graphCount } = await this.#process.request(
        { op: 'status', space },
        session.generation,
      )
      const vectors = vectorSpace === undefined ? {} : { vectorSpace }
      const degraded = session.notes((await this.#options.source.head(space)).vectorSpace)
      return { space, textEngine, textWatermark: watermark, textCount, ...vectors, vectorCount, graphCount, degraded }
    })
  }

  async degradedReasons(space: string): Promise<string[]> {
    const { seq, vectorSpace } = await this.#options.source.head(space)
    if (seq === 0) return []
    return this.#withRetries(async () => {
      const entry = await this.#getSession(space)
      await entry.grace(vectorSpace, 'status')
      return withoutLoading(entry.session.notes(vectorSpace))
    })
  }

  async settle(space: string): Promise<void> {
    const { seq, vectorSpace } = await this.#options.source.head(space)
    await this.#withRetries(async () => {
      const { session } = await this.#getSession(space)
      await session.opened
      await session.waitForLoads(vectorSpace)
    })
    await this.follow(space, seq).catch((error: unknown) => this.#options.log?.(String(error)))
  }

  async rebuild(space: string): Promise<void> {
    // no change is applied during a rebuild: its watermark would cover entries that are not there yet
    await this.#getQueue(space).runExclusive(() =>
      this.#withRetries(async () => {
        await this.#sessions.get(space)?.session.text.catch(() => {})
        this.#crashes.set(space, MAX_CRASHES)
        this.#discardedAt.delete(space)
        this.#sessions.delete(space)
        const { session } = await this.#getSession(space)
        await session.opened
        await session.text
        await session.waitForLoads((await this.#options.source.head(space)).vectorSpace)
      }),
    )
  }

  async drop(space: string): Promise<void> {
    this.#audit.forget(space)
    await this.#queues.get(space)?.clear(new KsError('unavailable', `the indexes of space ${space} are being removed`))
    this.#queues.delete(space)
    this.#knownPositions.forget(space)
    this.#sessions.delete(space)
    await this.#withRetries(() => this.#process.request({ op: 'drop', space }))
    this.#sessions.delete(space)
  }

  async applied(): Promise<Map<string, number>> {
    return new Map([...this.#sessions.keys()].map((space) => [space, this.#appliedPosition(space)]))
  }

  isRunning(): boolean {
    return this.pid() !== undefined
  }

  pid(): number | undefined {
    return this.#process.pid()
  }

  countBuilds(): number {
    return this.#process.countBuilds()
  }

  beginShutdown(): void {
    this.#process.beginShutdown()
  }

  async close(): Promise<void> {
    const audited = this.#audit.close()
    await this.#process.close()
    await audited
  }

  /** The log entry of a space up to which searches see everything now; 0 = unknown. */
  #appliedPosition(space: string): number {
    const session = this.#sessions.get(space)?.session
    return session?.generation === this.#process.generation && !session.failed ? session.position : 0
  }

  #waitFor(space: string, seq: number): Promise<string[]> {
    return this.#knownPositions.waitFor(space, seq, {
      applied: this.#appliedPosition(space),
      follow: () => this.follow(space, seq),
      graceMs: this.#options.graceMs ?? OTHER_GATEWAY_GRACE_MS,
    })
  }

  #getQueue(space: string): FollowQueue {
    let queue = this.#queues.get(space)
    if (queue === undefined) {
      queue = new FollowQueue((requests) => this.#commit(space, requests))
      this.#queues.set(space, queue)
    }
    return queue
  }

  async #commit(space: string, requests: readonly FollowRequest[]): Promise<void> {
    const { session } = await this.#getSession(space, 0)
    try {
      await session.text
      const ready = requests.flatMap(({ fresh }) => (fresh === undefined ? [] : [fresh]))
      await session.follow(Math.max(...requests.map(({ seq }) => seq)), ready)
      this.#audit.noteChange(space)
    } catch (error) {
      // Entries that were not applied are still in the log: a new session reads them before it applies later ones.
      if (this.#sessions.get(space)?.session === session) this.#sessions.delete(space)
      throw error
    }
  }

  /**
   * The session of a space in the running process.
   *
   * @param maxFailedAgeMs time for which a session with a failed replay is kept; searches use what it has
   */
  async #getSession(space: string, maxFailedAgeMs = RETRY_SESSION_MS): Promise<SessionEntry> {
    await this.#process.start()
    const existing = this.#sessions.get(space)
    if (existing?.session.generation === this.#process.generation) {
      if (!existing.session.failed || performance.now() - existing.since < maxFailedAgeMs) return existing
    }
    const rebuildAllowedAt = (this.#discardedAt.get(space) ?? Number.NEGATIVE_INFINITY) + MIN_REBUILD_INTERVAL_MS
    const discard = (this.#crashes.get(space) ?? 0) >= MAX_CRASHES && performance.now() > rebuildAllowedAt
    if (discard) {
      this.#crashes.delete(space)
      this.#discardedAt.set(space, performance.now())
    }
    const { source, log, graceMs, vectorsGraceMs } = this.#options
    const session = new SpaceSession(space, this.#process, source, { discard, log: (message) => log?.(message) })
    const grace = createGrace(session, graceMs ?? GRACE_MS, vectorsGraceMs)
    const entry = { session, since: performance.now(), grace }
    this.#sessions.set(space, entry)
    this.#audit.noteChange(space)
    return entry
  }

  /** Replaces a session whose indexes differ from the rows by a new one, which compares and fills them. */
  async #replaceSession(space: string, audited: unknown): Promise<void> {
    await this.#getQueue(space).runExclusive(async () => {
      if (this.#sessions.get(space)?.session !== audited) return
      this.#sessions.delete(space)
      const { session } = await this.#getSession(space)
      await session.text
    })
  }

  /** Repeats an action while the process ends during it. */
  async #withRetries<T>(action: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + MAX_RETRY_MS
    let faults = 0
    for (;;) {
      try {
        return await action()
      } catch (error) {
        if (!(error instanceof IndexProcessGoneError)) throw error
        if (error.isCrash) faults++
        if (faults > 1 || performance.now() > deadline) throw new IndexProcessFailedError(error)
      }
    }
  }
}
