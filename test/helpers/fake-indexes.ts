import { createReplaySource } from '../../src/engine/ingest/compile/replay.js'
import type {
  FreshBatch,
  IndexBatch,
  IndexedNode,
  IndexStatus,
  SearchHits,
  SearchIndexes,
  SearchRequest,
  VectorBatch,
} from '../../src/engine/search/ports.js'
import type { Database } from '../../src/engine/store/database.js'
import { FLOATS } from '../../src/engine/store/half.js'

interface FakeIndexState {
  seq: number
  nodes: Map<number, IndexedNode>
  vectors: Map<string, Map<number, { doc: number; vector: Float32Array }>>
}

/** Search indexes in memory: they follow the log and store its entries and vectors. */
export class FakeIndexes implements SearchIndexes {
  /** errors that calls throw, by the name of the method */
  readonly failing = new Map<'follow' | 'addVectors' | 'search' | 'activateVectors', unknown>()
  /** why a part of the search is unavailable */
  degradedBy: string[] = []
  readonly searched: SearchRequest[] = []
  readonly rebuilt: string[] = []
  /** sizes of the batches of vectors */
  readonly vectorBatches: number[] = []
  /** prepared log entries that were passed in, by entry */
  readonly fresh: FreshBatch[] = []
  readonly #db: Database
  readonly #state = new Map<string, FakeIndexState>()

  constructor(db: Database) {
    this.#db = db
  }

  stateOf(space: string): FakeIndexState {
    const state = this.#state.get(space) ?? { seq: 0, nodes: new Map(), vectors: new Map() }
    this.#state.set(space, state)
    return state
  }

  /** Passages of a space's index, by their text. */
  texts(space: string): string[] {
    return [...this.stateOf(space).nodes.values()].map(({ body }) => body).sort()
  }

  /** Keys of passages with vectors in the index. */
  vectorKeys(space: string, vectorSpace: string): number[] {
    return [...(this.stateOf(space).vectors.get(vectorSpace)?.keys() ?? [])].sort((a, b) => a - b)
  }

  /** position of the newest announced entry, by space */
  readonly announced = new Map<string, number>()

  announce(space: string, seq: number): void {
    this.announced.set(space, seq)
  }

  async follow(space: string, seq: number, fresh?: FreshBatch): Promise<void> {
    this.#fail('follow')
    if (fresh !== undefined) this.fresh.push(fresh)
    const lastSeq = (await createReplaySource(this.#db).head(space)).seq
    // The real indexes would wait forever for an entry that is not committed.
    if (seq > lastSeq) throw new Error(`entry ${seq} is requested, the log has ${lastSeq}`)
    const state = this.stateOf(space)
    if (fresh !== undefined && fresh.first === state.seq + 1) this.#apply(state, fresh)
    if (state.seq >= seq) return
    for await (const batch of createReplaySource(this.#db).changes(space, state.seq, seq)) this.#apply(state, batch)
  }

  #apply(state: FakeIndexState, { seq, add, remove }: IndexBatch): void {
    for (const node of add) state.nodes.set(node.key, node)
    for (const key of remove) {
      state.nodes.delete(key)
      for (const keys of state.vectors.values()) keys.delete(key)
    }
    state.seq = seq
  }

  async addVectors(space: string, { vectorSpace, dimension, keys, docs, vectors }: VectorBatch): Promise<void> {
    this.#fail('addVectors')
    this.vectorBatches.push(keys.length)
    const vectorsBySpace = this.stateOf(space).vectors
    const vectorsByKey = vectorsBySpace.get(vectorSpace) ?? new Map<number, { doc: number; vector: Float32Array }>()
    vectorsBySpace.set(vectorSpace, vectorsByKey)
    keys.forEach((key, index) => {
      const vector = toFloats(vectors.slice(index * dimension, (index + 1) * dimension))
      vectorsByKey.set(key, { doc: docs[index] ?? -1, vector })
    })
  }

  async activateVectors(space: string, vectorSpace: string): Promise<void> {
    this.#fail('activateVectors')
    const { vectors } = this.stateOf(space)
    for (const id of [...vectors.keys()]) if (id !== vectorSpace) vectors.delete(id)
  }

  async search(space: string, request: SearchRequest): Promise<SearchHits> {
    this.#fail('search')
    this.searched.push(request)
    const hits = [...this.stateOf(space).nodes.values()]
      .filter(({ doc }) => request.docs?.includes(doc) !== false)
      .filter(({ title, body }) => request.terms.some((term) => `${title} ${body}`.toLowerCase().includes(term)))
      .slice(0, request.textK)
      .map(({ key }) => ({ key, bm25: 1 }))
    return {
      ...{ hits, textCount: hits.length, frequencies: new Map(), rewordings: [], vectorCount: 0, textMs: 0 },
      ...{ vectorMs: 0, textEngine: 'fts5', vectorMethod: 'none', degraded: this.degradedBy },
    }
  }

  async status(space: string): Promise<IndexStatus> {
    const { seq, nodes, vectors } = this.stateOf(space)
    const { vectorSpace = '' } = await createReplaySource(this.#db).head(space)
    const vectorCount = vectors.get(vectorSpace)?.size ?? 0
    const counts = { textWatermark: seq, textCount: nodes.size, vectorCount, graphCount: 0 }
    return { space, textEngine: 'fts5', ...counts, degraded: this.degradedBy }
  }

  async degradedReasons(): Promise<string[]> {
    return this.degradedBy
  }

  async settle(): Promise<void> {}

  async rebuild(space: string): Promise<void> {
    this.rebuilt.push(space)
    this.#state.delete(space)
    const source = createReplaySource(this.#db)
    const { seq, vectorSpace } = await source.head(space)
    await this.follow(space, seq)
    if (vectorSpace === undefined) return
    for await (const batch of source.vectors(space, vectorSpace)) await this.addVectors(space, batch)
  }

  async drop(space: string): Promise<void> {
    this.#state.delete(space)
  }

  async applied(): Promise<Map<string, number>> {
    return new Map()
  }

  isRunning(): boolean {
    return true
  }

  pid(): undefined {
    return undefined
  }

  countBuilds(): number {
    return 0
  }

  beginShutdown(): void {}

  async close(): Promise<void> {}

  #fail(name: 'follow' | 'addVectors' | 'search' | 'activateVectors'): void {
    if (this.failing.has(name)) throw this.failing.get(name)
  }
}

/** Converts a vector of numbers, or of the bits of half floats. */
function toFloats(vector: VectorBatch['vectors']): Float32Array {
  return vector instanceof Float32Array ? vector : Float32Array.from(vector, (half) => FLOATS[half] ?? 0)
}
