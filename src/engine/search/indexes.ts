import { KsError } from '../../contract/errors.js'
import { defined } from '../../lib/defined.js'
import { abortable } from './abortable.js'
import { CountAudit } from './count-audit.js'
import { FollowQueue, type Wanted } from './follow-queue.js'
import { type Grace, graceOf } from './grace.js'
import type { GraphLimits } from './graph-keeper.js'
import { IndexProcess, ProcessGoneError } from './index-process.js'
import {
  type FreshBatch,
  IndexProcessDied,
  type IndexStatus,
  type ReplaySource,
  type SearchHits,
  type SearchIndexes,
  type SearchRequest,
  type VectorBatch,
} from './ports.js'
import { toHits, toMessage } from './search-messages.js'
import { checkBatch, checkVectorBatch } from './slices.js'
import { SpaceSession } from './space-session.js'
import type { TextEngine } from './text-index.js'
import { ToldEntries } from './told-entries.js'
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
  giveWay?: () => Promise<void>
  /** sizes from which graphs are built; tests lower them */
  graph?: Partial<GraphLimits>
}

/** Small spaces replay faster than this, so their first answers after a start are complete. */
const GRACE_MS = 500
/** A publication of another gateway justifies a longer wait than an answer that reports itself as incomplete. */
const SEEN_GRACE_MS = 2_000
/**
 * Retry limit of a request whose process is killed from outside. After a crash it is retried once, as it may be the
 * cause.
 */
const MAX_RETRY_MS = 15_000
/** Crashes during work for a space after which its files are discarded and rebuilt. */
const FAULTS_TO_DISCARD = 2
/** Freshly rebuilt files are not the cause of crashes: they are not discarded again within this time. */
const KEEP_REBUILT_MS = 10 * 60_000
/** A failed replay is retried by the next use after this time. */
const RETRY_SESSION_MS = 1_000

interface SessionEntry {
  session: SpaceSession
  since: number
  grace: Grace
}

/**
 * The search indexes of a deployment in a child process that is restarted whenever it ends. No data is lost with it:
 * what an index lacks is replayed from the source.
 */
export function createSearchIndexes(options: SearchIndexesOptions): SearchIndexes {
  return new Indexes(options)
}

class Indexes implements SearchIndexes {
  readonly #options: SearchIndexesOptions
  readonly #process: IndexProcess
  readonly #sessions = new Map<string, SessionEntry>()
  readonly #queues = new Map<string, FollowQueue>()
  /** newest log entry of each space that this process knows of */
  readonly #told = new ToldEntries()
  readonly #faults = new Map<string, number>()
  readonly #discardedAt = new Map<string, number>()
  readonly #audit: CountAudit

