import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelReference } from '../../base/model-reference.js'
import { computeRetryDelayMs } from '../../base/provider-problem.js'
import { retryUntilWritten } from '../../base/retry-until-written.js'
import { RowRunner } from '../../base/runs.js'
import { readClock } from '../../base/statements.js'
import { type EngineContext, getQuotas, getSpaceAccount, runInSpace } from '../../library/index.js'
import {
  estimateTokens,
  type Generator,
  mayBeCausedByTexts,
  TokenMeter,
  toProviderProblem,
} from '../../models/index.js'
import type { Read as Program } from '../../store/program.js'
import { IS_READ } from '../../store/rows/derivations.js'
import {
  addReadingProgress,
  endReading,
  parseReadingModel,
  type ReadingRow,
  readingRows,
  resetReadingRetries,
  setReadingCounts,
} from '../../store/rows/graph/readings.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import { isWriteStopped } from '../../store/write-stop.js'
import type { Derivations } from '../derived/derivation.js'
import type { GraphExtraction } from '../derived/graph/extraction.js'
import { type GraphCapacity, loadGraphCapacity, storeExtraction } from '../derived/graph/store.js'
import { countLiveDocuments } from '../derived/live-versions.js'
import { findNodeText, type LivePassage, listPassagesAfter } from '../rows/graph/model-reads.js'
import { addExtraction, buildExtractionPrompt, MAX_REPLY_TOKENS, type ModelExtraction } from './model-extraction.js'
import { requestExtraction } from './model-reader.js'
import { findExtraction, type PassageNode, storeModelExtraction } from './stored-extractions.js'

/** Passages looked up at a time, and concurrent requests of one reading. */
const MAX_SLICE_PASSAGES = 200
const MAX_CONCURRENT_REQUESTS = 4
/** Interval of checks whether the rules have read everything, and time without progress after which they are stuck. */
const RULES_CHECK_INTERVAL_MS = 500
const MAX_STALL_MS = 60_000
/** Consecutive text rejections after which the model is considered the cause. */
const MAX_CONSECUTIVE_REJECTIONS = 8
/** A passage without an answer after this many attempts is skipped. */
const MAX_ATTEMPTS = 4

/** State of a running reading. */
interface ReadingRun {
  row: ReadingRow
  space: SpaceRow
  model: ModelReference
  generator: Generator
  capacity: GraphCapacity
  signal: AbortSignal
  /** number of consecutive calls that were rejected for their text */
  rejections: number
}

type PassageRead = { passage: LivePassage; node: PassageNode; extraction?: ModelExtraction; failure?: unknown }

/**
 * Reads complete spaces for their graph: the rules first, then the reasoning model of the profile, within a budget of
 * tokens. A reading's position is in its row, together with the model's reply for each text, so a restart continues it.
 */
export class GraphReadings extends RowRunner<EngineContext, ReadingRow> {
  protected override readonly rowKind = 'reading'
  readonly #derivations: Derivations

  constructor(context: EngineContext, derivations: Derivations) {
    super(context)
    this.#derivations = derivations
  }

  /** Resumes interrupted readings; the cause of a model's failure may have been removed since. */
  override start(): void {
    const { db, instance } = this.context
    db.recover(() => readingRows.retryNow(instance))
    super.start()
  }

  /** number of readings that run or will run without intervention */
  override get active(): Promise<number> {
    return this.listOpen().then(({ length }) => length)
  }

  protected override isPaused(): boolean {
    return isWriteStopped(this.context)
  }

  protected override listOpen(): Promise<ReadingRow[]> {
    return this.context.db.read(readingRows.listOpen(this.context.instance))
  }

  protected override claim({ key }: ReadingRow): Promise<boolean> {
    return this.context.db.write(() => readingRows.claim(key, this.context.instance))
  }

