import { setTimeout as sleep } from 'node:timers/promises'
import { type Comparison, compareCounts, type Drift, type Leg } from '../count-check.js'
import { CATCHING_UP, LOADING } from '../notes.js'
import type { CountReply } from '../protocol.js'
import { spaceRow } from './space-rows.js'
import { vectorSpaceRow } from './vector-rows.js'
import { loadVectors, replay, type Shelf, type Writing } from './writing.js'

/** Times that differing rows are rewritten before the difference is reported as permanent. */
const FILLINGS = 1

export interface StateOptions {
  shelf: Shelf
  writing: Writing
  log: (message: string) => void
  /** called when vectors are complete */
  onVectors: (vectorSpace: string) => Promise<void>
}

/** State of one space's search rows in this gateway, from its first use on. */
export class SpaceState {
  readonly shelf: Shelf
  readonly since = performance.now()
  /** entry of the index log up to which the rows were seen complete */
  at = 0
  /** the initial repair failed; searches use what is there */
  failed = false
  /** rows still differ from the source after they were rewritten */
  short = false
  /** settles when the text rows have caught up with the log as it was at first */
  text: Promise<void> = Promise.resolve()
  /** settles when the vectors have, too */
  whole: Promise<void> = Promise.resolve()
  #textNote: string | undefined = CATCHING_UP
  #vectorNote: string | undefined = LOADING
  readonly #drift: Drift = { nodes: 0, vectors: 0 }
  readonly #options: StateOptions

  constructor(options: StateOptions) {
    this.#options = options
    this.shelf = options.shelf
  }

  /** Reasons why a search is incomplete now. */
  notes(withVectors: boolean): string[] {
    return [this.#textNote, withVectors ? this.#vectorNote : undefined].filter((note) => note !== undefined)
  }

  get isLoading(): boolean {
    return this.#textNote === undefined && this.#vectorNote === LOADING
  }

  /** Begins to complete the rows. */
  begin(): void {
    this.text = this.#catchUp()
    this.text.catch((error: unknown) => {
      this.failed = true
      this.#textNote = `the text index is behind: ${error instanceof Error ? error.message : String(error)}`
    })
    this.whole = this.text.then(() => this.#firstVectors())
    this.whole.catch(() => {})
  }

  /** Waits for missing parts. @param vectorsMs limit where only vectors are missing and requested */
  async wait(withVectors: boolean, anyMs: number, vectorsMs: number): Promise<void> {
    if (this.notes(withVectors).length === 0) return
    const left = (ms: number) => sleep(Math.max(0, this.since + ms - performance.now()), undefined, { ref: false })
    await Promise.race([this.text.catch(() => {}), left(anyMs)])
    if (withVectors) await Promise.race([this.whole.catch(() => {}), left(this.isLoading ? vectorsMs : anyMs)])
  }

  /** Compares the rows with the source. */
  async compare(signal: AbortSignal, legs: readonly Leg[] = ['text', 'vectors']): Promise<Comparison> {
    const { source, db } = this.#options.writing
    const { space } = this.shelf
    const { seq } = await source.expected(space)
    // committed entries that are not followed yet are no difference
    if ((await db.read(spaceRow(space)))?.watermark !== seq) return { state: 'moving' }
    return await compareCounts({
      source,
      space,
      legs,
      drift: this.#drift,
      signal,
      inIndex: (vectorSpace) => this.#counts(vectorSpace),
    })
  }

  /** Compares both legs and rewrites what differs. */
  async reconcile(): Promise<void> {
    await this.#fillText(false)
    await this.fillVectors()
  }

  /** Rewrites both legs. */
  async rebuild(): Promise<void> {
    this.#textNote = CATCHING_UP
    await this.#fillText(true)
    const { vectorSpace } = await this.#options.writing.source.head(this.shelf.space)
    if (vectorSpace !== undefined) await this.#load(vectorSpace)
  }

  /** Loads the vectors in use where there are fewer than in the source, without counting its rows first. */
  async #firstVectors(): Promise<void> {
    const { source } = this.#options.writing
    const { vectorSpace, vectors } = await source.expected(this.shelf.space)
    if (vectorSpace !== undefined && (await this.#counts(vectorSpace)).vectorCount < vectors)
      await this.#load(vectorSpace)
    await this.fillVectors()
  }

  /** Compares the vectors in use, and loads them where they differ. */
  async fillVectors(): Promise<void> {
    const { writing, log } = this.#options
    this.#vectorNote = undefined
    const { vectorSpace } = await writing.source.expected(this.shelf.space)
    if (vectorSpace === undefined) return
    for (let filled = 0; ; filled++) {
      const compared = await this.compare(writing.stop, ['vectors'])
      if (compared.state !== 'different') break
      if (filled === FILLINGS) {
        this.#vectorNote = compared.sentence
        this.short = true
        return
      }
      log(`${compared.sentence} in space ${this.shelf.space}: they are loaded again`)
      await this.#load(vectorSpace)
    }
    await this.#options.onVectors(vectorSpace)
  }

  async #load(vectorSpace: string): Promise<void> {
    this.#vectorNote = LOADING
    try {
      await loadVectors(this.#options.writing, this.shelf, vectorSpace)
      this.#vectorNote = undefined
    } catch (error) {
      this.#vectorNote = `vectors are missing: ${error instanceof Error ? error.message : String(error)}`
      throw error
    }
  }

  async #catchUp(): Promise<void> {
    const { writing } = this.#options
    const { space } = this.shelf
    // the rows first: another gateway may advance them meanwhile, together with the head
    const here = (await writing.db.read(spaceRow(space)))?.watermark ?? 0
    const { seq } = await writing.source.head(space)
    const isUsable = here <= seq && (here === 0 || here >= (await writing.source.oldest(space)))
    this.at = here === seq ? here : await replay(writing, this.shelf, seq, !isUsable)
    await this.#fillText(false)
  }

  async #fillText(anew: boolean): Promise<void> {
    const { writing, log } = this.#options
    for (let filled = 0, begins = anew; ; filled++) {
      if (begins) {
        const { seq } = await writing.source.head(this.shelf.space)
        this.at = await replay(writing, this.shelf, seq, true)
      }
      begins = true
      const compared = await this.compare(writing.stop, ['text'])
      if (compared.state !== 'different') break
      this.#textNote = compared.sentence
      if (filled === FILLINGS) {
        this.short = true
        return
      }
      log(`${compared.sentence} in space ${this.shelf.space}: it is rebuilt`)
    }
    this.#textNote = undefined
  }

  async #counts(name: string): Promise<CountReply> {
    const { space, key } = this.shelf
    const { db } = this.#options.writing
    return await db.read(
      (function* () {
        const row = yield* spaceRow(space)
        const vectors = yield* vectorSpaceRow(key, name)
        return { textCount: row?.nodes ?? 0, vectorCount: vectors?.vectors ?? 0 }
      })(),
    )
  }
}
