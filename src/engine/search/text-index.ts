import { analyzeTitled } from '../../lib/text/analyze.js'
import { type CompoundQuestion, type Rewording, rewordingsOf } from '../../lib/text/compounds.js'
import type { DocumentScope } from './ports.js'

/** What both text engines do, and what they share. One index belongs to one space. */

export type TextEngine = 'tantivy' | 'fts5'

/** A node for the index. */
export interface TextNode {
  key: number
  doc: number
  /** terms joined with single spaces, or what they are to be taken from */
  text: string | { title: string; body: string }
}

/** The terms of a node. Those of a title count twice: it is short, and what it names the passage is about. */
export function termsOf({ text }: TextNode): string {
  if (typeof text === 'string') return text
  const terms = analyzeTitled(text.title, text.body)
  const titleTerms = terms.title.join(' ')
  return `${titleTerms} ${titleTerms} ${terms.body.join(' ')}`
}

export interface TextHits {
  keys: number[]
  /** BM25, higher is better */
  scores: number[]
  /** how many nodes hold each of the query's terms */
  frequencies: Map<string, number>
  /** what nodes say in other words, and was searched for too */
  rewordings: Rewording[]
}

/**
 * A text index on disk. Calls are made one after another by one caller, searches may come between them.
 * An error other than of `search` leaves the index unusable: close it and open it again.
 */
export interface TextIndex {
  readonly engine: TextEngine
  /**
   * Log sequence up to which the committed content is complete. What is found after a crash or a reopening may be
   * older than what is there, never newer; 0 where the content's age is not known.
   */
  readonly watermark: number
  /** committed nodes */
  count(): number
  /** Takes nodes out, then puts nodes in (replacing those of the same key). Invisible until `commit`. */
  stage(add: readonly TextNode[], remove: readonly number[]): Promise<void> | void
  /** Makes everything staged durable and visible, then moves the watermark, which never goes back. */
  commit(watermark: number): Promise<void> | void
  /** Forgets what is staged. */
  rollback(): Promise<void> | void
  /**
   * The best `k` nodes with any of the terms; with `docs` only nodes of these documents, with `compounds` also those that
   * say a compound of the terms in parts, or two of them in one word. With `scope`, nodes outside of it affect nothing
   * but the scores.
   */
  search(
    terms: readonly string[],
    k: number,
    docs?: readonly number[],
    compounds?: CompoundQuestion,
    scope?: DocumentScope,
  ): Promise<TextHits>
  /** Releases what only writing needs; nothing while something is staged. */
  rest(): Promise<void> | void
  close(): Promise<void>
}

export interface TextOptions {
  log: (message: string) => void
  /** see `WATERMARK_LAG_MS` */
  watermarkLagMs: number
}

/** Content is not what was written. The directory is put aside and the index built anew. */
export class DamagedIndexError extends Error {}

/** Distinct terms of a query; a longer one keeps its rarest. Each costs a walk through a posting list. */
const MAX_TERMS = 64
/** A term repeated more often than this weighs no more. */
const MAX_REPEATS = 8
/** Terms looked at; what comes after is not read. */
const MAX_INPUT_TERMS = 2_048

/** The analyser cuts terms long before this. */
const MAX_TERM_LENGTH = 256

/** Whether a text index can hold a term. */
export function isTerm(term: string): boolean {
  return term !== '' && term.length <= MAX_TERM_LENGTH && !term.includes('\0')
}

export interface WeightedTerm {
  term: string
  /** how often the query repeats it, 1 to 8 */
  weight: number
}

/** Other words weigh so much of what the words asked for weigh. */
export const REWORDED = 0.75

/** A common word does not get more than so many times its weight. */
const MOST_WEIGHT = 4

/** A rewording as a part of a query. */
export interface WeightedRewording extends Rewording {
  /** of its terms, so that together they weigh less than what they stand for */
  weight: number
}

/** @param frequency nodes that hold a term, of `nodes` in all */
export function weighRewordings(
  compounds: CompoundQuestion | undefined,
  frequency: (term: string) => number,
  nodes: number,
): WeightedRewording[] {
  if (compounds === undefined || nodes === 0) return []
  const weigh = (terms: readonly string[]): number =>
    terms.reduce((sum, term) => sum + Math.log(1 + (nodes - frequency(term) + 0.5) / (frequency(term) + 0.5)), 0)
  return rewordingsOf(compounds, frequency, nodes).map((one) => ({
    ...one,
    weight: REWORDED * Math.min(MOST_WEIGHT, weigh(one.asked) / weigh(one.told)),
  }))
}

/** How many nodes hold each term of a query. */
export function countTerms(terms: readonly string[], frequency: (term: string) => number): Map<string, number> {
  return new Map(terms.slice(0, MAX_INPUT_TERMS).map((term) => [term, isTerm(term) ? frequency(term) : 0]))
}

/**
 * The terms a query asks for: distinct, in order, with their repeats as weights. Of more than 64 the rarest are kept.
 *
 * @param frequency nodes that hold a term; asked only when there are too many terms
 */
export function weighTerms(terms: readonly string[], frequency: (term: string) => number): WeightedTerm[] {
  const counts = new Map<string, number>()
  for (const term of terms.slice(0, MAX_INPUT_TERMS)) {
    if (isTerm(term)) counts.set(term, Math.min(MAX_REPEATS, (counts.get(term) ?? 0) + 1))
  }
  const weighted = [...counts].map(([term, weight]) => ({ term, weight }))
  if (weighted.length <= MAX_TERMS) return weighted
  return weighted
    .map((entry) => ({ entry, frequency: frequency(entry.term) }))
    .filter((candidate) => candidate.frequency > 0)
    .sort((a, b) => a.frequency - b.frequency)
    .slice(0, MAX_TERMS)
    .map((candidate) => candidate.entry)
}