  protected override work(row: ReadingRow, signal: AbortSignal): Promise<void> {
    return runInSpace(this.context.db, row.space_key, () => this.#read(row, signal))
  }

  protected override onFailure(row: ReadingRow, error: unknown, signal: AbortSignal): Promise<void> {
    return runInSpace(this.context.db, row.space_key, () => this.#handleFailure(row, error, signal))
  }

  async #read(row: ReadingRow, signal: AbortSignal): Promise<void> {
    const context = this.context
    const { db, log } = context
    const space = await db.read(findSpaceByKey(row.space_key))
    if (space === undefined) return
    const model = parseReadingModel(row)
    await this.#waitForRules(row, model === undefined, signal)
    if (model !== undefined) {
      const generator = context.models.generator(model, getSpaceAccount(context, space))
      const capacity = await db.read(loadGraphCapacity(space.key, getQuotas(context, space)))
      await this.#readByModel({ row, space, model, generator, capacity, signal, rejections: 0 })
    }
    await this.#storeCounts(row)
    await db.write(() => endReading(row.key, 'completed'))
    log.info({ space: space.id, reading: row.id }, 'a space was read for its graph')
  }

  /** Waits until the rules have read all documents, at their own pace. */
  async #waitForRules(row: ReadingRow, isAll: boolean, signal: AbortSignal): Promise<void> {
    const { db } = this.context
    let previousUnread = Number.POSITIVE_INFINITY
    let since = performance.now()
    for (;;) {
      const space = await db.read(findSpaceByKey(row.space_key))
      if (space === undefined) return
      const unread = await this.#derivations.catchUp(space, RULES_CHECK_INTERVAL_MS)
      await this.#storeCounts(row, isAll)
      if (unread === 0) return
      if (unread !== previousUnread) since = performance.now()
      else if (performance.now() - since > MAX_STALL_MS) return
      previousUnread = unread
      await sleep(RULES_CHECK_INTERVAL_MS, undefined, { signal, ref: false })
    }
  }

  /** @param withRead whether to count the nodes that the rules have read */
  async #storeCounts(row: ReadingRow, withRead = false): Promise<void> {
    const { db } = this.context
    const scope = { spaceKey: row.space_key }
    const total = await countLiveDocuments(db, scope, 'v.nodes')
    const counts = withRead
      ? { total, done: await countLiveDocuments(db, scope, `CASE WHEN ${IS_READ} THEN v.nodes ELSE 0 END`) }
      : { total }
    await db.write(() => setReadingCounts(row.key, counts))
  }

  /** Reads until the last passage. @throws the reason of an earlier end */
  async #readByModel(work: ReadingRun): Promise<void> {
    const { db, foregroundPriority } = this.context
    const { row, space, model, signal } = work
    for (;;) {
      const open = await db.read(readingRows.findUnlessEnded(row.key))
      signal.throwIfAborted()
      if (open === undefined) throw new ReadingEnded()
      const slice = await db.read(listPassagesAfter(space.key, model, open.node_key, MAX_SLICE_PASSAGES))
      if (slice.length === 0) return
      const unread = slice.filter(({ isRead }) => isRead === 0)
      const [next] = unread
      // passages that were read before are skipped
      const passed = next === undefined ? slice : slice.slice(0, slice.indexOf(next))
      const position = passed.at(-1)?.key ?? open.node_key
      if (passed.length > 0)
        await db.write(() =>
          addReadingProgress(row.key, { place: position, done: passed.length, asked: 0, unusable: 0, tokens: 0 }),
        )
      await foregroundPriority.yieldToQueries()
      if (next !== undefined) await this.#readNext(work, open, unread.slice(0, MAX_CONCURRENT_REQUESTS), slice)
    }
  }

  /** Reads some passages concurrently, and advances past those that were read. */
  async #readNext(
    work: ReadingRun,
    open: ReadingRow,
    passages: readonly LivePassage[],
    slice: readonly LivePassage[],
  ): Promise<void> {
    const { db } = this.context
    const { row, space, model, signal } = work
    const meter = new TokenMeter()
    let remaining = open.budget - open.tokens
    let requestCount = 0
    const reads: Promise<PassageRead>[] = []
    for (const passage of passages) {
      const { node, extraction } = await db.read(loadPassage(space.key, model, passage.key))
      if (extraction === undefined) {
        remaining -= estimateCost(node.text)
        if (remaining < 0) break
        requestCount++
        reads.push(this.#ask(work, passage, node, meter))
      } else reads.push(Promise.resolve({ passage, node, extraction }))
    }
    const results = await Promise.all(reads)
    const firstFailure = results.findIndex(({ failure }) => failure !== undefined)
    const successful = firstFailure < 0 ? results : results.slice(0, firstFailure)
    await this.#store(work, results)
    const position = successful.at(-1)?.passage.key ?? open.node_key
    const counted = {
      place: position,
      asked: requestCount,
      tokens: totalTokens(meter),
      ...countRead(slice, position, results),
    }
    await db.write(function* () {
      yield* addReadingProgress(row.key, counted)
      if (firstFailure !== 0) yield* resetReadingRetries(row.key)
    })
    signal.throwIfAborted()
    const failed = results[firstFailure]
    if (failed !== undefined) throw new PassageFailed(failed.failure, failed.passage.key)
    if (results.length < passages.length && remaining < 0) {
      await this.#storeCounts(row)
      await db.write(() => endReading(row.key, 'budget-spent'))
      throw new ReadingEnded()
    }
  }

  async #ask(work: ReadingRun, passage: LivePassage, node: PassageNode, meter: TokenMeter): Promise<PassageRead> {
    try {
      const extraction = await requestExtraction(work.generator, node.text, {
        signal: work.signal,
        meter,
        urgent: false,
      })
      work.rejections = 0
      return extraction === undefined ? { passage, node } : { passage, node, extraction }
    } catch (failure) {
      work.rejections++
      return mayBeCausedByTexts(failure) && work.rejections < MAX_CONSECUTIVE_REJECTIONS
        ? { passage, node }
        : { passage, node, failure: failure ?? new Error('a model failed') }
    }
  }

  async #store({ space, model, capacity }: ReadingRun, reads: readonly PassageRead[]): Promise<void> {
    const { db } = this.context
    const versions = new Map<number, PassageRead[]>()
    for (const read of reads)
      if (read.extraction !== undefined) {
        const known = versions.get(read.passage.version_key) ?? []
        versions.set(read.passage.version_key, [...known, read])
      }
    for (const [versionKey, ofVersion] of versions) {
      const total: GraphExtraction = { entities: new Map(), relations: new Map() }
      for (const { node, extraction } of ofVersion)
        if (extraction !== undefined) addExtraction(total, node.key, extraction)
      const nodes = new Set(ofVersion.map(({ node }) => node.key))
      await storeExtraction(db, { spaceKey: space.key, versionKey, nodes, byModel: true }, total, capacity)
      await db.write(function* () {
        for (const { node, extraction } of ofVersion)
          if (extraction !== undefined) yield* storeModelExtraction(space.key, model, node, extraction)
      })
    }
  }

  /** Delays the reading after a temporary failure; any other failure ends it. */
  async #handleFailure(row: ReadingRow, error: unknown, signal: AbortSignal): Promise<void> {
    if (error instanceof ReadingEnded) return
    const { db, log } = this.context
    const cause = error instanceof PassageFailed ? error.cause : error
    const problem = toProviderProblem(cause, parseReadingModel(row)?.model ?? '')
    function* write() {
      const open = yield* readingRows.findUnlessEnded(row.key)
      if (open === undefined) return
      if (problem.isPermanent) yield* endReading(row.key, 'failed', problem)
      else if (error instanceof PassageFailed && problem.class === 'timeout' && open.attempts >= MAX_ATTEMPTS) {
        yield* addReadingProgress(row.key, { place: error.node, done: 0, asked: 0, unusable: 1, tokens: 0 })
        yield* resetReadingRetries(row.key)
      } else
        yield* readingRows.defer(row.key, problem, (yield* readClock()) + computeRetryDelayMs(problem, open.attempts))
    }
    await retryUntilWritten(this.context, 'when a reading goes on', signal, () => db.write(write))
    log.warn({ reading: row.id, class: problem.class, error: problem.message }, 'a reading met a failure')
  }
}

