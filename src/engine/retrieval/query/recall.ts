import { omitUndefined } from '../../../lib/omit-undefined.js'
import { analyzeQuery } from '../../../lib/text/analyze.js'
import { type AnalysedPassage, analysePassage, type PassageCache, termHash } from '../../knowledge/index.js'
import type { EngineContext } from '../../library/index.js'
import {
  MAX_K,
  REWORDING_WEIGHT,
  type SearchHit,
  type SearchHits,
  type SearchRequest,
  weighTerms,
} from '../../search/index.js'
import { filterDeniedNodes } from '../../store/rows/permissions.js'
import { filterVisibleKeys, loadPassages } from '../../store/rows/queries.js'
import type { AdmittedQuery } from './admission.js'
import { findReadingScope, type ReadingScope } from './reading-scope.js'
import type { SearchScope } from './retrieval.js'

/** Hits of both indexes. */
export interface RecallResult {
  /** only of documents that the reader may read */
  found: SearchHits & { average?: number }
  /** hits that are visible in the snapshot */
  hits: SearchHit[]
  /** number of hits that are not visible in the snapshot */
  hidden: number
}

/** Limits of a search in addition to its request. */
export interface RecallScope {
  /** documents that the reader may read; absent = all */
  scope?: ReadingScope | undefined
  cache?: PassageCache
}

/**
 * Searches both indexes within what the reader may read. The text scores of an index depend on all of its nodes, so for
 * a reader with a scope they are computed again from the candidates and the term frequencies in the scope.
 */
export async function recall(
  { context, admitted, signal }: SearchScope,
  request: SearchRequest,
  { scope, cache }: RecallScope,
): Promise<RecallResult> {
  const { space, snapshot, subject, seq } = admitted
  if (scope === undefined) {
    const found = await context.indexes.search(space.id, { ...request, seq }, signal)
    signal.throwIfAborted()
    const visible = await context.db.read(filterVisibleKeys(space.key, snapshot, getKeys(found.hits)))
    const hits = found.hits.filter(({ key }) => visible.has(key))
    return { found, hits, hidden: found.hits.length - hits.length }
  }
  const wide = { ...request, seq, textK: MAX_K, scope: scope.documents }
  const raw = await context.indexes.search(space.id, wide, signal)
  signal.throwIfAborted()
  const { known, visible } = await context.db.read(findKnownKeys(admitted, subject, getKeys(raw.hits)))
  const hits = raw.hits.filter(({ key }) => known.has(key))
  const scored = await rescore(
    context,
    space.key,
    { ...raw, hits },
    { request, nodes: scope.nodes, ...omitUndefined({ cache }) },
  )
  const shown = scored.hits.filter(({ key }) => visible.has(key))
  return { found: scored, hits: shown, hidden: scored.hits.length - shown.length }
}

/**
 * Returns the terms of a query that occur in the documents of a reader. A trained model also knows terms of other
 * documents.
 *
 * @returns undefined when the reader may read all documents
 */
export async function findTermsInScope(
  { context: { db, indexes }, admitted, signal }: SearchScope,
  query: string,
): Promise<string[] | undefined> {
  const { space, seq } = admitted
  const scope = await db.read(findReadingScope(admitted))
  if (scope === undefined) return undefined
  const terms = analyzeQuery(query)
  const request = { terms, textK: 1, vectorK: 1, seq, scope: scope.documents }
  const { frequencies } = await indexes.search(space.id, request, signal)
  return terms.filter((term) => (frequencies.get(term) ?? 0) > 0)
}

function getKeys(hits: readonly SearchHit[]): number[] {
  return hits.map(({ key }) => key)
}

/** Finds the nodes that the reader may know of, and those of them that are visible in the snapshot. */
function* findKnownKeys({ space, snapshot }: AdmittedQuery, subject: string, keys: number[]) {
  const denied = yield* filterDeniedNodes(space.key, { subject }, keys)
  const known = new Set(keys.filter((key) => !denied.has(key)))
  return { known, visible: yield* filterVisibleKeys(space.key, snapshot, [...known]) }
}

const K1 = 1.2
const B = 0.75
/** The terms of a title count twice in an index. */
const TITLE_WEIGHT = 2

