import type { SearchHit } from '../../src/engine/search/ports.js'
import { analyzeDocument } from '../../src/lib/text/analyze.js'

const K1 = 1.2
const B = 0.75

/** Field lengths as the text index stores them: one byte, exact to 40, then three bits of mantissa. */
const STORED_LENGTHS = Float64Array.from({ length: 256 }, (_, id) => {
  if (id < 24) return id
  const shift = ((id - 24) >>> 3) - 1
  return 24 + (shift < 0 ? (id - 24) & 7 : (((id - 24) & 7) | 8) * 2 ** shift)
})

function roundLength(length: number): number {
  let low = 0
  let high = 255
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (STORED_LENGTHS[middle]! <= length) low = middle
    else high = middle - 1
  }
  return STORED_LENGTHS[low]!
}

/** A small text index in memory: BM25 with Tantivy's formula and rounded lengths over the field `title title body`. */
export class MemoryBm25 {
  private readonly postings = new Map<string, number[]>()
  private readonly lengths: number[] = []
  private total = 0

  add(title: string, body: string): void {
    const document = this.lengths.length
    const terms = analyzeDocument(`${title}\n${title}\n${body}`)
    const counts = new Map<string, number>()
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    for (const [term, count] of counts) {
      const list = this.postings.get(term) ?? []
      list.push(document, count)
      this.postings.set(term, list)
    }
    this.total += terms.length
    this.lengths.push(roundLength(terms.length))
  }

  /** Returns how many documents contain a term. */
  frequency(term: string): number {
    return (this.postings.get(term)?.length ?? 0) / 2
  }

  search(terms: readonly string[], limit: number): SearchHit[] {
    const count = this.lengths.length
    const average = this.total / count
    const scores = new Float64Array(count)
    for (const term of terms) {
      const list = this.postings.get(term) ?? []
      const found = list.length / 2
      const idf = Math.log(1 + (count - found + 0.5) / (found + 0.5))
      for (let i = 0; i < list.length; i += 2) {
        const document = list[i]!
        const frequency = list[i + 1]!
        scores[document]! +=
          (idf * frequency * (K1 + 1)) / (frequency + K1 * (1 - B + (B * this.lengths[document]!) / average))
      }
    }
    const found: SearchHit[] = []
    for (let key = 0; key < count; key++) if (scores[key]! > 0) found.push({ key, bm25: scores[key]! })
    return found.sort((a, b) => b.bm25! - a.bm25! || a.key - b.key).slice(0, limit)
  }
}
