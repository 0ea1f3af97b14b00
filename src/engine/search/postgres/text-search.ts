import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Rewording } from '../../../lib/text/compounds.js'
import { type Bindable, type Read, sql } from '../../store/program.js'
import type { ScopeMessage, SearchMessage } from '../protocol.js'
import { countTermNodes, type TextHits, weighRewordings, weighTerms } from '../text-index.js'
import {
  buildScopeCondition,
  computeOccurrences,
  getLexemePrefix,
  isStorable,
  quoteLexeme,
  toNumberArray,
  toTextArray,
} from './literals.js'
import { countFrequenciesInScope, countScope, loadFrequencies } from './node-rows.js'
import { SEARCH_SCHEMA, TERMS_QUERY_SETTING } from './schema.js'
import type { SearchSpaceRow } from './space-rows.js'

/*
 * BM25 in two steps: SQL selects rows by the rarest parts of the query, then the best of them are scored by all parts
 * here. Selecting by all parts would score every row with a common word; selecting by `ts_rank` alone loses a sixth of
 * the quality. See docs/decisions/0058-search-in-postgresql.md.
 */

const K1 = 1.2
const B = 0.75

/** Rarest parts of a query, by which rows are selected. */
const SELECTING_PARTS = 6
/** Minimal number of rows that are scored by all parts; more where more hits are requested. */
const MIN_CANDIDATES = 200
/** Estimated number of rows with the rarest parts to select from. */
const EXAMINED_ROWS = 1_500
/** Rounds of frequency lookups: how a compound may be split depends on the frequencies of its ends. */
const MAX_LOOKUP_ROUNDS = 8

/** A term, or several terms that count only together, with its weight. */
interface QueryPart {
  terms: readonly string[]
  idf: number
  /** fraction of rows that contain it, estimated from frequencies */
  fraction: number
}

/** The best nodes with any of the terms, scored like the text index of a gateway. */
export function* searchText(
  row: SearchSpaceRow,
  { terms, compounds, textK, docs, scope }: Pick<SearchMessage, 'terms' | 'compounds' | 'textK' | 'docs' | 'scope'>,
): Read<TextHits> {
  const space = scope === undefined ? row : { ...row, ...(yield* countScope(row.key, scope)) }
  const knownFrequencies = new Map<string, number>()
  const frequencies = yield* computeWithFrequencies(space, scope, knownFrequencies, (frequency) =>
    countTermNodes(terms, frequency),
  )
  const frequency = (term: string): number => knownFrequencies.get(term) ?? 0
  const queryTerms = weighTerms(terms, frequency).filter(({ term }) => isStorable(term))
  const weightedRewordings = yield* computeWithFrequencies(space, scope, knownFrequencies, (countNodes) =>
    weighRewordings(compounds, countNodes, space.nodes),
  )
  const rewordings: Rewording[] = weightedRewordings.map(({ queryTerms, documentTerms }) => ({
    queryTerms,
    documentTerms,
  }))
  const idfOf = (term: string): number => idf(space.nodes, frequency(term))
  const fractionOf = (term: string): number => Math.min(1, frequency(term) / Math.max(1, space.nodes))
  const parts: QueryPart[] = [
    ...queryTerms.map(({ term, weight }) => ({ terms: [term], idf: weight * idfOf(term), fraction: fractionOf(term) })),
    ...weightedRewordings.map(({ documentTerms, weight }) => ({
      terms: documentTerms,
      idf: weight * documentTerms.reduce((sum, term) => sum + idfOf(term), 0),
      fraction: documentTerms.reduce((product, term) => product * fractionOf(term), 1),
    })),
  ].filter(({ fraction }) => fraction > 0)
  const found: TextHits = { keys: [], scores: [], frequencies, rewordings }
  if (parts.length === 0 || docs?.length === 0) return found
  const weights = [
    ...queryTerms.map(({ term, weight }) => ({ terms: [term], weight })),
    ...weightedRewordings.map(({ documentTerms, weight }) => ({ terms: documentTerms, weight })),
  ]
  const rankedTerms = [...new Set(parts.flatMap((part) => part.terms))]
  const minCount = Math.max(MIN_CANDIDATES, textK)
  const rows = yield* selectCandidates(space, parts, { rankedTerms, minCount, ...omitUndefined({ docs, scope }) })
  const average = space.length / Math.max(1, space.nodes)
  const computeBm25 = createScorer(rankedTerms, weights, idfOf, average)
  const scored = rows
    .map((row) => ({ key: row.node, score: computeBm25(row) }))
    .sort((a, b) => b.score - a.score || a.key - b.key)
    .slice(0, textK)
  for (const { key, score } of scored) {
    found.keys.push(key)
    found.scores.push(score)
  }
  return found
}

