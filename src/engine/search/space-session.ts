import { setImmediate as nextTurn } from 'node:timers/promises'
import { confirmVectors, type StartedVectorLoad, toStartedLoad } from './confirm-vectors.js'
import { type CountComparison, type CountDrift, compareCounts, describeTextGap, type SearchLeg } from './count-check.js'
import { CATCHING_UP, COUNTING, LOADING } from './degraded-reasons.js'
import { type IndexProcess, IndexProcessGoneError } from './index-process.js'
import type { FreshBatch, ReplaySource, ReplaySourceHead, VectorBatch } from './ports.js'
import type { CountReply, IndexRequest, LoadRequest, OpenReply, StageRequest, VectorOrigin } from './protocol.js'
import { toStageSlices, toVectorSlices, withoutInvalidVectors } from './slices.js'

/**
 * One space in one index process: finds out what the indexes lack and replays it from the source. When the process ends
 * or closes the space, the session is discarded and the next use starts another one.
 */
export class SpaceSession {
  readonly generation: number
  /** settles when the process has opened the space */
  readonly opened: Promise<OpenReply>
  /** the replay failed; searches use what exists */
  failed = false
  /** settles when the text index has caught up */
  readonly text: Promise<void>
  /** why the text index is incomplete; undefined when it is complete */
  textNote: string | undefined = CATCHING_UP
  /** log entry up to which searches see everything; 0 while that is unknown */
  position = 0
  /** an index still differs from the rows after it was filled, or its vectors were not loaded */
  stillDiffers = false
  #textShort = false
  readonly #drift: CountDrift = { nodes: 0, vectors: 0 }
  #pendingAdditions = 0
  /** number of slices sent to the text index since the last commit */
  #staged = 0
  readonly #space: string
  readonly #process: IndexProcess
  readonly #source: ReplaySource
  readonly #log: (message: string) => void
  readonly #loads = new Map<string, VectorSpaceLoad>()
  readonly #firstLoad: Promise<OpenReply & { head: ReplaySourceHead }>
  /** no vectors existed when the session began, so every later vector space is complete here */
  #hasAllVectors = false

  constructor(
    space: string,
    process: IndexProcess,
    source: ReplaySource,
    { discard, log }: { discard: boolean; log: (message: string) => void },
  ) {
    this.#space = space
    this.#process = process
    this.#source = source
    this.#log = log
    this.generation = process.generation
    this.opened = process.request({ op: 'open', space, discard }, this.generation)
    this.#firstLoad = this.#startFirstLoad()
    this.text = this.#catchUp()
    this.text.catch((error: unknown) => {
      this.failed = true
      this.textNote = `the text index is behind: ${toReason(error)}`
    })
  }

  /** Reasons why a search of this vector space is incomplete now. */
  notes(vectorSpace: string | undefined): string[] {
    const load = vectorSpace === undefined ? undefined : this.#loads.get(vectorSpace)
    return [this.textNote, load?.note].filter((note) => note !== undefined)
  }

  /** Resolves when everything that a search needs is loaded, or has failed to load. */
  async waitForLoads(vectorSpace: string | undefined): Promise<void> {
    await this.#firstLoad.catch(() => {})
    await Promise.allSettled([this.text, vectorSpace === undefined ? undefined : this.load(vectorSpace)])
  }

