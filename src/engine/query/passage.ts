import { LRUCache } from 'lru-cache'
import { forEachTerm } from '../../lib/text/analyze.js'
import { splitSentences } from '../../lib/text/sentences.js'

/** A node as ranking needs it. */
export interface Passage {
  key: number
  /** document title and heading path */
  title: string
  body: string
}

/** A passage's terms as numbers, with its sentence borders: some 600 bytes for 200 words. */
export interface AnalysedPassage {
  title: Int32Array
  body: Int32Array
  /** index in `body` after the last term of each sentence */
  sentenceEnds: Int32Array
}

const FNV_OFFSET = 0x811c9dc5 | 0
const FNV_PRIME = 0x01000193

/** FNV-1a of a term, 32 bits. Two of a query's terms and a passage's meet by chance once in ten million passages. */
export function termHash(term: string): number {
  let hash = FNV_OFFSET
  for (let i = 0; i < term.length; i++) hash = Math.imul(hash ^ term.charCodeAt(i), FNV_PRIME)
  return hash
}

function hashes(text: string): number[] {
  const found: number[] = []
  forEachTerm(text, (term) => found.push(termHash(term)))
  return found
}

/** Cuts a passage into hashed terms and sentences. */
export function analysePassage(passage: Passage): AnalysedPassage {
  const body: number[] = []
  const ends: number[] = []
  for (const { start, end } of splitSentences(passage.body)) {
    forEachTerm(passage.body.slice(start, end), (term) => body.push(termHash(term)))
    if (body.length > (ends.at(-1) ?? 0)) ends.push(body.length)
  }
  return {
    title: Int32Array.from(hashes(passage.title)),
    body: Int32Array.from(body),
    sentenceEnds: Int32Array.from(ends),
  }
}

/** About 25,000 passages of 200 words. */
const CACHE_BYTES = 24 * 1024 * 1024
/** Three typed arrays, their buffers and the cache's own entry. */
const ENTRY_OVERHEAD = 400

/**
 * Analysed passages by node key. A node's text never changes under its key, so nothing has to be forgotten; `clear`
 * is for a store that was replaced.
 */
export class PassageCache {
  private readonly passages: LRUCache<number, AnalysedPassage>

  constructor(maxBytes = CACHE_BYTES) {
    this.passages = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ title, body, sentenceEnds }) =>
        ENTRY_OVERHEAD + title.byteLength + body.byteLength + sentenceEnds.byteLength,
    })
  }

  get(key: number): AnalysedPassage | undefined {
    return this.passages.get(key)
  }

  set(key: number, passage: AnalysedPassage): void {
    this.passages.set(key, passage)
  }

  clear(): void {
    this.passages.clear()
  }
}
