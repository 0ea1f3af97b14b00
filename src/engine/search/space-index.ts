import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { describeDimensionMismatch, describeMissingVectorSpace } from './degraded-reasons.js'
import { removeBuildLeftovers, removeOtherGraphs } from './graph-files.js'
import type { GraphLimits } from './graph-keeper.js'
import { openTextIndex } from './open-text.js'
import type { DocumentScope } from './ports.js'
import type {
  ConfirmReply,
  ConfirmRequest,
  CountReply,
  LoadReply,
  LoadRequest,
  NodeVectors,
  OpenReply,
  SearchMessage,
  SearchReply,
  StageRequest,
  StatusReply,
  VectorsRequest,
} from './protocol.js'
import { lstatIfExists, moveToQuarantine } from './quarantine.js'
import type { TextEngine, TextHits, TextIndex, TextNode } from './text-index.js'
import { VectorIndex } from './vector-index.js'

/** A text index without writes for this long releases its writer's threads and memory. */
const IDLE_RELEASE_MS = 5_000

export interface SpaceIndexOptions {
  /** the space's directory; created by the first write */
  dir: string
  engine: TextEngine
  watermarkLagMs: number
  graph: Partial<GraphLimits>
  log: (message: string) => void
  onBuild: (running: boolean) => void
}

/** Both indexes of one space, in the index process. */
export class SpaceIndex {
  readonly #options: SpaceIndexOptions
  readonly #vectors = new Map<string, VectorIndex>()
  #text: TextIndex | undefined
  #active: string | undefined
  /** number of slices staged since the last commit */
  #staged = 0
  #releaseTimer: NodeJS.Timeout | undefined

  private constructor(options: SpaceIndexOptions) {
    this.#options = options
  }

  /** Opens what exists. Damaged files are moved to quarantine; the space then starts empty. */
  static async open(options: SpaceIndexOptions): Promise<SpaceIndex> {
    const index = new SpaceIndex(options)
    const found = await lstatIfExists(options.dir)
    if (found !== undefined && !found.isDirectory()) {
      options.log(`the indexes of a space are moved to quarantine and rebuilt: ${options.dir} is not a directory`)
      await moveToQuarantine(options.dir)
    }
    await removeBuildLeftovers(options.dir)
    index.#text = await openTextIndex({ ...options, ifMissing: 'skip' })
    return index
  }

