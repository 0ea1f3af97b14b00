import { setTimeout as sleep } from 'node:timers/promises'
import { type CountComparison, type CountDrift, compareCounts, type SearchLeg } from '../count-check.js'
import { CATCHING_UP, LOADING } from '../degraded-reasons.js'
import type { CountReply } from '../protocol.js'
import { findSpaceRow } from './space-rows.js'
import { loadVectors, replayLog, type SpaceTables, type SpaceTablesWriter } from './space-tables.js'
import { findVectorSpaceRow } from './vector-rows.js'

/** Times that differing rows are rewritten before the difference is reported as permanent. */
const MAX_REWRITES = 1

export const BOTH_LEGS: readonly SearchLeg[] = ['text', 'vectors']

export interface SpaceStateOptions {
  tables: SpaceTables
  writing: SpaceTablesWriter
  log: (message: string) => void
  /** called when vectors are complete */
  onVectors: (vectorSpace: string) => Promise<void>
}

/** State of one space's search rows in this gateway, from its first use on. */
export class SpaceState {
  readonly tables: SpaceTables
  readonly createdAt = performance.now()
  /** entry of the index log up to which the rows were seen complete */
  position = 0
  /** the initial repair failed; searches use what is there */
  failed = false
  /** rows still differ from the source after they were rewritten */
  stillDiffers = false
  /** settles when the text rows have caught up with the log as it was at first */
  text: Promise<void> = Promise.resolve()
  /** settles when the vectors have, too */
  vectors: Promise<void> = Promise.resolve()
  #textNote: string | undefined = CATCHING_UP
  #vectorNote: string | undefined = LOADING
  readonly #drift: CountDrift = { nodes: 0, vectors: 0 }
  readonly #options: SpaceStateOptions

  constructor(options: SpaceStateOptions) {
    this.#options = options
    this.tables = options.tables
  }

  /** Reasons why a search of these legs is incomplete now. */
  notes(legs: readonly SearchLeg[]): string[] {
    return [this.#textNote, legs.includes('vectors') ? this.#vectorNote : undefined].filter(
      (note) => note !== undefined,
    )
  }

  /** Begins to complete the rows. */
  start(): void {
    this.text = this.#catchUp()
    this.text.catch((error: unknown) => {
      this.failed = true
      this.#textNote = `the text index is behind: ${error instanceof Error ? error.message : String(error)}`
    })
    this.vectors = this.text.then(() => this.#loadFirstVectors())
    this.vectors.catch(() => {})
  }

  /** Waits until these legs are complete. @param vectorsMs limit where only vectors are missing */
  async wait(legs: readonly SearchLeg[], anyMs: number, vectorsMs: number): Promise<void> {
    if (this.notes(legs).length === 0) return
    const remaining = (ms: number) =>
      sleep(Math.max(0, this.createdAt + ms - performance.now()), undefined, { ref: false })
    await Promise.race([this.text.catch(() => {}), remaining(anyMs)])
    const isLoading = this.#textNote === undefined && this.#vectorNote === LOADING
    if (legs.includes('vectors'))
      await Promise.race([this.vectors.catch(() => {}), remaining(isLoading ? vectorsMs : anyMs)])
  }

  /** Compares the rows with the source. */
  async compare(signal: AbortSignal, legs: readonly SearchLeg[] = BOTH_LEGS): Promise<CountComparison> {
    const { source, db } = this.#options.writing
    const { space } = this.tables
    const { seq } = await source.expectedCounts(space)
    // committed entries that are not followed yet are no difference
    if ((await db.read(findSpaceRow(space)))?.watermark !== seq) return { state: 'moving' }
    return await compareCounts({
      source,
      space,
      legs,
      drift: this.#drift,
      signal,
      countIndex: (vectorSpace) => this.#countRows(vectorSpace),
    })
  }

  /** Compares both legs and rewrites what differs. */
  async reconcile(): Promise<void> {
    await this.#fillText()
    await this.fillVectors()
  }

  /** Rewrites both legs. */
  async rebuild(): Promise<void> {
    this.#textNote = CATCHING_UP
    await this.#replayFromNothing()
    await this.#fillText()
    const { vectorSpace } = await this.#options.writing.source.head(this.tables.space)
    if (vectorSpace !== undefined) await this.#load(vectorSpace)
  }

  /** Loads the vectors in use where there are fewer than in the source, without counting its rows first. */
  async #loadFirstVectors(): Promise<void> {
    const { source } = this.#options.writing
    const { vectorSpace, vectors } = await source.expectedCounts(this.tables.space)
    if (vectorSpace !== undefined && (await this.#countRows(vectorSpace)).vectorCount < vectors)
      await this.#load(vectorSpace)
    await this.fillVectors()
  }

  /** Compares the vectors in use, and loads them where they differ. */
  async fillVectors(): Promise<void> {
    const { writing, log } = this.#options
    this.#vectorNote = undefined
    const { vectorSpace } = await writing.source.expectedCounts(this.tables.space)
    if (vectorSpace === undefined) return
    for (let rewrites = 0; ; rewrites++) {
      const compared = await this.compare(writing.stop, ['vectors'])
      if (compared.state !== 'different') break
      if (rewrites === MAX_REWRITES) {
        this.#vectorNote = compared.sentence
        this.stillDiffers = true
        return
      }
      log(`${compared.sentence} in space ${this.tables.space}: they are loaded again`)
      await this.#load(vectorSpace)
    }
    await this.#options.onVectors(vectorSpace)
  }

  async #load(vectorSpace: string): Promise<void> {
    this.#vectorNote = LOADING
    try {
      await loadVectors(this.#options.writing, this.tables, vectorSpace)
      this.#vectorNote = undefined
    } catch (error) {
      this.#vectorNote = `vectors are missing: ${error instanceof Error ? error.message : String(error)}`
      throw error
    }
  }

  async #catchUp(): Promise<void> {
    const { writing } = this.#options
    const { space } = this.tables
    // the rows first: another gateway may advance them meanwhile, together with the head
    const watermark = (await writing.db.read(findSpaceRow(space)))?.watermark ?? 0
    const { seq } = await writing.source.head(space)
    const isUsable = watermark <= seq && (watermark === 0 || watermark >= (await writing.source.oldestEntry(space)))
    this.position =
      watermark === seq ? watermark : await replayLog(writing, this.tables, seq, isUsable ? 'watermark' : 'nothing')
    await this.#fillText()
  }

  async #replayFromNothing(): Promise<void> {
    const { writing } = this.#options
    const { seq } = await writing.source.head(this.tables.space)
    this.position = await replayLog(writing, this.tables, seq, 'nothing')
  }

  /** Compares the text rows, and rewrites them where they differ. */
  async #fillText(): Promise<void> {
    const { writing, log } = this.#options
    for (let rewrites = 0; ; rewrites++) {
      if (rewrites > 0) await this.#replayFromNothing()
      const compared = await this.compare(writing.stop, ['text'])
      if (compared.state !== 'different') break
      this.#textNote = compared.sentence
      if (rewrites === MAX_REWRITES) {
        this.stillDiffers = true
        return
      }
      log(`${compared.sentence} in space ${this.tables.space}: it is rebuilt`)
    }
    this.#textNote = undefined
  }

  async #countRows(name: string): Promise<CountReply> {
    const { space, key } = this.tables
    const { db } = this.#options.writing
    return await db.read(
      (function* () {
        const row = yield* findSpaceRow(space)
        const vectors = yield* findVectorSpaceRow(key, name)
        return { textCount: row?.nodes ?? 0, vectorCount: vectors?.vectors ?? 0 }
      })(),
    )
  }
}
