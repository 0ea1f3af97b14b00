import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelReference } from '../base/model-reference.js'
import { Runs } from '../base/runs.js'
import { untilWritten } from '../base/until-written.js'
import { account } from '../compile/embeddings.js'
import { pauseAfter } from '../compile/vector-filler.js'
import type { EngineContext } from '../context.js'
import type { Derivations } from '../derived/derivation.js'
import type { Extraction } from '../derived/graph/extraction.js'
import { type GraphRoom, graphRoom, storeExtraction } from '../derived/graph/store.js'
import { countLive } from '../derived/live-versions.js'
import { estimateTokens } from '../models/budget.js'
import { TokenMeter } from '../models/meter.js'
import { isAboutTexts, troubleOf } from '../models/trouble.js'
import type { Generator } from '../models/types.js'
import { IS_READ } from '../rows/derivations.js'
import { type LivePassage, passagesAfter, textOf } from '../rows/graph/model-reads.js'
import {
  endReading,
  modelOf,
  noteAnswer,
  noteCounts,
  noteProgress,
  type ReadingRow,
  readingRows,
} from '../rows/graph/readings.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { inSpace } from '../spaces/in-space.js'
import { quotasOf } from '../spaces/quota.js'
import type { Read as Program } from '../storage/program.js'
import { isWriteStopped } from '../storage/write-stop.js'
import { addExtraction, extractionPrompt, type ModelExtraction, REPLY_TOKENS } from './model-extraction.js'
import { askPassage } from './model-reader.js'
import { keepExtraction, knownExtraction, type PassageNode } from './model-reads.js'

/** Passages looked up at a time, and concurrent requests of one reading. */
const SLICE = 200
const AT_ONCE = 4
/** Interval of checks whether the rules have read everything, and time without progress after which they are stuck. */
const RULES_MS = 500
const STUCK_MS = 60_000
/** Consecutive text rejections after which the model is considered the cause. */
const MOST_REFUSED = 8
/** A passage without an answer after this many attempts is skipped. */
const MOST_TRIES = 4

/** State of a running reading. */
interface Work {
  row: ReadingRow
  space: SpaceRow
  model: ModelReference
  generator: Generator
  room: GraphRoom
  signal: AbortSignal
  /** number of consecutive calls that were rejected for their text */
  refused: number
}

type Read = { passage: LivePassage; node: PassageNode; said?: ModelExtraction; failure?: unknown }

/**
 * Reads complete spaces for their graph: the rules first, then the reasoning model of the profile, within a budget of
 * tokens. A reading's position is in its row, together with the model's reply for each text, so a restart continues it.
 */
export class GraphReadings {
  readonly #context: EngineContext
  readonly #derivations: Derivations
  readonly #runs: Runs<ReadingRow>

  constructor(context: EngineContext, derivations: Derivations) {
    this.#context = context
    this.#derivations = derivations
    this.#runs = new Runs(context.log, {
      name: 'reading',
      isStopped: () => isWriteStopped(context),
      open: () => context.db.read(readingRows.open(context.instance)),
      claim: ({ key }) => context.db.write(() => readingRows.claim(key, context.instance)),
      work: (row, signal) => inSpace(context.db, row.space_key, () => this.#read(row, signal)),
      failed: (row, error, signal) => inSpace(context.db, row.space_key, () => this.#failed(row, error, signal)),
    })
  }

  /** Resumes interrupted readings; the cause of a model's failure may have been removed since. */
  start(): void {
    const { db, instance } = this.#context
    db.recover(() => readingRows.hurry(instance))
    this.wake()
  }

  /** Checks for work soon. */
  wake(): void {
    this.#runs.wake()
  }

  /** number of readings that run or will run without intervention */
  get active(): Promise<number> {
    const { db, instance } = this.#context
    return db.read(readingRows.open(instance)).then(({ length }) => length)
  }

  /** Stops a reading that the caller's transaction has ended. */
  ended(key: number): Promise<void> {
    return this.#runs.ended(key)
  }

  /** Stops work that another gateway has taken over. */
  lost(): void {
    this.#runs.lost()
  }

  close(): Promise<void> {
    return this.#runs.close()
  }