interface RescoreOptions {
  request: Pick<SearchRequest, 'terms' | 'textK' | 'vectorK' | 'vector'>
  /** nodes that the reader may read */
  nodes: number
  cache?: PassageCache
  /** average length of a node; absent = of the candidates */
  average?: number
}

/**
 * Scores text hits by BM25 over the nodes that the reader may read, and keeps the requested number of hits of each
 * index.
 */
export async function rescore(
  { db }: Pick<EngineContext, 'db'>,
  spaceKey: number,
  found: SearchHits,
  { request, nodes, cache, average }: RescoreOptions,
): Promise<SearchHits & { average: number }> {
  const byText = found.hits.filter(({ bm25 }) => bm25 !== undefined)
  const texts = await db.read(loadPassages(spaceKey, getKeys(byText)))
  const passages = new Map(
    [...texts].map(([key, { title, body }]) => {
      const passage = { key, title, body }
      return [key, cache?.get(passage) ?? analysePassage(passage)] as const
    }),
  )
  const lengths = [...passages.values()].map(weighLength)
  const mean = average ?? lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length)
  const score = createScorer(found, request.terms, nodes, mean)
  const scores = new Map([...passages].map(([key, passage]) => [key, score(passage)]))
  const inText = selectBest([...scores], request.textK)
  const inVectors = selectBest(
    request.vector === undefined
      ? []
      : found.hits.flatMap(({ key, cosine }) => (cosine === undefined ? [] : [[key, cosine]])),
    request.vectorK,
  )
  const hits = found.hits.flatMap(({ key, cosine }): SearchHit[] => {
    const bm25 = inText.has(key) ? scores.get(key) : undefined
    return bm25 === undefined && !inVectors.has(key) ? [] : [{ key, ...omitUndefined({ bm25, cosine }) }]
  })
  return { ...found, hits, textCount: inText.size, average: mean }
}

/** Keys of the highest scores. */
function selectBest(scores: (readonly [key: number, score: number])[], k: number): Set<number> {
  const sorted = scores.sort((a, b) => b[1] - a[1] || a[0] - b[0])
  return new Set(sorted.slice(0, k).map(([key]) => key))
}

function weighLength({ title, body, ends }: AnalysedPassage): number {
  return TITLE_WEIGHT * (body - title) + ends - body
}

function createScorer(
  { frequencies, rewordings }: SearchHits,
  terms: readonly string[],
  nodes: number,
  average: number,
) {
  const frequency = (term: string): number => Math.min(nodes, frequencies.get(term) ?? 0)
  const idf = (term: string): number => Math.log(1 + (nodes - frequency(term) + 0.5) / (frequency(term) + 0.5))
  const weighted = weighTerms(terms, frequency).map(({ term, weight }) => ({
    hash: termHash(term),
    gain: weight * idf(term),
  }))
  const reworded = rewordings.map((one) => ({
    hashes: one.documentTerms.map(termHash),
    gain: REWORDING_WEIGHT * one.queryTerms.reduce((sum, term) => sum + idf(term), 0),
  }))
  const allHashes = new Set([...weighted.map(({ hash }) => hash), ...reworded.flatMap(({ hashes }) => hashes)])
  return (passage: AnalysedPassage): number => {
    const counts = countTerms(passage, allHashes)
    const norm = K1 * (1 - B + (B * weighLength(passage)) / Math.max(1, average))
    const computeSaturation = (hash: number): number => {
      const count = counts.get(hash) ?? 0
      return (count * (K1 + 1)) / (count + norm)
    }
    const own = weighted.reduce((sum, { hash, gain }) => sum + gain * computeSaturation(hash), 0)
    return reworded.reduce((sum, { hashes, gain }) => sum + gain * Math.min(...hashes.map(computeSaturation)), own)
  }
}

function countTerms({ words, title, body, ends }: AnalysedPassage, hashes: ReadonlySet<number>): Map<number, number> {
  const counts = new Map<number, number>()
  for (let at = title; at < ends; at++) {
    const hash = words[at] ?? 0
    if (hashes.has(hash)) counts.set(hash, (counts.get(hash) ?? 0) + (at < body ? TITLE_WEIGHT : 1))
  }
  return counts
}