  constructor(options: SearchIndexesOptions) {
    this.#options = options
    this.#audit = new CountAudit({
      current: (space) => {
        const session = this.#sessions.get(space)?.session
        return session?.generation === this.#process.generation ? session : undefined
      },
      renew: (space, found) => this.#renew(space, found),
      log: (message) => options.log?.(message),
    })
    this.#process = new IndexProcess({
      settings: {
        dir: options.dir,
        graph: options.graph ?? {},
        maxOpen: options.maxOpen,
        watermarkLagMs: options.watermarkLagMs ?? WATERMARK_LAG_MS,
      },
      ...defined({ textEngine: options.textEngine }),
      giveWay: options.giveWay,
      log: (message) => options.log?.(message),
      onClosed: (space) => this.#sessions.delete(space),
      onGone: (suspects) => {
        this.#sessions.clear()
        for (const space of suspects) this.#faults.set(space, (this.#faults.get(space) ?? 0) + 1)
      },
    })
  }

  async follow(space: string, seq: number, fresh?: FreshBatch): Promise<void> {
    if (fresh !== undefined) checkBatch(fresh)
    if (seq <= this.#at(space)) return
    this.underWay(space, seq)
    await this.#queue(space).push({ seq, ...defined({ fresh }) })
  }

  underWay(space: string, seq: number): void {
    this.#told.note(space, seq)
  }

  async addVectors(space: string, batch: VectorBatch): Promise<void> {
    checkVectorBatch(batch)
    await this.#tried(async () => {
      const { session } = await this.#session(space)
      await session.opened
      await session.addVectors(batch)
    })
    this.#audit.changed(space)
  }

  async activateVectors(space: string, vectorSpace: string): Promise<void> {
    await this.#tried(async () => {
      const { session } = await this.#session(space)
      await session.opened
      await session.load(vectorSpace)
      await this.#process.ask({ op: 'activate', space, vectorSpace }, session.generation)
      session.keepOnly(vectorSpace)
    })
  }

  async search(space: string, request: SearchRequest, signal?: AbortSignal): Promise<SearchHits> {
    const message = toMessage(space, request)
    signal?.throwIfAborted()
    const answer = this.#tried(async () => {
      const entry = await this.#session(space)
      await entry.session.opened
      await entry.grace(message.vectorSpace, true)
      const behind = await this.#untilSeen(space, request.seq ?? 0)
      const reply = await this.#process.ask(message, entry.session.generation)
      return toHits(reply, [...entry.session.notes(message.vectorSpace), ...behind])
    })
    return signal === undefined ? answer : abortable(answer, signal)
  }

  async status(space: string): Promise<IndexStatus> {
    return this.#tried(async () => {
      const { session } = await this.#session(space)
      await session.opened
      const { textEngine, watermark, textCount, vectorSpace, vectorCount, graphCount } = await this.#process.ask(
        { op: 'status', space },
        session.generation,
      )
      const vectors = vectorSpace === undefined ? {} : { vectorSpace }
      const degraded = session.notes((await this.#options.source.head(space)).vectorSpace)
      return { space, textEngine, textWatermark: watermark, textCount, ...vectors, vectorCount, graphCount, degraded }
    })
  }

  async degraded(space: string): Promise<string[]> {
    const { seq, vectorSpace } = await this.#options.source.head(space)
    if (seq === 0) return []
    return this.#tried(async () => {
      const entry = await this.#session(space)
      await entry.grace(vectorSpace, false)
      return entry.session.notes(vectorSpace)
    })
  }

  async settle(space: string): Promise<void> {
    const { seq, vectorSpace } = await this.#options.source.head(space)
    await this.#tried(async () => {
      const { session } = await this.#session(space)
      await session.opened
      await session.settled(vectorSpace)
    })
    await this.follow(space, seq).catch((error: unknown) => this.#options.log?.(String(error)))
  }

  async rebuild(space: string): Promise<void> {
    // no change is applied during a rebuild: its watermark would cover entries that are not there yet
    await this.#queue(space).alone(() =>
      this.#tried(async () => {
        await this.#sessions.get(space)?.session.text.catch(() => {})
        this.#faults.set(space, FAULTS_TO_DISCARD)
        this.#discardedAt.delete(space)
        this.#sessions.delete(space)
        const { session } = await this.#session(space)
        await session.opened
        await session.text
        await session.settled((await this.#options.source.head(space)).vectorSpace)
      }),
    )
  }

  async drop(space: string): Promise<void> {
    this.#audit.forget(space)
    await this.#queues.get(space)?.clear(new KsError('unavailable', `the indexes of space ${space} are being removed`))
    this.#queues.delete(space)
    this.#told.forget(space)
    this.#sessions.delete(space)
    await this.#tried(() => this.#process.ask({ op: 'drop', space }))
    this.#sessions.delete(space)
  }

  async applied(): Promise<Map<string, number>> {
    return new Map([...this.#sessions.keys()].map((space) => [space, this.#at(space)]))
  }

  isRunning(): boolean {
    return this.pid() !== undefined
  }

  pid(): number | undefined {
    return this.#process.pid()
  }

  builds(): number {
    return this.#process.builds()
  }

  hurry(): void {
    this.#process.hurry()
  }

  async close(): Promise<void> {
    const audited = this.#audit.close()
    await this.#process.close()
    await audited
  }

  /** The log entry of a space up to which searches see everything now; 0 = unknown. */
  #at(space: string): number {
    const session = this.#sessions.get(space)?.session
    return session?.generation === this.#process.generation && !session.failed ? session.at : 0
  }

  #untilSeen(space: string, seq: number): Promise<string[]> {
    return this.#told.untilSeen(space, seq, {
      at: this.#at(space),
      follow: () => this.follow(space, seq),
      graceMs: this.#options.graceMs ?? SEEN_GRACE_MS,
    })
  }

  #queue(space: string): FollowQueue {
    let queue = this.#queues.get(space)
    if (queue === undefined) {
      queue = new FollowQueue((wanted) => this.#commit(space, wanted))
      this.#queues.set(space, queue)
    }
    return queue
  }

  async #commit(space: string, wanted: readonly Wanted[]): Promise<void> {
    const { session } = await this.#session(space, 0)
    try {
      await session.text
      const ready = wanted.flatMap(({ fresh }) => (fresh === undefined ? [] : [fresh]))
      await session.follow(Math.max(...wanted.map(({ seq }) => seq)), ready)
      this.#audit.changed(space)
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
  async #session(space: string, patienceMs = RETRY_SESSION_MS): Promise<SessionEntry> {
    await this.#process.start()
    const known = this.#sessions.get(space)
    if (known?.session.generation === this.#process.generation) {
      if (!known.session.failed || performance.now() - known.since < patienceMs) return known
    }
    const keptUntil = (this.#discardedAt.get(space) ?? Number.NEGATIVE_INFINITY) + KEEP_REBUILT_MS
    const discard = (this.#faults.get(space) ?? 0) >= FAULTS_TO_DISCARD && performance.now() > keptUntil
    if (discard) {
      this.#faults.delete(space)
      this.#discardedAt.set(space, performance.now())
    }
    const { source, log, graceMs, vectorsGraceMs } = this.#options
    const session = new SpaceSession(space, this.#process, source, discard, (message) => log?.(message))
    const grace = graceOf(session, graceMs ?? GRACE_MS, vectorsGraceMs)
    const entry = { session, since: performance.now(), grace }
    this.#sessions.set(space, entry)
    this.#audit.changed(space)
    return entry
  }

  /** Replaces a session whose indexes differ from the rows by a new one, which compares and fills them. */
  async #renew(space: string, found: unknown): Promise<void> {
    await this.#queue(space).alone(async () => {
      if (this.#sessions.get(space)?.session !== found) return
      this.#sessions.delete(space)
      const { session } = await this.#session(space)
      await session.text
    })
  }

  /** Repeats an action while the process ends during it. */
  async #tried<T>(action: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + MAX_RETRY_MS
    let faults = 0
    for (;;) {
      try {
        return await action()
      } catch (error) {
        if (!(error instanceof ProcessGoneError)) throw error
        if (error.faulted) faults++
        if (faults > 1 || performance.now() > deadline) throw new IndexProcessDied(error)
      }
    }
  }
}