function idf(nodes: number, frequency: number): number {
  return Math.log(1 + (nodes - frequency + 0.5) / (frequency + 0.5))
}

/** Runs a computation on frequencies; missing ones are looked up and it runs again. */
function* computeWithFrequencies<T>(
  { key }: SearchSpaceRow,
  scope: ScopeMessage | undefined,
  knownFrequencies: Map<string, number>,
  compute: (frequency: (term: string) => number) => T,
): Read<T> {
  for (let round = 0; ; round++) {
    const missing = new Set<string>()
    const value = compute((term) => {
      const count = knownFrequencies.get(term)
      if (count === undefined) missing.add(term)
      return count ?? 0
    })
    if (missing.size === 0 || round === MAX_LOOKUP_ROUNDS) return value
    for (const term of missing) knownFrequencies.set(term, 0)
    const prefix = getLexemePrefix(key)
    const lexemes = [...missing].filter(isStorable).map((term) => prefix + term)
    const counted =
      scope === undefined
        ? yield* loadFrequencies(key, toTextArray(lexemes))
        : yield* countFrequenciesInScope(key, lexemes, scope)
    for (const { lexeme, df } of counted) knownFrequencies.set(lexeme.slice(prefix.length), df)
  }
}

interface CandidateOptions extends Pick<SearchMessage, 'docs' | 'scope'> {
  /** the terms to rank, in the order of the ranks */
  rankedTerms: readonly string[]
  /** count of rows that are enough */
  minCount: number
}

interface TextCandidate {
  node: number
  length: number
  /** of each term, in order */
  ranks: readonly number[]
}

/**
 * Selects candidate rows by the rarest parts: first by the sets of parts with the highest total weight; where those
 * match too few rows, by any of the rarest parts, and then by any part.
 */
function* selectCandidates(
  space: SearchSpaceRow,
  parts: readonly QueryPart[],
  options: CandidateOptions,
): Read<TextCandidate[]> {
  const prefix = getLexemePrefix(space.key)
  const rarest = [...parts].sort((a, b) => b.idf - a.idf).slice(0, SELECTING_PARTS)
  const matchAny = (some: readonly QueryPart[]): string => some.map((part) => toTsquery(prefix, part)).join(' | ')
  // a document filter leaves few rows, for which frequencies estimate nothing
  const bestSets = options.docs === undefined ? bestPartSets(rarest, space.nodes) : rarest.map((part) => [part])
  const first = bestSets.map((set) => set.map((part) => toTsquery(prefix, part)).join(' & ')).join(' | ')
  let rows: TextCandidate[] = []
  for (const query of new Set([first, matchAny(rarest), matchAny(parts)])) {
    rows = yield* selectRows(space, query, rarest, options)
    if (rows.length >= options.minCount) break
  }
  return rows
}

/**
 * The minimal sets of parts with at least the weight that about `EXAMINED_ROWS` rows reach, if parts were distributed
 * independently. A row with all of the rarest parts weighs the most.
 */
