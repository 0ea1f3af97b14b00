import { crc32 } from 'node:zlib'
import { asTenant } from '../../../src/engine/base/tenant-scope.js'
import type {
  ExpectedCounts,
  FreshBatch,
  IndexBatch,
  IndexedNode,
  ReplaySource,
  ReplaySourceHead,
  SearchIndexes,
  VectorBatch,
  VectorSums,
} from '../../../src/engine/search/ports.js'
import { toHalf } from '../../../src/engine/store/half.js'

/**
 * An in-memory replacement of the database for the indexes: live nodes and a log of changes, one sequence number a
 * batch.
 */
export class FakeSource implements ReplaySource {
  readonly nodes = new Map<number, IndexedNode>()
  readonly log: IndexBatch[] = []
  readonly extra = new Map<string, Map<number, Float32Array>>()
  vectorSpace: string | undefined
  dimension: number | undefined
  oldestSeq = 0
  seq = 0
  /** Start positions of the requests for changes so far. */
  changeRequests: number[] = []
  vectorPages = 0
  /** Keys of vectors that were requested one by one. */
  sent: number[] = []
  /** Number of complete row counts. */
  counts = 0
  pageSize = 50
  /** Delay before each page. */
  delayMs = 0

  constructor(vectorSpace?: string, dimension?: number) {
    this.vectorSpace = vectorSpace
    this.dimension = dimension
  }

  inSpace<T>(_space: string, work: () => Promise<T>): Promise<T> {
    return asTenant('acme', work)
  }

  /** Commits a change to the source; the caller passes the returned batch to the indexes. */
  commit(add: IndexedNode[], remove: number[] = []): FreshBatch {
    for (const key of remove) this.nodes.delete(key)
    for (const node of add) this.nodes.set(node.key, node)
    this.seq++
    const batch: FreshBatch = { first: this.seq, seq: this.seq, add, remove }
    if (this.vectorSpace !== undefined) batch.vectorSpace = this.vectorSpace
    this.log.push(batch)
    return batch
  }

  async head(): Promise<ReplaySourceHead> {
    const vectors =
      this.vectorSpace === undefined ? {} : { vectorSpace: this.vectorSpace, dimension: this.dimension ?? 0 }
    return { seq: this.seq, ...vectors }
  }

  async oldestEntry(): Promise<number> {
    return this.oldestSeq
  }

  async expectedCounts(): Promise<ExpectedCounts> {
    const vectors = this.vectorSpace === undefined ? [] : this.#vectorsOf(this.vectorSpace)
    return {
      seq: this.seq,
      nodes: this.nodes.size,
      vectors: vectors.length,
      ...(this.vectorSpace === undefined ? {} : { vectorSpace: this.vectorSpace }),
    }
  }

  async countRows(): Promise<ExpectedCounts> {
    this.counts++
    return this.expectedCounts()
  }

  async *changes(_space: string, after: number, to: number): AsyncIterable<IndexBatch> {
    this.changeRequests.push(after)
    if (after > 0) {
      for (const batch of this.log.filter(({ seq }) => seq > after && seq <= to)) {
        await this.#wait()
        yield batch
      }
      return
    }
    for (const page of pages([...this.nodes.values()], this.pageSize)) {
      await this.#wait()
      yield { seq: this.seq, add: page.map(({ vector: _, ...node }) => node), remove: [] }
    }
  }

  async *vectors(_space: string, vectorSpace: string): AsyncIterable<VectorBatch> {
    for (const page of pages(this.#vectorsOf(vectorSpace), this.pageSize)) {
      await this.#wait()
      this.vectorPages++
      // In half precision, as the database stores them.
      const batch = vectorBatch(vectorSpace, page)
      yield { ...batch, vectors: Uint16Array.from(batch.vectors, toHalf) }
    }
  }

  async *vectorSums(space: string, vectorSpace: string): AsyncIterable<VectorSums> {
    for await (const { dimension, keys, docs, vectors } of this.vectors(space, vectorSpace)) {
      const halves = (place: number) => new Uint8Array(vectors.slice(place * dimension, (place + 1) * dimension).buffer)
      const sums = Uint32Array.from(keys, (_, place) => crc32(halves(place)))
      yield { dimension, keys: Float64Array.from(keys), docs: Float64Array.from(docs), sums }
    }
  }

  async *vectorsOfNodes(_space: string, vectorSpace: string, keys: readonly number[]): AsyncIterable<VectorBatch> {
    const wanted = this.#vectorsOf(vectorSpace).filter(({ key }) => keys.includes(key))
    for (const page of pages(wanted, this.pageSize)) {
      this.sent.push(...page.map(({ key }) => key))
      yield vectorBatch(vectorSpace, page)
    }
  }

  #vectorsOf(vectorSpace: string): { key: number; doc: number; vector: Float32Array }[] {
    const other = this.extra.get(vectorSpace)
    return [...this.nodes.values()].flatMap((node) => {
      const vector = other === undefined ? node.vector : other.get(node.key)
      return vector === undefined ? [] : [{ key: node.key, doc: node.doc, vector }]
    })
  }

  async #wait(): Promise<void> {
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs))
  }
}

export function vectorBatch(
  vectorSpace: string,
  entries: { key: number; doc: number; vector: Float32Array }[],
): VectorBatch {
  const dimension = entries[0]?.vector.length ?? 0
  const vectors = new Float32Array(entries.length * dimension)
  entries.forEach((entry, i) => {
    vectors.set(entry.vector, i * dimension)
  })
  return {
    vectorSpace,
    dimension,
    keys: entries.map((entry) => entry.key),
    docs: entries.map((entry) => entry.doc),
    vectors,
  }
}

function* pages<T>(items: T[], size: number): Iterable<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size)
}

/** Passes a committed change to the indexes. */
export function followBatch(indexes: Pick<SearchIndexes, 'follow'>, space: string, batch: FreshBatch): Promise<void> {
  return indexes.follow(space, batch.seq, batch)
}

/** A source for several spaces, by their ids. */
export function sourcesOf(sources: Readonly<Record<string, FakeSource>>): ReplaySource {
  const of = (space: string): FakeSource => sources[space] ?? new FakeSource()
  return {
    inSpace: (space, work) => of(space).inSpace(space, work),
    head: (space) => of(space).head(),
    oldestEntry: (space) => of(space).oldestEntry(),
    expectedCounts: (space) => of(space).expectedCounts(),
    countRows: (space) => of(space).countRows(),
    changes: (space, after, to) => of(space).changes(space, after, to),
    vectors: (space, vectorSpace) => of(space).vectors(space, vectorSpace),
    vectorSums: (space, vectorSpace) => of(space).vectorSums(space, vectorSpace),
    vectorsOfNodes: (space, vectorSpace, keys) => of(space).vectorsOfNodes(space, vectorSpace, keys),
  }
}
