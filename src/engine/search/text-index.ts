import { analyzeTitled } from '../../lib/text/analyze.js'
import { type CompoundQuestion, findRewordings, type Rewording } from '../../lib/text/compounds.js'
import type { DocumentScope } from './ports.js'

/** The interface and the shared parts of both text engines. One index belongs to one space. */

export type TextEngine = 'tantivy' | 'fts5'

/** A node for the index. */
export interface TextNode {
  key: number
  doc: number
  /** terms joined with single spaces, or the texts to analyse */
  text: string | { title: string; body: string }
}

/** The terms of a node. Title terms count twice: a title is short and names the subject of the passage. */
export function analyzeNode({ text }: TextNode): string {
  if (typeof text === 'string') return text
  const terms = analyzeTitled(text.title, text.body)
  const titleTerms = terms.title.join(' ')
  return `${titleTerms} ${titleTerms} ${terms.body.join(' ')}`
}

export interface TextHits {
  keys: number[]
  /** BM25, higher is better */
  scores: number[]
  /** number of nodes with each of the query's terms */
  frequencies: Map<string, number>
  /** alternative wordings in the nodes, which were searched for too */
  rewordings: Rewording[]
}

export interface TextSearchOptions {
  /** finds only nodes of these documents */
  docs?: readonly number[] | undefined
  /** finds also nodes that write a compound of the terms in parts, or two of them as one word */
  compounds?: CompoundQuestion | undefined
  /** nodes outside of it affect nothing but the scores */
  scope?: DocumentScope | undefined
}

/**
 * A text index on disk. One caller makes calls in sequence; searches may run in between. After an error of any method
 * but `search` the index is unusable: close and reopen it.
 */
export interface TextIndex {
  readonly engine: TextEngine
  /**
   * Log entry up to which the committed content is complete. After a crash or reopening it may be older than the
   * content, never newer; 0 where the age of the content is unknown.
   */
  readonly watermark: number
  /** number of committed nodes */
  count(): number
  /** Removes nodes, then adds nodes (replacing those with the same key). Invisible until `commit`. */
  stage(add: readonly TextNode[], remove: readonly number[]): Promise<void> | void
  /** Makes everything staged durable and visible, then raises the watermark. */
  commit(watermark: number): Promise<void> | void
  /** Discards what is staged. */
  rollback(): Promise<void> | void
  /** The best `k` nodes with any of the terms. */
  search(terms: readonly string[], k: number, options?: TextSearchOptions): Promise<TextHits>
  /** Releases what only writing needs; does nothing while something is staged. */
  releaseWriter(): Promise<void> | void
  close(): Promise<void>
}

export interface TextIndexOptions {
  log: (message: string) => void
  /** see `WATERMARK_LAG_MS` */
  watermarkLagMs: number
}

/** The content is not what was written. The directory is moved to quarantine and the index rebuilt. */
export class DamagedIndexError extends Error {}

/**
 * Maximal number of distinct terms of a query; a longer one keeps its rarest. Each costs a walk through a posting list.
 */
const MAX_QUERY_TERMS = 64
/** Further repetitions of a term add no weight. */
const MAX_REPEATS = 8
/** Terms of a query after this count are ignored. */
const MAX_INPUT_TERMS = 2_048

/** The analyser truncates terms long before this. */
const MAX_TERM_LENGTH = 256

/** Whether a text index can store a term. */
export function isIndexableTerm(term: string): boolean {
  return term !== '' && term.length <= MAX_TERM_LENGTH && !term.includes('\0')
}

export interface WeightedTerm {
  term: string
  /** number of repetitions in the query, 1 to 8 */
  weight: number
}

/** Weight of a rewording, relative to the original terms. */
export const REWORDING_WEIGHT = 0.75

/** Maximal factor by which the weight of a common term is raised. */
const MAX_TERM_FACTOR = 4

/** A rewording as a part of a query. */
export interface WeightedRewording extends Rewording {
  /** factor of its terms, so that together they weigh less than the original terms */
  weight: number
}

/** Computes the weights of rewordings. @param frequency number of nodes with a term, of `nodes` in total */
export function weighRewordings(
  compounds: CompoundQuestion | undefined,
  frequency: (term: string) => number,
  nodes: number,
): WeightedRewording[] {
  if (compounds === undefined || nodes === 0) return []
  const sumIdf = (terms: readonly string[]): number =>
    terms.reduce((sum, term) => sum + Math.log(1 + (nodes - frequency(term) + 0.5) / (frequency(term) + 0.5)), 0)
  return findRewordings(compounds, frequency, nodes).map((rewording) => ({
    ...rewording,
    weight:
      REWORDING_WEIGHT * Math.min(MAX_TERM_FACTOR, sumIdf(rewording.queryTerms) / sumIdf(rewording.documentTerms)),
  }))
}

/** Number of nodes with each term of a query. */
export function countTermNodes(terms: readonly string[], frequency: (term: string) => number): Map<string, number> {
  return new Map(terms.slice(0, MAX_INPUT_TERMS).map((term) => [term, isIndexableTerm(term) ? frequency(term) : 0]))
}

/**
 * The distinct terms of a query in order, weighted by their repetitions. Of more than 64 terms the rarest are kept.
 *
 * @param frequency number of nodes with a term; called only when there are too many terms
 */
export function weighTerms(terms: readonly string[], frequency: (term: string) => number): WeightedTerm[] {
  const counts = new Map<string, number>()
  for (const term of terms.slice(0, MAX_INPUT_TERMS)) {
    if (isIndexableTerm(term)) counts.set(term, Math.min(MAX_REPEATS, (counts.get(term) ?? 0) + 1))
  }
  const weighted = [...counts].map(([term, weight]) => ({ term, weight }))
  if (weighted.length <= MAX_QUERY_TERMS) return weighted
  return weighted
    .map((entry) => ({ entry, frequency: frequency(entry.term) }))
    .filter((candidate) => candidate.frequency > 0)
    .sort((a, b) => a.frequency - b.frequency)
    .slice(0, MAX_QUERY_TERMS)
    .map((candidate) => candidate.entry)
}
