import { PassageCache } from '../../src/engine/knowledge/derived/passage.js'
import { embedTerms, embedText, type LsaSpace, openModel } from '../../src/engine/models/builtin/lsa.js'
import { LsaCorpus } from '../../src/engine/models/builtin/lsa-corpus.js'
import type { CosineCalibration, QuestionStatistics } from '../../src/engine/retrieval/query/confidence.js'
import { fuse } from '../../src/engine/retrieval/query/fuse.js'
import type { RankedCandidate } from '../../src/engine/retrieval/query/rank.js'
import { createTermWeights } from '../../src/engine/retrieval/query/term-weights.js'
import { BACKGROUND_SAMPLES, computeBackground } from '../../src/engine/search/background.js'
import type { SearchHit } from '../../src/engine/search/ports.js'
import { analyzeQuery } from '../../src/lib/text/analyze.js'
import { chunkWords, type SourceDocument } from './datasets.js'
import { MemoryBm25 } from './memory-bm25.js'
import { rankCandidates } from './rank-candidates.js'

const HITS_PER_INDEX = 200
const CHUNK_WORDS = 200
const CHUNK_OVERLAP = 40

export interface MemoryQueryRun {
  terms: string[]
  hits: SearchHit[]
  ranked: RankedCandidate[]
  statistics: QuestionStatistics
  rankMs: number
}

/** A stand-in for an embedding model; vectors of unit length. */
export interface Embedder {
  embedDocument(document: SourceDocument): Float32Array
  embedQuery(text: string): Float32Array
}

/** A knowledge space without daemon or database: the product's analyser, model, fusion and ranking over arrays. */
export class MemorySpace {
  readonly nodes: { document: SourceDocument; title: string; body: string }[] = []
  readonly trainMs: number
  private readonly text = new MemoryBm25()
  private readonly lsa: LsaSpace | undefined
  private readonly vectors: (Float32Array | undefined)[]
  private readonly weights: (term: string) => number
  private readonly cache = new PassageCache()

  private readonly embedder: Embedder | undefined

  /**
   * @param embedder replaces the built-in model; its vectors are calibrated like a provider's
   * @param isChunked splits documents into passages
   */
  constructor(
    documents: readonly SourceDocument[],
    { embedder, isChunked = true }: { embedder?: Embedder; isChunked?: boolean } = {},
  ) {
    this.embedder = embedder
    const corpus = new LsaCorpus()
    for (const document of documents) {
      const bodies = isChunked ? chunkWords(document.text, CHUNK_WORDS, CHUNK_OVERLAP) : [document.text]
      for (const body of bodies) {
        this.nodes.push({ document, title: document.title, body })
        this.text.add(document.title, body)
        corpus.add(`${document.title}\n${body}`)
      }
    }
    this.weights = createTermWeights((term) => this.text.frequency(term), this.nodes.length)
    const started = performance.now()
    const model = embedder === undefined ? corpus.train() : undefined
    this.trainMs = performance.now() - started
    const lsa = model === undefined ? undefined : openModel(model)
    this.lsa = lsa
    this.vectors = this.nodes.map(({ document, title, body }) => {
      if (embedder !== undefined) return embedder.embedDocument(document)
      return lsa === undefined ? undefined : embedText(lsa, `${title}\n${body}`)
    })
  }

  idf = (term: string): number => this.weights(term)

  private load = (keys: number[]) => new Map(keys.map((key) => [key, this.nodes[key]!]))

  private vectorsOf = (keys: number[]) =>
    new Map(keys.flatMap((key): [number, Float32Array][] => (this.vectors[key] ? [[key, this.vectors[key]]] : [])))

  ask(query: string): MemoryQueryRun {
    const terms = analyzeQuery(query)
    const { hits, calibration } = this.search(terms, query)
    const started = performance.now()
    const { ranked, statistics } = rankCandidates({
      terms,
      hits,
      idf: this.idf,
      cache: this.cache,
      nodes: this.nodes.length,
      ...(calibration === undefined ? {} : { calibration }),
      load: this.load,
      ...(this.lsa === undefined ? {} : { vectors: this.vectorsOf }),
    })
    return { terms, hits, ranked, statistics, rankMs: performance.now() - started }
  }

  /** Lists the documents of ranked nodes in the order of their best nodes. */
  documents(keys: Iterable<number>, limit: number): string[] {
    const ids = new Set<string>()
    for (const key of keys) {
      ids.add(this.nodes[key]!.document.id)
      if (ids.size >= limit) break
    }
    return [...ids]
  }

  /** Ranks hits by text, by vectors, and by fusion of both. */
  rankByIndex(hits: readonly SearchHit[]): { text: number[]; dense: number[]; fused: number[] } {
    const sortByScore = (score: (hit: SearchHit) => number | undefined): number[] =>
      hits
        .filter((hit) => score(hit) !== undefined)
        .sort((a, b) => score(b)! - score(a)! || a.key - b.key)
        .map((hit) => hit.key)
    return {
      text: sortByScore((hit) => hit.bm25),
      dense: sortByScore((hit) => hit.cosine),
      fused: fuse(hits).map((hit) => hit.key),
    }
  }

  private search(terms: readonly string[], query: string): { hits: SearchHit[]; calibration?: CosineCalibration } {
    const hits = new Map(this.text.search(terms, HITS_PER_INDEX).map((hit) => [hit.key, hit]))
    const vector =
      this.embedder?.embedQuery(query) ?? (this.lsa === undefined ? undefined : embedTerms(this.lsa, terms))
    if (vector === undefined) return { hits: [...hits.values()] }
    const cosines = Float64Array.from(this.vectors, (other) => (other === undefined ? -1 : dot(vector, other)))
    const order = [...cosines.keys()].sort((a, b) => cosines[b]! - cosines[a]! || a - b).slice(0, HITS_PER_INDEX)
    for (const key of order) if (!hits.has(key)) hits.set(key, { key })
    const found = [...hits.values()].map((hit) => ({ ...hit, cosine: cosines[hit.key]! }))
    if (this.embedder === undefined) return { hits: found }
    const step = Math.max(1, Math.floor(cosines.length / BACKGROUND_SAMPLES))
    const background = computeBackground(
      cosines.filter((_, index) => index % step === 0).subarray(0, BACKGROUND_SAMPLES),
    )
    return { hits: found, calibration: { background, nodes: this.nodes.length } }
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}
