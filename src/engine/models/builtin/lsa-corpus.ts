import { forEachTerm } from '../../../lib/text/analyze.js'
import { type LsaModel, termWeight } from './lsa.js'
import { dominantBasis, quantiseRows, type SparseRows } from './lsa.kernel.js'

/** With fewer texts there is too little to train on, and the text index finds everything anyway. */
export const LSA_MIN_DOCUMENTS = 30
/** More texts than this are sampled: the subspace hardly changes, but the time grows. */
export const LSA_MAX_DOCUMENTS = 20_000
const DIMENSION = 200
/** Minimal number of documents per dimension: k = N / 4 does no harm at 50 documents, k = N would memorise them. */
const MIN_DOCUMENTS_PER_DIMENSION = 4
/**
 * Maximal number of terms with a row; there are many more pairs of Chinese characters, and the rare ones carry little.
 */
const MAX_TERM_ROWS = 30_000
/** The second iteration costs a fifth more time and makes the result depend less on the random start. */
const ITERATIONS = 2
const SEED = 0x5eed

/** Term counts of the training texts, stored as numbers only. */
export class LsaCorpus {
  private readonly ids = new Map<string, number>()
  private frequencies = new Uint32Array(1 << 14)
  private entries = new Uint32Array(1 << 16)
  private counts = new Uint16Array(1 << 16)
  private used = 0
  private readonly starts: number[] = [0]
  private readonly current = new Map<number, number>()

  get documents(): number {
    return this.starts.length - 1
  }

  /** Adds one text; texts beyond `LSA_MAX_DOCUMENTS` are ignored. */
  add(text: string): void {
    if (this.documents >= LSA_MAX_DOCUMENTS) return
    this.current.clear()
    forEachTerm(text, (term) => {
      const id = this.idOf(term)
      this.current.set(id, (this.current.get(id) ?? 0) + 1)
    })
    this.reserve(this.current.size)
    for (const [id, count] of this.current) {
      this.entries[this.used] = id
      this.counts[this.used++] = Math.min(count, 0xffff)
      this.frequencies[id] = (this.frequencies[id] ?? 0) + 1
    }
    this.starts.push(this.used)
  }

  private idOf(term: string): number {
    const known = this.ids.get(term)
    if (known !== undefined) return known
    const id = this.ids.size
    this.ids.set(term, id)
    if (id >= this.frequencies.length) this.frequencies = copyInto(this.frequencies, new Uint32Array(id * 2))
    return id
  }

  private reserve(more: number): void {
    const needed = this.used + more
    if (needed <= this.entries.length) return
    const size = Math.max(needed, Math.ceil(this.entries.length * 1.5))
    this.entries = copyInto(this.entries, new Uint32Array(size))
    this.counts = copyInto(this.counts, new Uint16Array(size))
  }

  /** Trains a model of the texts so far; undefined when there are too few of them or they share no terms. */
  train(): LsaModel | undefined {
    const documents = this.documents
    if (documents < LSA_MIN_DOCUMENTS) return undefined
    const { terms, rows, rowOf, frequencies } = this.chooseTerms()
    const dimension = Math.min(DIMENSION, Math.floor(documents / MIN_DOCUMENTS_PER_DIMENSION), rows)
    if (dimension < 1) return undefined
    const basis = dominantBasis(this.weightRows(rows, rowOf), dimension, SEED, ITERATIONS)
    const { bytes, scales } = quantiseRows(basis, rows, dimension)
    return { dimension, documents, terms, rows, frequencies, basis: bytes, scales }
  }

  /** Terms in at least two texts; those in at most half of the texts, the most frequent first, get rows. */
  private chooseTerms(): { terms: string[]; rows: number; rowOf: Int32Array; frequencies: Uint32Array } {
    const repeated = [...this.ids].filter(([, id]) => this.getFrequency(id) >= 2)
    const informative = repeated.filter(([, id]) => this.getFrequency(id) <= this.documents / 2)
    informative.sort(([a, x], [b, y]) => this.getFrequency(y) - this.getFrequency(x) || (a < b ? -1 : 1))
    const chosen = informative.slice(0, MAX_TERM_ROWS)
    const common = repeated.filter(([, id]) => this.getFrequency(id) > this.documents / 2)
    const all = [...chosen, ...common]
    const rowOf = new Int32Array(this.ids.size).fill(-1)
    chosen.forEach(([, id], row) => {
      rowOf[id] = row
    })
    return {
      terms: all.map(([term]) => term),
      rows: chosen.length,
      rowOf,
      frequencies: Uint32Array.from(all, ([, id]) => this.getFrequency(id)),
    }
  }

  private getFrequency(id: number): number {
    return this.frequencies[id] ?? 0
  }

  private weightRows(rows: number, rowOf: Int32Array): SparseRows {
    const column = new Uint32Array(this.used)
    const value = new Float32Array(this.used)
    const start = new Uint32Array(this.documents + 1)
    let position = 0
    for (let document = 0; document < this.documents; document++) {
      const first = position
      let squares = 0
      for (let entry = this.starts[document] ?? 0; entry < (this.starts[document + 1] ?? 0); entry++) {
        const id = this.entries[entry] ?? 0
        const row = rowOf[id] ?? -1
        if (row < 0) continue
        const weight = termWeight(this.counts[entry] ?? 0, this.documents, this.getFrequency(id))
        column[position] = row
        value[position++] = weight
        squares += weight * weight
      }
      const length = Math.sqrt(squares)
      for (let index = first; index < position; index++) value[index] = (value[index] ?? 0) / length
      start[document + 1] = position
    }
    return { rows: this.documents, columns: rows, start, column, value }
  }
}

function copyInto<T extends Uint32Array | Uint16Array>(source: T, target: T): T {
  target.set(source)
  return target
}
