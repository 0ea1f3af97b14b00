import { KsError } from '../../../contract/errors.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { DatabaseAddress } from '../../../local/database-address.js'
import type { Driver } from '../../store/driver.js'
import { abortable } from '../abortable.js'
import { CountAudit } from '../count-audit.js'
import { CATCHING_UP, withoutLoading } from '../degraded-reasons.js'
import { FollowQueue, type FollowRequest } from '../follow-queue.js'
import { KnownLogPositions } from '../known-log-positions.js'
import type {
  FreshBatch,
  IndexStatus,
  ReplaySource,
  SearchHits,
  SearchIndexes,
  SearchRequest,
  VectorBatch,
} from '../ports.js'
import { toSearchMessage } from '../search-messages.js'
import { checkBatch, checkVectorBatch } from '../slices.js'
import { VectorGraphs, type VectorGraphsOptions } from './graphs.js'
import { countNodes } from './node-rows.js'
import { prepareTables } from './schema.js'
import { searchSpace } from './search-space.js'
import { ensureSpaceRow, findSpaceRow, getSpaceLock, listWatermarks, removeSpaceRow } from './space-rows.js'
import { BOTH_LEGS, SpaceState } from './space-state.js'
import {
  removeTextRows,
  replayLog,
  SpaceTablesDropped,
  type SpaceTablesWriter,
  toOrderedBatches,
  writePreparedBatches,
  writeVectors,
} from './space-tables.js'
import {
  countVectors,
  findVectorSpaceRow,
  listVectorSpaces,
  removeSomeVectors,
  type VectorSpaceRow,
} from './vector-rows.js'

export interface PostgresIndexesOptions extends Pick<VectorGraphsOptions, 'graphFrom' | 'settleMs'> {
  /** the engine's own driver */
  db: Driver
  address: DatabaseAddress
  source: ReplaySource
  /** id of this gateway */
  gateway: string
  log?: (message: string) => void
  yieldToQueries?: () => Promise<void>
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
  readonly #writing: SpaceTablesWriter
  readonly #graphs: VectorGraphs
  readonly #stop = new AbortController()
  readonly #states = new Map<string, Promise<SpaceState>>()
  /** states whose row was found or created */
  readonly #open = new Map<string, SpaceState>()
  readonly #queues = new Map<string, FollowQueue>()
  /** newest log entry of each space that this process knows of */
  readonly #knownPositions = new KnownLogPositions()
  readonly #audit: CountAudit