  async #read(row: ReadingRow, signal: AbortSignal): Promise<void> {
    const context = this.#context
    const { db, log } = context
    const space = await db.read(spaceByKey(row.space_key))
    if (space === undefined) return
    const model = modelOf(row)
    await this.#byRules(row, model === undefined, signal)
    if (model !== undefined) {
      const generator = context.models.generator(model, account(context, space))
      const room = await db.read(graphRoom(space.key, quotasOf(context, space)))
      await this.#byModel({ row, space, model, generator, room, signal, refused: 0 })
    }
    await this.#count(row)
    await db.write(() => endReading(row.key, 'completed'))
    log.info({ space: space.id, reading: row.id }, 'a space was read for its graph')
  }

  /** Waits until the rules have read all documents, at their own pace. */
  async #byRules(row: ReadingRow, isAll: boolean, signal: AbortSignal): Promise<void> {
    const { db } = this.#context
    let left = Number.POSITIVE_INFINITY
    let since = Date.now()
    for (;;) {
      const space = await db.read(spaceByKey(row.space_key))
      if (space === undefined) return
      const unread = await this.#derivations.catchUp(space, RULES_MS)
      await this.#count(row, isAll)
      if (unread === 0) return
      if (unread !== left) since = Date.now()
      else if (Date.now() - since > STUCK_MS) return
      left = unread
      await sleep(RULES_MS, undefined, { signal, ref: false })
    }
  }

  /** @param withRead whether to count the nodes that the rules have read */
  async #count(row: ReadingRow, withRead = false): Promise<void> {
    const { db } = this.#context
    const of = { spaceKey: row.space_key }
    const total = await countLive(db, of, 'v.nodes')
    const counts = withRead
      ? { total, done: await countLive(db, of, `CASE WHEN ${IS_READ} THEN v.nodes ELSE 0 END`) }
      : { total }
    await db.write(() => noteCounts(row.key, counts))
  }

  /** Reads until the last passage. @throws the reason of an earlier end */
  async #byModel(work: Work): Promise<void> {
    const { db, rightOfWay } = this.#context
    const { row, space, model, signal } = work
    for (;;) {
      const open = await db.read(readingRows.stillOpen(row.key))
      signal.throwIfAborted()
      if (open === undefined) throw new ReadingOver()
      const slice = await db.read(passagesAfter(space.key, model, open.node_key, SLICE))
      if (slice.length === 0) return
      const unread = slice.filter(({ isRead }) => isRead === 0)
      const [next] = unread
      // passages that were read before are skipped
      const passed = next === undefined ? slice : slice.slice(0, slice.indexOf(next))
      const place = passed.at(-1)?.key ?? open.node_key
      if (passed.length > 0)
        await db.write(() => noteProgress(row.key, { place, done: passed.length, asked: 0, unusable: 0, tokens: 0 }))
      await rightOfWay.giveWay()
      if (next !== undefined) await this.#readNext(work, open, unread.slice(0, AT_ONCE), slice)
    }
  }

  /** Reads some passages concurrently, and advances past those that were read. */
  async #readNext(
    work: Work,
    open: ReadingRow,
    passages: readonly LivePassage[],
    slice: readonly LivePassage[],
  ): Promise<void> {
    const { db } = this.#context
    const { row, space, model, signal } = work
    const meter = new TokenMeter()
    let room = open.budget - open.tokens
    let asked = 0
    const reads: Promise<Read>[] = []
    for (const passage of passages) {
      const { node, said } = await db.read(lookedUp(space.key, model, passage.key))
      if (said === undefined) {
        room -= costOf(node.text)
        if (room < 0) break
        asked++
        reads.push(this.#ask(work, passage, node, meter))
      } else reads.push(Promise.resolve({ passage, node, said }))
    }
    const ended = await Promise.all(reads)
    const firstFailure = ended.findIndex(({ failure }) => failure !== undefined)
    const whole = firstFailure < 0 ? ended : ended.slice(0, firstFailure)
    await this.#store(work, ended)
    const place = whole.at(-1)?.passage.key ?? open.node_key
    const counted = { place, asked, tokens: tokensOf(meter), ...countsOf(slice, place, ended) }
    await db.write(function* () {
      yield* noteProgress(row.key, counted)
      if (firstFailure !== 0) yield* noteAnswer(row.key)
    })
    signal.throwIfAborted()
    const failed = ended[firstFailure]
    if (failed !== undefined) throw new PassageFailed(failed.failure, failed.passage.key)
    if (ended.length < passages.length && room < 0) {
      await this.#count(row)
      await db.write(() => endReading(row.key, 'budget-spent'))
      throw new ReadingOver()
    }
  }

  async #ask(work: Work, passage: LivePassage, node: PassageNode, meter: TokenMeter): Promise<Read> {
    try {
      const said = await askPassage(work.generator, node.text, { signal: work.signal, meter, urgent: false })
      work.refused = 0
      return said === undefined ? { passage, node } : { passage, node, said }
    } catch (failure) {
      work.refused++
      return isAboutTexts(failure) && work.refused < MOST_REFUSED
        ? { passage, node }
        : { passage, node, failure: failure ?? new Error('a model failed') }
    }
  }

  async #store({ space, model, room }: Work, reads: readonly Read[]): Promise<void> {
    const { db } = this.#context
    const versions = new Map<number, Read[]>()
    for (const read of reads)
      if (read.said !== undefined) {
        const known = versions.get(read.passage.version_key) ?? []
        versions.set(read.passage.version_key, [...known, read])
      }
    for (const [versionKey, ofVersion] of versions) {
      const extraction: Extraction = { entities: new Map(), relations: new Map() }
      for (const { node, said } of ofVersion) if (said !== undefined) addExtraction(extraction, node.key, said)
      const nodes = new Set(ofVersion.map(({ node }) => node.key))
      await storeExtraction(db, { spaceKey: space.key, versionKey, nodes, byModel: true }, extraction, room)
      await db.write(function* () {
        for (const { node, said } of ofVersion)
          if (said !== undefined) yield* keepExtraction(space.key, model, node, said)
      })
    }
  }

  /** Delays the reading after a temporary failure; any other failure ends it. */
  async #failed(row: ReadingRow, error: unknown, signal: AbortSignal): Promise<void> {
    if (error instanceof ReadingOver) return
    const { db, log } = this.#context
    const cause = error instanceof PassageFailed ? error.cause : error
    const trouble = troubleOf(cause, modelOf(row)?.model ?? '')
    function* write() {
      const open = yield* readingRows.stillOpen(row.key)
      if (open === undefined) return
      if (trouble.isPermanent) yield* endReading(row.key, 'failed', trouble)
      else if (error instanceof PassageFailed && trouble.class === 'timeout' && open.attempts >= MOST_TRIES) {
        yield* noteProgress(row.key, { place: error.node, done: 0, asked: 0, unusable: 1, tokens: 0 })
        yield* noteAnswer(row.key)
      } else yield* readingRows.delay(row.key, trouble, Date.now() + pauseAfter(trouble, open.attempts))
    }
    await untilWritten(this.#context, 'when a reading goes on', signal, () => db.write(write))
    log.warn({ reading: row.id, class: trouble.class, error: trouble.message }, 'a reading met a failure')
  }
}

