import { forEachTerm } from '../../../../lib/text/analyze.js'
import { termHash } from '../passage.js'

/** Maximal number of nodes of a range: a page of a section, or this part of a section without pages. */
const MAX_RANGE_NODES = 8
/** Terms stored per range; a page of 400 words has some 150 distinct ones, and these cover most of its words. */
const MAX_RANGE_TERMS = 64
/** Terms stored per document: all of a short one, the most frequent of a long one. */
const MIN_PROFILE_TERMS = 96
const PROFILE_TERMS_PER_NODE = 4
const MAX_PROFILE_TERMS = 1024
/** Beginning of a page or section: its heading, or the caption of a statement. */
const MAX_LEAD_CHARACTERS = 200
const MAX_COUNT = 0x7fff
/** marks a term of the document's title or file name */
const NAME_BIT = 0x8000

export interface IndexableNode {
  key: number
  text: string
  /** titles of the enclosing sections, outermost first */
  section: string[]
  outlineNode: string
  page: number | null
}

/** A run of consecutive nodes in one section and on one page, summarised by its terms (hashes of `termHash`). */
export interface IndexedRange {
  /** key of the first node; the others follow without a gap */
  first: number
  count: number
  page: number | null
  section: string
  title: number[]
  lead: number[]
  /** most frequent terms, and their number of occurrences */
  terms: number[]
  counts: number[]
  /** total number of terms */
  length: number
  /** number of numerals in the text */
  figures: number
}

export interface BuiltPageIndex {
  /** total number of terms */
  length: number
  /** `DocumentProfile` as bytes */
  profile: Uint8Array
  ranges: IndexedRange[]
}

interface OpenIndexRange extends Omit<IndexedRange, 'terms' | 'counts'> {
  termCounts: Map<number, number>
}

/** Summarises one document while its nodes arrive in reading order. */
export class PageIndexBuilder {
  readonly #names = new Set<number>()
  readonly #document = new Map<number, number>()
  readonly #ranges: IndexedRange[] = []
  #open: OpenIndexRange | undefined
  #length = 0
  #nodes = 0

  /** @param name title and file name of the document */
  constructor(name: string) {
    forEachTerm(name.replace(/[_./\\-]+/g, ' '), (term) => this.#names.add(termHash(term)))
  }

  add(node: IndexableNode): void {
    this.#nodes++
    const range = this.#getRange(node)
    range.count++
    range.figures += node.text.match(/\d+/g)?.length ?? 0
    forEachTerm(node.text, (term) => {
      const hash = termHash(term)
      range.termCounts.set(hash, (range.termCounts.get(hash) ?? 0) + 1)
      range.length++
    })
  }

  finish(): BuiltPageIndex {
    this.#close()
    const limit = Math.min(MAX_PROFILE_TERMS, Math.max(MIN_PROFILE_TERMS, this.#nodes * PROFILE_TERMS_PER_NODE))
    return { length: this.#length, profile: packProfile(this.#names, this.#document, limit), ranges: this.#ranges }
  }

  #getRange(node: IndexableNode): OpenIndexRange {
    const open = this.#open
    if (open?.section === node.outlineNode && open.page === node.page && open.count < MAX_RANGE_NODES) return open
    this.#close()
    this.#open = {
      first: node.key,
      count: 0,
      page: node.page,
      section: node.outlineNode,
      length: 0,
      figures: 0,
      title: listDistinctTerms(node.section.join('\n')),
      lead: listDistinctTerms(node.text.slice(0, MAX_LEAD_CHARACTERS)),
      termCounts: new Map(),
    }
    return this.#open
  }

  #close(): void {
    if (this.#open === undefined) return
    const { termCounts, ...range } = this.#open
    this.#open = undefined
    this.#length += range.length
    for (const [hash, count] of termCounts) this.#document.set(hash, (this.#document.get(hash) ?? 0) + count)
    const selected = selectMostFrequent(termCounts, MAX_RANGE_TERMS)
    this.#ranges.push({ ...range, terms: selected.map(([hash]) => hash), counts: selected.map(([, count]) => count) })
  }
}

/** Terms of a document by hash, sorted, with their counts. */
export interface DocumentProfile {
  hashes: Int32Array
  counts: Uint16Array
}

export function parseProfile(bytes: Uint8Array): DocumentProfile {
  const size = bytes.byteLength / 6
  // bytes of a row may start at any offset of a shared buffer
  const copy = new Uint8Array(bytes)
  return { hashes: new Int32Array(copy.buffer, 0, size), counts: new Uint16Array(copy.buffer, size * 4, size) }
}

/** Number of occurrences of a term in a document, and whether its name contains the term; by binary search. */
export function lookUpTerm({ hashes, counts }: DocumentProfile, hash: number): { count: number; named: boolean } {
  let low = 0
  let high = hashes.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = hashes[middle] ?? 0
    if (found === hash) {
      const value = counts[middle] ?? 0
      return { count: value & MAX_COUNT, named: (value & NAME_BIT) !== 0 }
    }
    if (found < hash) low = middle + 1
    else high = middle - 1
  }
  return { count: 0, named: false }
}

function packProfile(names: ReadonlySet<number>, termCounts: Map<number, number>, limit: number): Uint8Array {
  for (const name of names) if (!termCounts.has(name)) termCounts.set(name, 0)
  const selected = [...names].map((hash): [number, number] => [hash, termCounts.get(hash) ?? 0])
  selected.push(...selectMostFrequent(termCounts, limit, names))
  selected.sort(([a], [b]) => a - b)
  const hashes = Int32Array.from(selected, ([hash]) => hash)
  const counts = Uint16Array.from(selected, ([hash, count]) => {
    return Math.min(MAX_COUNT, count) | (names.has(hash) ? NAME_BIT : 0)
  })
  return Buffer.concat([new Uint8Array(hashes.buffer), new Uint8Array(counts.buffer)])
}

/**
 * The most frequent terms, ties by hash, so that the same document always gives the same index. A document may have
 * hundreds of thousands of terms that occur once: only the selected ones are sorted by count.
 */
function selectMostFrequent(
  termCounts: ReadonlyMap<number, number>,
  limit: number,
  excluded?: ReadonlySet<number>,
): [number, number][] {
  const histogram = new Map<number, number>()
  for (const [hash, count] of termCounts)
    if (excluded?.has(hash) !== true) histogram.set(count, (histogram.get(count) ?? 0) + 1)
  let free = limit
  let tied = 0
  for (const [count, number] of [...histogram].sort(([a], [b]) => b - a)) {
    tied = count
    if (number > free) break
    free -= number
    tied = 0
  }
  const selected: [number, number][] = []
  const ties: number[] = []
  for (const [hash, count] of termCounts) {
    if (excluded?.has(hash) === true) continue
    if (count > tied) selected.push([hash, count])
    else if (count === tied) ties.push(hash)
  }
  for (const hash of Int32Array.from(ties).sort().subarray(0, free)) selected.push([hash, tied])
  return selected.sort(([a, ca], [b, cb]) => cb - ca || a - b)
}

function listDistinctTerms(text: string): number[] {
  const found = new Set<number>()
  forEachTerm(text, (term) => found.add(termHash(term)))
  return [...found]
}