function bestPartSets(rarest: readonly QueryPart[], nodes: number): QueryPart[][] {
  const sets = Array.from({ length: 2 ** rarest.length }, (_, bits) => {
    const isIn = (index: number): boolean => (bits & (1 << index)) !== 0
    const set = rarest.filter((_, index) => isIn(index))
    const rows = rarest.reduce(
      (product, { fraction }, index) => product * (isIn(index) ? fraction : 1 - fraction),
      nodes,
    )
    return { set, rows, weight: totalWeight(set) }
  }).filter(({ set }) => set.length > 0)
  sets.sort((a, b) => b.weight - a.weight)
  let minWeight = 0
  let rows = 0
  for (const set of sets) {
    minWeight = set.weight
    rows += set.rows
    if (rows >= EXAMINED_ROWS) break
  }
  return sets
    .map(({ set }) => set)
    .filter(
      (set) =>
        totalWeight(set) >= minWeight &&
        set.every((part) => totalWeight(set.filter((one) => one !== part)) < minWeight),
    )
}

function totalWeight(set: readonly QueryPart[]): number {
  return set.reduce((sum, { idf: weight }) => sum + weight, 0)
}

function toTsquery(prefix: string, { terms }: QueryPart): string {
  return terms.map((term) => quoteLexeme(prefix + term)).join(' & ')
}

/** The rank of a single term grows with its occurrences as in BM25, but needs a look into the row. */
const RANK_SQL = `ts_rank('{1,1,1,1}', terms, `

/** The best rows that match a query, scored by its rarest parts and the row's length as in BM25. */
function* selectRows(
  { key, nodes, length }: SearchSpaceRow,
  query: string,
  rarest: readonly QueryPart[],
  { rankedTerms, minCount, docs, scope }: CandidateOptions,
): Read<TextCandidate[]> {
  const prefix = getLexemePrefix(key)
  const average = length / Math.max(1, nodes)
  // unused slots match no row: all queries share one statement text, which is planned once
  const slots = Array.from({ length: SELECTING_PARTS }, (_, index) => rarest[index])
  const values: Bindable[] = [toTextArray(rankedTerms.map((term) => quoteLexeme(prefix + term)))]
  for (const part of slots)
    values.push(part?.idf ?? 0, part === undefined ? quoteLexeme(prefix) : toTsquery(prefix, part))
  values.push(1 + K1 * (1 - B), (K1 * B) / Math.max(1, average), key)
  if (docs !== undefined) values.push(toNumberArray(docs))
  if (scope !== undefined) values.push(toNumberArray(scope.docs))
  // a policy of the table compares the terms of each row with this setting
  yield* sql.get('SELECT set_config(?, ?, true)', [TERMS_QUERY_SETTING, query])
  const rows = yield* sql.all<{ node: number; length: number; ranks: string }>(
    `SELECT node, length, ARRAY(SELECT ${RANK_SQL}term) FROM unnest(?::tsquery[]) term) ranks
     FROM (SELECT node, length, terms, (${slots.map(() => `?::float8 * ${RANK_SQL}?::tsquery)`).join(' + ')})
         / (?::float8 + ?::float8 * length) worth
       FROM ${SEARCH_SCHEMA}.nodes WHERE space = ? ${docs === undefined ? '' : 'AND doc = ANY(?::bigint[])'}
         ${scope === undefined ? '' : `AND ${buildScopeCondition(scope)}`}
       ORDER BY worth DESC, node LIMIT ${minCount}) best`,
    values,
  )
  return rows.map(({ ranks, ...row }) => ({ ...row, ranks: ranks.slice(1, -1).split(',').map(Number) }))
}

interface WeightedTerms {
  terms: readonly string[]
  weight: number
}

/** Creates a function that computes BM25. @param average length of a row */
function createScorer(
  rankedTerms: readonly string[],
  weighted: readonly WeightedTerms[],
  idfOf: (term: string) => number,
  average: number,
) {
  return ({ length, ranks }: TextCandidate): number => {
    const occurrences = new Map(rankedTerms.map((term, index) => [term, computeOccurrences(ranks[index] ?? 0)]))
    const norm = K1 * (1 - B + (B * length) / Math.max(1, average))
    let score = 0
    for (const { terms, weight } of weighted) {
      if (terms.some((term) => (occurrences.get(term) ?? 0) === 0)) continue
      for (const term of terms) {
        const count = occurrences.get(term) ?? 0
        score += (weight * idfOf(term) * count * (K1 + 1)) / (count + norm)
      }
    }
    return score
  }
}