/** A passage, and the model's stored reply for its text. */
function* loadPassage(
  spaceKey: number,
  model: ModelReference,
  key: number,
): Program<{ node: PassageNode; extraction: ModelExtraction | undefined }> {
  const node = { key, text: (yield* findNodeText(spaceKey, key)) ?? '' }
  return { node, extraction: yield* findExtraction(spaceKey, model, node) }
}

/** Ends the run of a reading whose row has the reason. */
class ReadingEnded extends Error {}

class PassageFailed extends Error {
  constructor(
    override readonly cause: unknown,
    readonly node: number,
  ) {
    super('a model failed at a passage')
  }
}

/** Estimated maximal number of tokens of a request about a passage. */
function estimateCost(passage: string): number {
  return buildExtractionPrompt(passage).reduce((sum, { content }) => sum + estimateTokens(content), MAX_REPLY_TOKENS)
}

function totalTokens(meter: TokenMeter): number {
  const { inputTokens, outputTokens } = meter.total()
  return inputTokens + outputTokens
}

/** Among the passages up to a key, numbers of those read now, and of those without a usable reply. */
function countRead(
  slice: readonly LivePassage[],
  position: number,
  reads: readonly PassageRead[],
): { done: number; unusable: number } {
  const first = reads[0]?.passage.key ?? 0
  const passed = slice.filter(({ key }) => key >= first && key <= position)
  const missing = new Set(reads.filter(({ extraction }) => extraction === undefined).map(({ passage }) => passage.key))
  const unusable = passed.filter(({ key }) => missing.has(key)).length
  return { done: passed.length - unusable, unusable }
}