/** A passage, and the model's stored reply for its text. */
function* lookedUp(
  spaceKey: number,
  model: ModelReference,
  key: number,
): Program<{ node: PassageNode; said: ModelExtraction | undefined }> {
  const node = { key, text: (yield* textOf(spaceKey, key)) ?? '' }
  return { node, said: yield* knownExtraction(spaceKey, model, node) }
}

/** Ends the run of a reading whose row has the reason. */
class ReadingOver extends Error {}

class PassageFailed extends Error {
  constructor(
    override readonly cause: unknown,
    readonly node: number,
  ) {
    super('a model failed at a passage')
  }
}

/** Estimated maximal number of tokens of a request about a passage. */
function costOf(passage: string): number {
  return extractionPrompt(passage).reduce((sum, { content }) => sum + estimateTokens(content), REPLY_TOKENS)
}

function tokensOf(meter: TokenMeter): number {
  const { inputTokens, outputTokens } = meter.total()
  return inputTokens + outputTokens
}

/** Among the passages up to a key, numbers of those read now, and of those without a usable reply. */
function countsOf(
  slice: readonly LivePassage[],
  place: number,
  reads: readonly Read[],
): { done: number; unusable: number } {
  const first = reads[0]?.passage.key ?? 0
  const passed = slice.filter(({ key }) => key >= first && key <= place)
  const lacking = new Set(reads.filter(({ said }) => said === undefined).map(({ passage }) => passage.key))
  const unusable = passed.filter(({ key }) => lacking.has(key)).length
  return { done: passed.length - unusable, unusable }
}
