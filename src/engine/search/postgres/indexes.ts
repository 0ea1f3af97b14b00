import { KsError } from '../../../contract/errors.js'
import { defined } from '../../../lib/defined.js'
import type { DatabaseAddress } from '../../../local/database-address.js'
import type { Driver } from '../../storage/driver.js'
import { abortable } from '../abortable.js'
import { CountAudit } from '../count-audit.js'
import { FollowQueue, type Wanted } from '../follow-queue.js'
import { CATCHING_UP } from '../notes.js'
import type {
  FreshBatch,
  IndexStatus,
  ReplaySource,
  SearchHits,
  SearchIndexes,
  SearchRequest,
  VectorBatch,
} from '../ports.js'
import { toMessage } from '../search-messages.js'
import { checkBatch, checkVectorBatch } from '../slices.js'
import { ToldEntries } from '../told-entries.js'
import { answer } from './answer.js'
import { Graphs, type GraphsOptions } from './graphs.js'
import { countNodes } from './node-rows.js'
import { prepareTables } from './schema.js'
import { lockOf, makeSpaceRow, removeSpaceRow, spaceRow, watermarks } from './space-rows.js'
import { SpaceState } from './space-state.js'
import {
  countVectors,
  removeSomeOfVectorSpace,
  type VectorSpaceRow,
  vectorSpaceRow,
  vectorSpacesOf,
} from './vector-rows.js'
import { clear, inOrder, replay, ShelfGone, type Writing, writeReady, writeVectors } from './writing.js'

export interface PostgresIndexesOptions extends Pick<GraphsOptions, 'graphFrom' | 'settleMs'> {
  /** the engine's own driver */
  db: Driver
  address: DatabaseAddress
  source: ReplaySource
  /** id of this gateway */
  gateway: string
  log?: (message: string) => void
  giveWay?: () => Promise<void>
  /** maximal wait of the first searches of a space for its replay, default 500 ms */
  graceMs?: number
  /** the same where only vectors still load, default 4 s */
  vectorsGraceMs?: number
}

const GRACE_MS = 500
const VECTORS_GRACE_MS = 4_000
/** A failed repair of rows is retried by the next use after this time. */
const RETRY_MS = 1_000

/**
 * The search indexes as rows of the database, shared by all gateways: text by `tsvector`, vectors by pgvector. A
 * gateway keeps nothing on its disk. What the rows lack is replayed from the source, by one gateway at a time.
 *
 * @throws KsError that states what the database lacks
 */
export async function createPostgresIndexes(options: PostgresIndexesOptions): Promise<SearchIndexes> {
  return new PostgresIndexes(options, await prepareTables(options.address, options.gateway))
}

class PostgresIndexes implements SearchIndexes {
  readonly #options: PostgresIndexesOptions
  readonly #db: Driver
  readonly #writing: Writing
  readonly #graphs: Graphs
  readonly #stop = new AbortController()
  readonly #states = new Map<string, Promise<SpaceState>>()
  /** those that are open */
  readonly #open = new Map<string, SpaceState>()
  readonly #queues = new Map<string, FollowQueue>()
  /** newest log entry of each space that this process knows of */
  readonly #told = new ToldEntries()
  readonly #audit: CountAudit