  /** Moves the complete directory to quarantine, after its files crashed the process more than once. */
  async discard(): Promise<void> {
    await this.close()
    this.#vectors.clear()
    await moveToQuarantine(this.#options.dir)
    this.#text = undefined
  }

  async state(): Promise<OpenReply> {
    const text = this.#text
    if (this.#staged > 0 && text !== undefined) await this.#recoverOnError(() => text.rollback())
    this.#staged = 0
    this.#scheduleRelease()
    return { watermark: this.#text?.watermark ?? 0, textCount: this.#text?.count() ?? 0 }
  }

  async reset(): Promise<void> {
    await this.#text?.close()
    this.#text = undefined
    this.#staged = 0
    await rm(join(this.#options.dir, this.#options.engine), { recursive: true, force: true })
  }

  async stage(request: StageRequest): Promise<void> {
    const remove = Array.from(request.remove)
    for (const vectors of this.#vectors.values()) vectors.remove(remove)
    if (request.vectors !== undefined) this.#putNodeVectors(request, request.vectors)
    const text = this.#text ?? (await this.#getOrCreateText())
    const nodes: TextNode[] = []
    request.keys.forEach((key, i) => {
      const text = { title: request.titles[i] ?? '', body: request.bodies[i] ?? '' }
      nodes.push({ key, doc: request.docs[i] ?? 0, text })
    })
    clearTimeout(this.#releaseTimer)
    await this.#recoverOnError(() => text.stage(nodes, remove))
    this.#staged++
  }

  /**
   * Commits what is staged. A watermark covers everything before it, so it only moves together with everything that was
   * sent.
   *
   * @param staged number of slices sent since the last commit
   * @throws Error when some of them are missing; nothing is committed then
   */
  async commit(watermark: number, staged: number): Promise<void> {
    if (staged !== this.#staged) {
      const received = this.#staged
      await this.#recover()
      throw new Error(`${staged} slices were sent for this commit, ${received} were received`)
    }
    const text = this.#text ?? (await this.#getOrCreateText())
    await this.#recoverOnError(() => text.commit(watermark))
    this.#staged = 0
    this.#scheduleRelease()
  }

  putVectors(request: VectorsRequest): void {
    const index = this.#getVectorIndex(request.vectorSpace, request.dimension)
    index.put(toVectorEntries(request.keys, request.docs, request.values, request.dimension), request.origin)
  }

  async load({ vectorSpace, dimension, phase }: LoadRequest): Promise<LoadReply> {
    if (phase === 'restart') {
      this.#vectors.get(vectorSpace)?.close()
      this.#vectors.delete(vectorSpace)
    }
    const index = this.#getVectorIndex(vectorSpace, dimension)
    if (phase !== 'end') return { filled: await index.beginLoad() }
    index.endLoad()
    return { filled: 0 }
  }

  confirm({ vectorSpace, dimension, keys, docs, sums }: ConfirmRequest): ConfirmReply {
    return { missing: this.#getVectorIndex(vectorSpace, dimension).confirm(keys, docs, sums) }
  }

  /** Counts committed nodes, and the vectors of a vector space. */
  counts(vectorSpace: string): CountReply {
    return { textCount: this.#text?.count() ?? 0, vectorCount: this.#vectors.get(vectorSpace)?.count ?? 0 }
  }

  async activate(vectorSpace: string): Promise<void> {
    for (const [name, index] of this.#vectors) {
      if (name === vectorSpace) continue
      index.close()
      this.#vectors.delete(name)
    }
    this.#active = vectorSpace
    await removeOtherGraphs(this.#options.dir, vectorSpace)
  }

  async search(request: SearchMessage): Promise<SearchReply> {
    const degraded: string[] = []
    const docs = request.docs === undefined ? undefined : Array.from(request.docs)
    const began = performance.now()
    const scope = request.scope === undefined ? undefined : { ...request.scope, docs: Array.from(request.scope.docs) }
    const text = await this.#searchText(request, docs, scope, degraded)
    const between = performance.now()
    const index = this.#selectVectorIndex(request, degraded)
    const found =
      index === undefined || request.vector === undefined
        ? undefined
        : await index.search(request.vector, request.vectorK, docs, scope)
    const hits = mergeLegs(text, found?.keys ?? [], (key) =>
      request.vector === undefined ? undefined : index?.cosine(request.vector, key),
    )
    const background =
      request.wantsBackground === true && request.vector !== undefined
        ? index?.background(request.vector, scope)
        : undefined
    const ended = performance.now()
    return {
      ...hits,
      textCount: text.keys.length,
      frequencies: text.frequencies,
      rewordings: text.rewordings,
      vectorCount: found?.keys.length ?? 0,
      ...omitUndefined({ background }),
      textMs: between - began,
      vectorMs: found === undefined ? 0 : ended - between,
      textEngine: this.#options.engine,
      vectorMethod: found?.method ?? 'none',
      degraded,
    }
  }

  status(): StatusReply {
    const vectorSpace = this.#active ?? this.#vectors.keys().next().value
    const vectors = vectorSpace === undefined ? undefined : this.#vectors.get(vectorSpace)
    return {
      textEngine: this.#options.engine,
      watermark: this.#text?.watermark ?? 0,
      textCount: this.#text?.count() ?? 0,
      ...omitUndefined({ vectorSpace }),
      vectorCount: vectors?.count ?? 0,
      graphCount: vectors?.graphCount ?? 0,
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#releaseTimer)
    for (const vectors of this.#vectors.values()) vectors.close()
    await this.#text
      ?.close()
      .catch((error: unknown) => this.#options.log(`a text index did not close: ${String(error)}`))
  }

  async drop(): Promise<void> {
    await this.close()
    await rm(this.#options.dir, { recursive: true, force: true })
  }

  async #searchText(
    request: SearchMessage,
    docs: number[] | undefined,
    scope: DocumentScope | undefined,
    degraded: string[],
  ): Promise<TextHits> {
    const none = { keys: [], scores: [], frequencies: new Map<string, number>(), rewordings: [] }
    if (this.#text === undefined || request.terms.length === 0) return none
    try {
      return await this.#text.search(request.terms, request.textK, { docs, compounds: request.compounds, scope })
    } catch (error) {
      degraded.push('the text index could not be searched')
      this.#options.log(`a text search failed: ${String(error)}`)
      return none
    }
  }

  #selectVectorIndex(request: SearchMessage, degraded: string[]): VectorIndex | undefined {
    if (request.vector === undefined || request.vectorSpace === undefined) return undefined
    const index = this.#vectors.get(request.vectorSpace)
    if (index === undefined) {
      if (this.#vectors.size > 0) degraded.push(describeMissingVectorSpace(request.vectorSpace))
      return undefined
    }
    if (index.rows.dimension !== request.vector.length) {
      degraded.push(describeDimensionMismatch(request.vector.length, index.rows.dimension))
      return undefined
    }
    // the count includes vectors outside of a scope
    const count = request.scope === undefined ? `: ${index.count} are loaded` : ''
    if (index.loading) degraded.push(`vectors are still being loaded${count}`)
    return index
  }

  #getVectorIndex(vectorSpace: string, dimension: number): VectorIndex {
    const existing = this.#vectors.get(vectorSpace)
    if (existing !== undefined) {
      if (existing.rows.dimension === dimension) return existing
      throw new RangeError(`vectors of ${vectorSpace} have ${existing.rows.dimension} dimensions, not ${dimension}`)
    }
    const { dir, graph, log, onBuild } = this.#options
    const index = new VectorIndex({ dir, vectorSpace, dimension, limits: graph, log, onBuild })
    this.#vectors.set(vectorSpace, index)
    return index
  }

  #putNodeVectors(request: StageRequest, vectors: NodeVectors): void {
    const index = this.#getVectorIndex(vectors.vectorSpace, vectors.dimension)
    const keys = Float64Array.from(vectors.positions, (position) => request.keys[position] ?? 0)
    const docs = Float64Array.from(vectors.positions, (position) => request.docs[position] ?? 0)
    index.put(toVectorEntries(keys, docs, vectors.values, vectors.dimension), 'change')
  }

  async #getOrCreateText(): Promise<TextIndex> {
    this.#text ??= await openTextIndex({ ...this.#options, ifMissing: 'create' })
    if (this.#text === undefined) throw new Error('the text index was not created')
    return this.#text
  }

  /** After an error the index is reopened from its files, so that nothing partially staged is left. */
  async #recoverOnError(action: () => Promise<void> | void): Promise<void> {
    try {
      await action()
    } catch (error) {
      await this.#recover()
      throw error
    }
  }

  #scheduleRelease(): void {
    clearTimeout(this.#releaseTimer)
    this.#releaseTimer = setTimeout(() => void this.#releaseWriter(), IDLE_RELEASE_MS)
    this.#releaseTimer.unref()
  }

  async #releaseWriter(): Promise<void> {
    try {
      await this.#text?.releaseWriter()
    } catch (error) {
      this.#options.log(`a text index did not release its writer: ${String(error)}`)
    }
  }

  async #recover(): Promise<void> {
    this.#staged = 0
    await this.#text?.close().catch(() => {})
    this.#text = await openTextIndex({ ...this.#options, ifMissing: 'skip' })
  }
}

function* toVectorEntries(keys: Float64Array, docs: Float64Array, values: VectorsRequest['values'], dimension: number) {
  for (const [i, key] of keys.entries()) {
    yield { key, doc: docs[i] ?? 0, vector: values.subarray(i * dimension, (i + 1) * dimension) }
  }
}

function mergeLegs(text: TextHits, vectorKeys: number[], cosineOf: (key: number) => number | undefined) {
  const scores = new Map<number, number>()
  text.keys.forEach((key, i) => {
    scores.set(key, text.scores[i] ?? 0)
  })
  for (const key of vectorKeys) if (!scores.has(key)) scores.set(key, Number.NaN)
  return {
    keys: Float64Array.from(scores.keys()),
    bm25: Float64Array.from(scores.values()),
    cosine: Float64Array.from(scores.keys(), (key) => cosineOf(key) ?? Number.NaN),
  }
}
