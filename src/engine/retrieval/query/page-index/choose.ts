import { setImmediate as turn } from 'node:timers/promises'
import { lookUpTerm, parseProfile, type WeightedQueryTerm } from '../../../knowledge/index.js'
import { listSummaries, listSummariesBefore, type PageIndexSummaryRow } from '../../../store/rows/page-indexes.js'
import type { SearchScope } from '../retrieval.js'

/** Maximum document summaries that are read for one question, newest first: some 60 ms. */
const MAX_SCANNED_DOCUMENTS = 20_000
/** Summaries that are read before yielding to other work. */
const BATCH_SIZE = 1000
/** Maximum documents that are opened. */
const MAX_CHOSEN_DOCUMENTS = 16
/** Maximum ranges of the documents that are opened. */
const MAX_RANGES = 6000
/** Minimum score of a document, as a fraction of the best one's. */
const MIN_SCORE_FRACTION = 0.5
/** Occurrences in 10,000 terms at which a term reaches half of its weight. */
const HALF_DENSITY = 5
/** Bonus of a term in the document's own name; the questions of the development sets name their document. */
const NAME_WEIGHT = 1.5

export interface ChosenDocument {
  versionKey: number
  docKey: number
  /** 1 for the best one */
  score: number
  /** terms of the question that are in the document's title or file name */
  named: ReadonlySet<number>
}

export interface DocumentChoice {
  /** best first */
  chosen: ChosenDocument[]
  /** documents whose summary was compared */
  scanned: number
  /** documents that contain a term of the question */
  matched: number
  /** more documents exist than may be scanned, or more good ones than may be opened */
  truncated: boolean
  /** weight of each term among the documents (rare terms weigh more), in the order of the terms */
  weights: number[]
  /** number of documents that contain each term, in the order of the terms */
  frequencies: number[]
}

/** Terms to look for, and the documents (row keys) to skip. */
interface SummarySearch {
  terms: readonly WeightedQueryTerm[]
  except: ReadonlySet<number>
}

interface MatchedSummary {
  row: Pick<PageIndexSummaryRow, 'version_key' | 'doc_key' | 'length' | 'range_count'>
  counts: number[]
  named: boolean[]
}

/**
 * Chooses documents by their summaries: which terms of the question they contain, how densely, and whether their names
 * contain them.
 *
 * @param search with the weight of known terms in the space, when a trained model has them
 */
export async function chooseDocuments(
  scope: SearchScope,
  { known, ...search }: SummarySearch & { known: ReadonlyMap<string, number> | undefined },
): Promise<DocumentChoice> {
  const { terms } = search
  const { space, snapshot, docs } = scope.admitted
  const found: MatchedSummary[] = []
  const scan =
    docs === undefined
      ? await scanAll(scope, search, found)
      : scanSome(await scope.context.db.read(listSummaries(space.key, snapshot, docs)), search, found)
  const frequencies = terms.map(
    (_, index) => found.filter(({ counts, named }) => (counts[index] ?? 0) > 0 || named[index] === true).length,
  )
  const weights = terms.map(({ term }, index) => {
    const containing = frequencies[index] ?? 0
    return known?.get(term) ?? Math.log(1 + (scan.scanned - containing + 0.5) / (containing + 0.5))
  })
  const scored = found.map((one) => ({ one, score: scoreDocument(one, terms, weights) }))
  scored.sort((a, b) => b.score - a.score || b.one.row.version_key - a.one.row.version_key)
  const top = scored[0]?.score ?? 0
  // Documents that the caller named are all opened.
  const near = docs === undefined ? scored.filter(({ score }) => score >= MIN_SCORE_FRACTION * top) : scored
  const chosen: ChosenDocument[] = []
  let ranges = 0
  for (const { one, score } of near) {
    if (chosen.length >= MAX_CHOSEN_DOCUMENTS || (chosen.length > 0 && ranges + one.row.range_count > MAX_RANGES)) break
    ranges += one.row.range_count
    const named = new Set(terms.flatMap(({ hash }, index) => (one.named[index] === true ? [hash] : [])))
    chosen.push({
      versionKey: one.row.version_key,
      docKey: one.row.doc_key,
      score: top > 0 ? score / top : 0,
      named,
    })
  }
  const truncated = scan.truncated || chosen.length < near.length
  return { chosen, scanned: scan.scanned, matched: found.length, truncated, weights, frequencies }
}

async function scanAll(
  { context: { db }, admitted: { space, snapshot }, signal }: SearchScope,
  search: SummarySearch,
  found: MatchedSummary[],
): Promise<{ scanned: number; truncated: boolean }> {
  let before = Number.MAX_SAFE_INTEGER
  let scanned = 0
  let read = 0
  for (;;) {
    const rows = await db.read(listSummariesBefore(space.key, snapshot, before, BATCH_SIZE))
    scanned += scanSome(rows, search, found).scanned
    read += rows.length
    const last = rows.at(-1)
    if (last === undefined || rows.length < BATCH_SIZE) return { scanned, truncated: false }
    if (read >= MAX_SCANNED_DOCUMENTS) return { scanned, truncated: true }
    before = last.version_key
    await turn()
    signal.throwIfAborted()
  }
}

function scanSome(
  rows: readonly PageIndexSummaryRow[],
  { terms, except }: SummarySearch,
  found: MatchedSummary[],
): { scanned: number; truncated: boolean } {
  const selected = except.size === 0 ? rows : rows.filter(({ doc_key }) => !except.has(doc_key))
  for (const { terms: bytes, ...row } of selected) {
    const profile = parseProfile(bytes)
    const lookups = terms.map(({ hash }) => lookUpTerm(profile, hash))
    if (lookups.some(({ count, named }) => count > 0 || named))
      found.push({ row, counts: lookups.map(({ count }) => count), named: lookups.map(({ named }) => named) })
  }
  return { scanned: selected.length, truncated: false }
}

function scoreDocument(
  { row, counts, named }: MatchedSummary,
  terms: readonly WeightedQueryTerm[],
  weights: readonly number[],
): number {
  let score = 0
  for (const [index, { weight }] of terms.entries()) {
    const density = (10_000 * (counts[index] ?? 0)) / Math.max(1, row.length)
    const match = density / (density + HALF_DENSITY) + (named[index] === true ? NAME_WEIGHT : 0)
    score += weight * (weights[index] ?? 0) * match
  }
  return score
}