  constructor(options: PostgresIndexesOptions, vectorType: number) {
    const { db, address, source, gateway, yieldToQueries, graphFrom, settleMs } = options
    const log = (message: string) => options.log?.(message)
    this.#options = options
    this.#db = db
    this.#writing = { db, source, gateway, vectorType, stop: this.#stop.signal, ...omitUndefined({ yieldToQueries }) }
    this.#graphs = new VectorGraphs({ address, db, log, ...omitUndefined({ graphFrom, settleMs }) })
    this.#audit = new CountAudit({
      findOpen: (space) => this.#open.get(space),
      replace: async (space, audited) => {
        const state = this.#open.get(space)
        if (state === audited) await this.#getQueue(space).runExclusive(() => state.reconcile())
      },
      log,
    })
  }

  async follow(space: string, seq: number, fresh?: FreshBatch): Promise<void> {
    if (fresh !== undefined) checkBatch(fresh)
    if (seq <= this.#appliedPosition(space)) return
    this.announce(space, seq)
    await this.#options.source.inSpace(space, () => this.#getQueue(space).push({ seq, ...omitUndefined({ fresh }) }))
  }

  announce(space: string, seq: number): void {
    this.#knownPositions.note(space, seq)
  }

  async addVectors(space: string, batch: VectorBatch): Promise<void> {
    checkVectorBatch(batch)
    await this.#withState(space, async ({ tables }) => {
      await writeVectors(this.#writing, tables, batch)
      await this.#scheduleGraphBuild(tables.key, batch.vectorSpace)
    })
    this.#audit.noteChange(space)
  }

  async activateVectors(space: string, vectorSpace: string): Promise<void> {
    await this.#withState(space, async (state) => {
      await this.#getQueue(space).runExclusive(() => state.fillVectors())
      const rows = await this.#db.read(listVectorSpaces(state.tables.key))
      const others = rows.filter(({ name }) => name !== vectorSpace)
      await this.#removeVectorSpaces(space, others)
    })
  }

  async search(space: string, request: SearchRequest, signal?: AbortSignal): Promise<SearchHits> {
    const message = toSearchMessage(space, request)
    signal?.throwIfAborted()
    const result = this.#withState(space, async (state) => {
      const { graceMs = GRACE_MS, vectorsGraceMs = VECTORS_GRACE_MS } = this.#options
      const legs = message.vectorSpace === undefined ? (['text'] as const) : BOTH_LEGS
      await state.wait(legs, graceMs, vectorsGraceMs)
      const lagReasons = await this.#waitFor(space, request.seq ?? 0)
      const { position } = state
      const { watermark, ...hits } = await searchSpace(this.#db, state.tables, message, this.#graphs.minVectors)
      // another gateway is rewriting the rows
      if (watermark < position) {
        lagReasons.push(CATCHING_UP)
        state.position = watermark
      }
      return { ...hits, degraded: [...new Set([...state.notes(legs), ...lagReasons, ...hits.degraded])] }
    })
    return await (signal === undefined ? result : abortable(result, signal))
  }

  async status(space: string): Promise<IndexStatus> {
    return await this.#withState(space, async (state) => {
      const { tables } = state
      const { vectorSpace } = await this.#options.source.head(space)
      return await this.#db.read(
        (function* () {
          const row = yield* findSpaceRow(space)
          const rows = yield* listVectorSpaces(tables.key)
          const vectors = rows.find(({ name }) => name === vectorSpace) ?? rows[0]
          const vectorCount = vectors === undefined ? 0 : yield* countVectors(vectors.key)
          return {
            space,
            textEngine: 'postgres' as const,
            textWatermark: row?.watermark ?? 0,
            textCount: yield* countNodes(tables.key),
            ...(vectors === undefined ? {} : { vectorSpace: vectors.name }),
            vectorCount,
            graphCount: vectors?.has_graph === 1 ? vectorCount : 0,
            degraded: state.notes(BOTH_LEGS),
          }
        })(),
      )
    })
  }

  async degradedReasons(space: string): Promise<string[]> {
    if ((await this.#options.source.head(space)).seq === 0) return []
    return await this.#withState(space, async (state) => {
      const { graceMs = GRACE_MS } = this.#options
      await state.wait(BOTH_LEGS, graceMs, graceMs)
      return withoutLoading(state.notes(BOTH_LEGS))
    })
  }

  async settle(space: string): Promise<void> {
    const state = await this.#options.source.inSpace(space, () => this.#getState(space))
    await Promise.allSettled([state.text, state.vectors])
    const { seq } = await this.#options.source.head(space)
    await this.follow(space, seq).catch((error: unknown) => this.#options.log?.(String(error)))
  }

  async rebuild(space: string): Promise<void> {
    await this.#withState(space, (state) => this.#getQueue(space).runExclusive(() => state.rebuild()))
  }

  async drop(space: string): Promise<void> {
    await this.#options.source.inSpace(space, () => this.#drop(space))
  }

  async #drop(space: string): Promise<void> {
    this.#audit.forget(space)
    await this.#queues.get(space)?.clear(new KsError('unavailable', `the indexes of space ${space} are being removed`))
    this.#forget(space)
    this.#knownPositions.forget(space)
    const row = await this.#db.read(findSpaceRow(space))
    if (row === undefined) return
    const tables = { space, key: row.key }
    await removeTextRows(this.#writing, tables)
    await this.#removeVectorSpaces(space, await this.#db.read(listVectorSpaces(row.key)))
    await this.#db.write(() => removeSpaceRow(row.key), getSpaceLock(space))
  }

  async applied(): Promise<Map<string, number>> {
    // other gateways write, too
    const rows = await this.#db.read(listWatermarks([...this.#open.keys()]))
    return new Map(rows.map((row) => [row.space, row.watermark]))
  }

  isRunning(): boolean {
    return !this.#db.broken
  }

  pid(): undefined {
    return undefined
  }

  countBuilds(): number {
    return this.#graphs.building
  }

  /** Nothing to do: writes happen in short slices, and `close` stops before the next one. */
  beginShutdown(): void {}

  async close(): Promise<void> {
    this.#stop.abort()
    const closed = new KsError('unavailable', 'the search rows are being closed')
    await Promise.all([...this.#queues.values()].map((queue) => queue.clear(closed)))
    await Promise.all([this.#audit.close(), this.#graphs.close()])
  }

  /** The log entry of a space up to which searches see everything now; 0 = unknown. */
  #appliedPosition(space: string): number {
    const state = this.#open.get(space)
    return state === undefined || state.failed ? 0 : state.position
  }

  #waitFor(space: string, seq: number): Promise<string[]> {
    return this.#knownPositions.waitFor(space, seq, {
      applied: this.#appliedPosition(space),
      follow: () => this.follow(space, seq),
      graceMs: this.#options.graceMs ?? GRACE_MS,
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
    const state = await this.#getState(space, 0)
    try {
      await state.text
      const to = Math.max(...requests.map(({ seq }) => seq))
      const row = await this.#db.read(findSpaceRow(space))
      state.position = row?.key === state.tables.key ? row.watermark : 0
      // entries that other gateways wrote meanwhile need no analysis here
      const next = toOrderedBatches(requests).filter(({ first }) => first > state.position)
      if (state.position < to && next.length > 0)
        state.position = await writePreparedBatches(this.#writing, state.tables, next)
      if (state.position < to) state.position = await replayLog(this.#writing, state.tables, to)
      const names = requests.flatMap(({ fresh }) => fresh?.vectorSpace ?? [])
      for (const name of new Set(names)) await this.#scheduleGraphBuild(state.tables.key, name)
      this.#audit.noteChange(space)
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
  async #getState(space: string, maxFailedAgeMs = RETRY_MS): Promise<SpaceState> {
    if (this.#stop.signal.aborted) throw new KsError('unavailable', 'the search rows are closed')
    const open = this.#open.get(space)
    if (open?.failed === true && performance.now() - open.createdAt >= maxFailedAgeMs) this.#forget(space)
    const existing = this.#states.get(space)
    if (existing !== undefined) return await existing
    const opening = this.#openState(space)
    this.#states.set(space, opening)
    opening.catch(() => this.#states.delete(space))
    return await opening
  }

  async #openState(space: string): Promise<SpaceState> {
    const existing = await this.#db.read(findSpaceRow(space))
    const row = existing ?? (await this.#db.write(() => ensureSpaceRow(space), getSpaceLock(space)))
    const tables = { space, key: row.key }
    const state = new SpaceState({
      tables,
      writing: this.#writing,
      log: (message) => this.#options.log?.(message),
      onVectors: (vectorSpace) => this.#scheduleGraphBuild(row.key, vectorSpace),
    })
    this.#open.set(space, state)
    state.start()
    return state
  }

  /** Runs work with the state of a space; once more if its rows were removed meanwhile. */
  async #withState<T>(space: string, work: (state: SpaceState) => Promise<T>): Promise<T> {
    return await this.#options.source.inSpace(space, async () => {
      try {
        return await work(await this.#getState(space))
      } catch (error) {
        if (!(error instanceof SpaceTablesDropped)) throw error
        this.#forget(space)
        return await work(await this.#getState(space))
      }
    })
  }

  async #scheduleGraphBuild(space: number, vectorSpace: string): Promise<void> {
    const row = await this.#db.read(findVectorSpaceRow(space, vectorSpace))
    if (row !== undefined) this.#graphs.scheduleBuild(row)
  }

  async #removeVectorSpaces(space: string, rows: readonly VectorSpaceRow[]): Promise<void> {
    for (const { key } of rows)
      while (await this.#db.write(() => removeSomeVectors(key), getSpaceLock(space)))
        await this.#options.yieldToQueries?.()
    await this.#graphs.remove(rows)
  }
}