  isSettled(vectorSpace: string | undefined): boolean {
    if (this.textNote !== undefined) return false
    if (vectorSpace === undefined || this.#hasAllVectors) return true
    const load = this.#loads.get(vectorSpace)
    return load !== undefined && load.note === undefined
  }

  /** Whether the text is complete (perhaps still counted) and the vectors of a vector space are loading. */
  isLoading(vectorSpace: string | undefined): boolean {
    const hasText = this.textNote === undefined || this.textNote === COUNTING
    return hasText && vectorSpace !== undefined && this.#loads.get(vectorSpace)?.note === LOADING
  }

  /** Loads the vectors of a vector space, once. */
  load(vectorSpace: string, started?: StartedVectorLoad): Promise<unknown> {
    if (this.#hasAllVectors) return Promise.resolve()
    const existing = this.#loads.get(vectorSpace)
    if (existing !== undefined) return existing.done
    const load: VectorSpaceLoad = { done: this.#loadVerified(vectorSpace, started), note: LOADING }
    this.#loads.set(vectorSpace, load)
    load.done.then(
      (note) => {
        load.note = note
      },
      (error: unknown) => {
        load.note = `vectors are missing: ${toReason(error)}`
        this.stillDiffers = true
        if (!(error instanceof IndexProcessGoneError))
          this.#log(`vectors of a space were not loaded: ${toReason(error)}`)
      },
    )
    return load.done
  }

  /** Forgets other vector spaces, which were removed. */
  keepOnly(vectorSpace: string): void {
    for (const name of this.#loads.keys()) if (name !== vectorSpace) this.#loads.delete(name)
  }

  /**
   * Applies the index log up to the entry `to`, after the initial replay. Entries have no gaps: a prepared batch is used
   * only where it starts right after the position of the index; the rest is read from the log.
   */
  async follow(to: number, batches: readonly FreshBatch[]): Promise<void> {
    let sent: SentIndexRequest[] = []
    let { position } = this
    for (const batch of [...batches].sort((a, b) => a.first - b.first)) {
      if (batch.first > position + 1) {
        if (sent.length > 0) await this.#finish(sent, position)
        sent = []
        await this.#replay(position, batch.first - 1)
        position = batch.first - 1
      }
      if (batch.first !== position + 1) continue
      for (const slice of toStageSlices(this.#space, batch)) {
        await this.#process.yieldToQueries()
        sent.push(await this.#stage(slice))
      }
      position = batch.seq
    }
    if (sent.length > 0) await this.#finish(sent, position)
    if (position < to) await this.#replay(position, to)
    this.position = Math.max(position, to)
  }

  async addVectors(batch: VectorBatch, origin: VectorOrigin = 'change'): Promise<void> {
    const sent: SentIndexRequest[] = []
    this.#pendingAdditions++
    try {
      for (const slice of toVectorSlices(this.#space, batch, origin)) {
        await this.#process.yieldToQueries()
        sent.push(await this.#send(slice))
      }
      await Promise.all(sent.map(({ answer }) => answer))
    } finally {
      this.#pendingAdditions--
    }
  }

  /** Compares both indexes with the rows, once everything that the session began to load is there. */
  async compare(signal: AbortSignal): Promise<CountComparison> {
    const { vectorSpace } = await this.#source.expectedCounts(this.#space)
    await this.waitForLoads(vectorSpace)
    if (this.failed || this.stillDiffers || this.#pendingAdditions > 0) return { state: 'moving' }
    return this.#compare(['text', 'vectors'], signal)
  }

  #compare(legs: readonly SearchLeg[], signal?: AbortSignal): Promise<CountComparison> {
    return compareCounts({
      source: this.#source,
      space: this.#space,
      legs,
      drift: this.#drift,
      signal,
      countIndex: (vectorSpace) => this.#countIndex(vectorSpace),
    })
  }

  #countIndex(vectorSpace: string): Promise<CountReply> {
    return this.#process.request({ op: 'count', space: this.#space, vectorSpace }, this.generation)
  }

  /** Begins to load the vectors in use before any caller waits for them, so that a graph file is read first. */
  async #startFirstLoad(): Promise<OpenReply & { head: ReplaySourceHead }> {
    const opened = await this.opened
    const head = await this.#source.head(this.#space)
    const { vectorSpace, dimension } = head
    this.#hasAllVectors = head.seq === 0 && vectorSpace === undefined
    // sent before any change can follow: a graph file needs an empty store
    const sent = vectorSpace && dimension && (await this.#sendPhase(vectorSpace, dimension, 'begin'))
    if (vectorSpace !== undefined)
      this.load(vectorSpace, sent ? toStartedLoad(dimension, sent) : undefined).catch(() => {})
    return { ...opened, head }
  }

  async #catchUp(): Promise<void> {
    const space = this.#space
    const { head, watermark, textCount } = await this.#firstLoad
    // an index that is ahead of its source is older than a restore
    const usable = watermark > 0 && watermark >= (await this.#source.oldestEntry(space)) && watermark <= head.seq
    if (!usable && textCount + watermark > 0) await this.#process.request({ op: 'reset', space }, this.generation)
    const from = usable ? watermark : 0
    if (from < head.seq) await this.#replay(from, head.seq)
    else if (from > 0) this.textNote = COUNTING
    this.position = await this.#verifyText({ seq: head.seq, wasFilled: from === 0 })
    if (!this.#textShort) this.textNote = undefined
  }

  /**
   * Compares the text index with the rows, and replays changes that arrive meanwhile. An index that differs is rebuilt,
   * once.
   *
   * @param wasFilled the index was filled from nothing just now
   * @returns the final position of the index
   */
  async #verifyText({ seq, wasFilled }: { seq: number; wasFilled: boolean }): Promise<number> {
    for (let comparisons = 0; comparisons < MAX_COMPARISONS; comparisons++) {
      const { textCount } = await this.#countIndex('')
      const rows = await this.#source.expectedCounts(this.#space)
      if (rows.seq === seq && rows.nodes === textCount) return seq
      const counted = rows.seq === seq ? await this.#source.countRows(this.#space) : rows
      const { seq: newest } = await this.#source.expectedCounts(this.#space)
      if (newest !== seq) {
        await this.#replay(seq, newest)
        seq = newest
        continue
      }
      this.#drift.nodes = rows.nodes - counted.nodes
      if (counted.nodes === textCount) return seq
      this.textNote = describeTextGap(textCount, counted.nodes)
      this.#log(`${this.textNote} in space ${this.#space}${wasFilled ? '' : ': it is rebuilt'}`)
      if (wasFilled) {
        this.stillDiffers = true
        this.#textShort = true
        return seq
      }
      wasFilled = true
      await this.#process.request({ op: 'reset', space: this.#space }, this.generation)
      await this.#replay(0, seq)
    }
    return seq
  }

  /**
   * Replays the changes after `from` up to `to`. From 0, the watermark changes only at the end: live nodes arrive in no
   * order that a restart could continue. Otherwise it stays one entry behind the replay.
   */
  async #replay(from: number, to: number): Promise<void> {
    let uncommitted = 0
    let complete = from
    let sent: SentIndexRequest[] = []
    let previous = from
    for await (const batch of this.#source.changes(this.#space, from, to)) {
      if (batch.seq > previous) complete = previous
      previous = Math.max(previous, batch.seq)
      for (const slice of toStageSlices(this.#space, batch)) sent.push(await this.#stage(slice))
      uncommitted += batch.add.length + batch.remove.length
      if (uncommitted < MAX_REPLAY_COMMIT_NODES) continue
      await this.#finish(sent, from === 0 ? 0 : Math.min(complete, to))
      uncommitted = 0
      sent = []
    }
    await this.#finish(sent, to)
  }

  /** Loads a vector space, and loads it again if it differs from the rows. @returns the remaining difference */
  async #loadVerified(vectorSpace: string, started: StartedVectorLoad | undefined): Promise<string | undefined> {
    await this.#stream(vectorSpace, 'begin', started)
    const first = await this.#compareVectors(vectorSpace)
    if (first === undefined) return undefined
    this.#log(`${first} in space ${this.#space}: they are loaded again`)
    await this.#stream(vectorSpace, 'restart')
    const second = await this.#compareVectors(vectorSpace)
    if (second !== undefined) this.stillDiffers = true
    return second
  }

  /** Describes how the vectors differ from the rows. Only the active vector space has rows to compare with. */
  async #compareVectors(vectorSpace: string): Promise<string | undefined> {
    if ((await this.#source.expectedCounts(this.#space)).vectorSpace !== vectorSpace) return undefined
    const compared = await this.#compare(['vectors'])
    return compared.state === 'different' ? compared.sentence : undefined
  }

  async #stream(vectorSpace: string, phase: 'begin' | 'restart', started?: StartedVectorLoad): Promise<void> {
    if (started !== undefined && (await started.filled) > 0) return this.#confirm(vectorSpace, started.dimension)
    let dimension: number | undefined
    let isLoading = started !== undefined
    for await (const batch of this.#source.vectors(this.#space, vectorSpace)) {
      dimension = batch.dimension
      if (!isLoading) await (await this.#sendPhase(vectorSpace, dimension, phase)).answer
      isLoading = true
      await this.addVectors(withoutInvalidVectors(batch), 'replay')
      await nextTurn()
    }
    dimension ??= (await this.#source.head(this.#space)).dimension
    if (isLoading && dimension !== undefined) await (await this.#sendPhase(vectorSpace, dimension, 'end')).answer
  }

  async #confirm(vectorSpace: string, dimension: number): Promise<void> {
    const space = this.#space
    const target = { space, vectorSpace, dimension, generation: this.generation }
    const missingKeys = await confirmVectors(this.#process, this.#source, target)
    for await (const batch of this.#source.vectorsOfNodes(space, vectorSpace, missingKeys))
      await this.addVectors(withoutInvalidVectors(batch), 'replay')
    await (await this.#sendPhase(vectorSpace, dimension, 'end')).answer
  }

  #sendPhase(vectorSpace: string, dimension: number, phase: LoadRequest['phase']): Promise<SentIndexRequest> {
    return this.#send({ op: 'load', space: this.#space, vectorSpace, dimension, phase })
  }

  async #finish(sent: readonly SentIndexRequest[], watermark: number): Promise<void> {
    await Promise.all(sent.map(({ answer }) => answer))
    await this.#process.yieldToQueries()
    const staged = this.#staged
    this.#staged = 0
    await this.#process.request({ op: 'commit', space: this.#space, watermark, staged }, this.generation)
  }

  #stage(slice: StageRequest): Promise<SentIndexRequest> {
    this.#staged++
    return this.#send(slice)
  }

  /** Resolves when the request is sent, which may wait for the window; the answer comes later. */
  #send = (request: IndexRequest): Promise<SentIndexRequest> => this.#process.send(request, this.generation)
}

interface SentIndexRequest {
  answer: Promise<unknown>
}

interface VectorSpaceLoad {
  /** resolves with the difference of the loaded vectors from the rows, if any */
  done: Promise<string | undefined>
  note: string | undefined
}

function toReason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Changes that arrive during a comparison are followed at most this often; later ones are compared later. */
const MAX_COMPARISONS = 20

/** A replay commits after this many nodes: changes of other spaces wait for a commit. */
const MAX_REPLAY_COMMIT_NODES = 8_000