  constructor(options: PostgresIndexesOptions, vectorType: number) {
    const { db, address, source, gateway, giveWay, graphFrom, settleMs } = options
    const log = (message: string) => options.log?.(message)
    this.#options = options
    this.#db = db
    this.#writing = { db, source, gateway, vectorType, stop: this.#stop.signal, ...defined({ giveWay }) }
    this.#graphs = new Graphs({ address, db, log, ...defined({ graphFrom, settleMs }) })
    this.#audit = new CountAudit({
      current: (space) => this.#open.get(space),
      renew: async (space, found) => {
        const state = this.#open.get(space)
        if (state === found) await this.#queue(space).alone(() => state.reconcile())
      },
      log,
    })
  }

  async follow(space: string, seq: number, fresh?: FreshBatch): Promise<void> {
    if (fresh !== undefined) checkBatch(fresh)
    if (seq <= this.#at(space)) return
    this.underWay(space, seq)
    await this.#options.source.inSpace(space, () => this.#queue(space).push({ seq, ...defined({ fresh }) }))
  }

  underWay(space: string, seq: number): void {
    this.#told.note(space, seq)
  }

  async addVectors(space: string, batch: VectorBatch): Promise<void> {
    checkVectorBatch(batch)
    await this.#withState(space, async ({ shelf }) => {
      await writeVectors(this.#writing, shelf, batch)
      await this.#considerGraph(shelf.key, batch.vectorSpace)
    })
    this.#audit.changed(space)
  }

  async activateVectors(space: string, vectorSpace: string): Promise<void> {
    await this.#withState(space, async (state) => {
      await this.#queue(space).alone(() => state.fillVectors())
      const others = (await this.#db.read(vectorSpacesOf(state.shelf.key))).filter(({ name }) => name !== vectorSpace)
      await this.#removeVectorSpaces(space, others)
    })
  }

  async search(space: string, request: SearchRequest, signal?: AbortSignal): Promise<SearchHits> {
    const message = toMessage(space, request)
    signal?.throwIfAborted()
    const found = this.#withState(space, async (state) => {
      const { graceMs = GRACE_MS, vectorsGraceMs = VECTORS_GRACE_MS } = this.#options
      const withVectors = message.vectorSpace !== undefined
      await state.wait(withVectors, graceMs, vectorsGraceMs)
      const behind = await this.#untilSeen(space, request.seq ?? 0)
      const { at } = state
      const { watermark, ...hits } = await answer(this.#db, state.shelf, message, this.#graphs.from)
      // another gateway is rewriting the rows
      if (watermark < at) {
        behind.push(CATCHING_UP)
        state.at = watermark
      }
      return { ...hits, degraded: [...new Set([...state.notes(withVectors), ...behind, ...hits.degraded])] }
    })
    return await (signal === undefined ? found : abortable(found, signal))
  }

  async status(space: string): Promise<IndexStatus> {
    return await this.#withState(space, async (state) => {
      const { shelf } = state
      const { vectorSpace } = await this.#options.source.head(space)
      return await this.#db.read(
        (function* () {
          const row = yield* spaceRow(space)
          const rows = yield* vectorSpacesOf(shelf.key)
          const vectors = rows.find(({ name }) => name === vectorSpace) ?? rows[0]
          const vectorCount = vectors === undefined ? 0 : yield* countVectors(vectors.key)
          return {
            space,
            textEngine: 'postgres' as const,
            textWatermark: row?.watermark ?? 0,
            textCount: yield* countNodes(shelf.key),
            ...(vectors === undefined ? {} : { vectorSpace: vectors.name }),
            vectorCount,
            graphCount: vectors?.has_graph === 1 ? vectorCount : 0,
            degraded: state.notes(true),
          }
        })(),
      )
    })
  }

  async degraded(space: string): Promise<string[]> {
    if ((await this.#options.source.head(space)).seq === 0) return []
    return await this.#withState(space, async (state) => {
      const { graceMs = GRACE_MS } = this.#options
      await state.wait(true, graceMs, graceMs)
      return state.notes(true)
    })
  }

  async settle(space: string): Promise<void> {
    const state = await this.#options.source.inSpace(space, () => this.#state(space))
    await Promise.allSettled([state.text, state.whole])
    const { seq } = await this.#options.source.head(space)
    await this.follow(space, seq).catch((error: unknown) => this.#options.log?.(String(error)))
  }

  async rebuild(space: string): Promise<void> {
    await this.#withState(space, (state) => this.#queue(space).alone(() => state.rebuild()))
  }

  async drop(space: string): Promise<void> {
    await this.#options.source.inSpace(space, () => this.#drop(space))
  }

  async #drop(space: string): Promise<void> {
    this.#audit.forget(space)
    await this.#queues.get(space)?.clear(new KsError('unavailable', `the indexes of space ${space} are being removed`))
    this.#forget(space)
    this.#told.forget(space)
    const row = await this.#db.read(spaceRow(space))
    if (row === undefined) return
    const shelf = { space, key: row.key }
    await clear(this.#writing, shelf)
    await this.#removeVectorSpaces(space, await this.#db.read(vectorSpacesOf(row.key)))
    await this.#db.write(() => removeSpaceRow(row.key), lockOf(space))
  }

  async applied(): Promise<Map<string, number>> {
    // other gateways write, too
    return new Map((await this.#db.read(watermarks([...this.#open.keys()]))).map((row) => [row.space, row.watermark]))
  }

  isRunning(): boolean {
    return !this.#db.broken
  }

  pid(): undefined {
    return undefined
  }

  builds(): number {
    return this.#graphs.building
  }

  /** Nothing to do: writes happen in short slices, and `close` stops before the next one. */
  hurry(): void {}

  async close(): Promise<void> {
    this.#stop.abort()
    const closed = new KsError('unavailable', 'the search rows are being closed')
    await Promise.all([...this.#queues.values()].map((queue) => queue.clear(closed)))
    await Promise.all([this.#audit.close(), this.#graphs.close()])
  }

  /** The log entry of a space up to which searches see everything now; 0 = unknown. */
  #at(space: string): number {
    const state = this.#open.get(space)
    return state === undefined || state.failed ? 0 : state.at
  }

  #untilSeen(space: string, seq: number): Promise<string[]> {
    return this.#told.untilSeen(space, seq, {
      at: this.#at(space),
      follow: () => this.follow(space, seq),
      graceMs: this.#options.graceMs ?? GRACE_MS,
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
    const state = await this.#state(space, 0)
    try {
      await state.text
      const to = Math.max(...wanted.map(({ seq }) => seq))
      const row = await this.#db.read(spaceRow(space))
      state.at = row?.key === state.shelf.key ? row.watermark : 0
      // entries that other gateways wrote meanwhile need no analysis here
      const next = inOrder(wanted).filter(({ first }) => first > state.at)
      if (state.at < to && next.length > 0) state.at = await writeReady(this.#writing, state.shelf, next)
      if (state.at < to) state.at = await replay(this.#writing, state.shelf, to)
      const names = wanted.flatMap(({ fresh }) => fresh?.vectorSpace ?? [])
      for (const name of new Set(names)) await this.#considerGraph(state.shelf.key, name)
      this.#audit.changed(space)
    } catch (error) {
      if (this.#open.get(space) === state) this.#forget(space)
      throw error
    }
  }

  #forget(space: string): void {
    this.#states.delete(space)
    this.#open.delete(space)
  }

  /** @param maxFailedAgeMs time for which a failed state is kept; searches use what it has */
  async #state(space: string, patienceMs = RETRY_MS): Promise<SpaceState> {
    if (this.#stop.signal.aborted) throw new KsError('unavailable', 'the search rows are closed')
    const open = this.#open.get(space)
    if (open?.failed === true && performance.now() - open.since >= patienceMs) this.#forget(space)
    const known = this.#states.get(space)
    if (known !== undefined) return await known
    const begun = this.#begin(space)
    this.#states.set(space, begun)
    begun.catch(() => this.#states.delete(space))
    return await begun
  }

  async #begin(space: string): Promise<SpaceState> {
    const row =
      (await this.#db.read(spaceRow(space))) ?? (await this.#db.write(() => makeSpaceRow(space), lockOf(space)))
    const shelf = { space, key: row.key }
    const state = new SpaceState({
      shelf,
      writing: this.#writing,
      log: (message) => this.#options.log?.(message),
      onVectors: (vectorSpace) => this.#considerGraph(row.key, vectorSpace),
    })
    this.#open.set(space, state)
    state.begin()
    return state
  }

  /** Runs work with the state of a space; once more if its rows were removed meanwhile. */
  async #withState<T>(space: string, work: (state: SpaceState) => Promise<T>): Promise<T> {
    return await this.#options.source.inSpace(space, async () => {
      try {
        return await work(await this.#state(space))
      } catch (error) {
        if (!(error instanceof ShelfGone)) throw error
        this.#forget(space)
        return await work(await this.#state(space))
      }
    })
  }

  async #considerGraph(space: number, vectorSpace: string): Promise<void> {
    const row = await this.#db.read(vectorSpaceRow(space, vectorSpace))
    if (row !== undefined) this.#graphs.consider(row)
  }

  async #removeVectorSpaces(space: string, rows: readonly VectorSpaceRow[]): Promise<void> {
    for (const { key } of rows)
      while (await this.#db.write(() => removeSomeOfVectorSpace(key), lockOf(space))) await this.#options.giveWay?.()
    await this.#graphs.remove(rows)
  }
}
