import { defined } from '../../../lib/defined.js'
import type { Rewording } from '../../../lib/text/compounds.js'
import { type Bindable, type Read, sql } from '../../storage/program.js'
import type { ScopeMessage, SearchMessage } from '../protocol.js'
import { countTerms, type TextHits, weighRewordings, weighTerms } from '../text-index.js'
import { isInScope, isStorable, numberArray, placesOf, prefixOf, quoted, textArray } from './literals.js'
import { countScope, frequenciesInScope, frequenciesOf } from './node-rows.js'
import { IN, WORDS_SETTING } from './schema.js'
import type { SpaceRow } from './space-rows.js'

/*
 * BM25 in two steps: SQL selects rows by the rarest parts of the query, then the best of them are scored by all parts
 * here. Selecting by all parts would score every row with a common word; selecting by `ts_rank` alone loses a sixth of
 * the quality. See docs/decisions/0058-search-in-postgresql.md.
 */

const K1 = 1.2
const B = 0.75

/** Rarest parts of a query, by which rows are selected. */
const CHOOSING_PARTS = 6
/** Minimal number of rows that are scored by all parts; more where more hits are requested. */
const CANDIDATES = 200
/** Estimated number of rows with the rarest parts to select from. */
const LOOKED_AT = 1_500
/** Rounds of frequency lookups: how a compound may be split depends on the frequencies of its ends. */
const MOST_ROUNDS = 8

/** A term, or several terms that count only together, with its weight. */
interface Part {
  terms: readonly string[]
  idf: number
  /** fraction of rows that contain it, estimated from frequencies */
  share: number
}

/** The best nodes with any of the terms, scored like the text index of a gateway. */
export function* searchText(
  row: SpaceRow,
  { terms, compounds, textK, docs, scope }: Pick<SearchMessage, 'terms' | 'compounds' | 'textK' | 'docs' | 'scope'>,
): Read<TextHits> {
  const space = scope === undefined ? row : { ...row, ...(yield* countScope(row.key, scope)) }
  const known = new Map<string, number>()
  const frequencies = yield* counting(space, scope, known, (frequency) => countTerms(terms, frequency))
  const frequency = (term: string): number => known.get(term) ?? 0
  const asked = weighTerms(terms, frequency).filter(({ term }) => isStorable(term))
  const reworded = yield* counting(space, scope, known, (of) => weighRewordings(compounds, of, space.nodes))
  const rewordings: Rewording[] = reworded.map(({ asked, told }) => ({ asked, told }))
  const idfOf = (term: string): number => idf(space.nodes, frequency(term))
  const shareOf = (term: string): number => Math.min(1, frequency(term) / Math.max(1, space.nodes))
  const parts: Part[] = [
    ...asked.map(({ term, weight }) => ({ terms: [term], idf: weight * idfOf(term), share: shareOf(term) })),
    ...reworded.map(({ told, weight }) => ({
      terms: told,
      idf: weight * told.reduce((sum, term) => sum + idfOf(term), 0),
      share: told.reduce((product, term) => product * shareOf(term), 1),
    })),
  ].filter(({ share }) => share > 0)
  const found: TextHits = { keys: [], scores: [], frequencies, rewordings }
  if (parts.length === 0 || docs?.length === 0) return found
  const weights = [
    ...asked.map(({ term, weight }) => ({ terms: [term], weight })),
    ...reworded.map(({ told, weight }) => ({ terms: told, weight })),
  ]
  const all = [...new Set(parts.flatMap((part) => part.terms))]
  const rows = yield* candidates(space, parts, all, Math.max(CANDIDATES, textK), defined({ docs, scope }))
  const average = space.length / Math.max(1, space.nodes)
  const scored = rows
    .map((row) => ({ key: row.node, score: bm25(row, all, weights, idfOf, average) }))
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
function* counting<T>(
  { key }: SpaceRow,
  scope: ScopeMessage | undefined,
  known: Map<string, number>,
  compute: (frequency: (term: string) => number) => T,
): Read<T> {
  for (let round = 0; ; round++) {
    const missing = new Set<string>()
    const value = compute((term) => {
      const count = known.get(term)
      if (count === undefined) missing.add(term)
      return count ?? 0
    })
    if (missing.size === 0 || round === MOST_ROUNDS) return value
    for (const term of missing) known.set(term, 0)
    const prefix = prefixOf(key)
    const lexemes = [...missing].filter(isStorable).map((term) => prefix + term)
    const counted =
      scope === undefined
        ? yield* frequenciesOf(key, textArray(lexemes))
        : yield* frequenciesInScope(key, lexemes, scope)
    for (const { lexeme, df } of counted) known.set(lexeme.slice(prefix.length), df)
  }
}

type Limits = Pick<SearchMessage, 'docs' | 'scope'>

interface Candidate {
  node: number
  length: number
  /** of each term, in order */
  ranks: readonly number[]
}

/**
 * Selects candidate rows by the rarest parts: first by the sets of parts with the highest total weight; where those
 * match too few rows, by any of the rarest parts, and then by any part.
 */
function* candidates(
  space: SpaceRow,
  parts: readonly Part[],
  all: readonly string[],
  wanted: number,
  limits: Limits,
): Read<Candidate[]> {
  const prefix = prefixOf(space.key)
  const rarest = [...parts].sort((a, b) => b.idf - a.idf).slice(0, CHOOSING_PARTS)
  const any = (of: readonly Part[]): string => of.map((part) => queryOf(prefix, part)).join(' | ')
  // a document filter leaves few rows, for which frequencies estimate nothing
  const worth = limits.docs === undefined ? worthMost(rarest, space.nodes) : rarest.map((part) => [part])
  const first = worth.map((set) => set.map((part) => queryOf(prefix, part)).join(' & ')).join(' | ')
  let rows: Candidate[] = []
  for (const query of new Set([first, any(rarest), any(parts)])) {
    rows = yield* chosen(space, query, rarest, all, wanted, limits)
    if (rows.length >= wanted) break
  }
  return rows
}

/**
 * The minimal sets of parts with at least the weight that about `LOOKED_AT` rows reach, if parts were distributed
 * independently. A row with all of the rarest parts weighs the most.
 */
function worthMost(rarest: readonly Part[], nodes: number): Part[][] {
  const sets = Array.from({ length: 2 ** rarest.length }, (_, bits) => {
    const isIn = (place: number): boolean => (bits & (1 << place)) !== 0
    const set = rarest.filter((_, place) => isIn(place))
    const rows = rarest.reduce((product, { share }, place) => product * (isIn(place) ? share : 1 - share), nodes)
    return { set, rows, worth: worthOf(set) }
  }).filter(({ set }) => set.length > 0)
  sets.sort((a, b) => b.worth - a.worth)
  let least = 0
  let rows = 0
  for (const one of sets) {
    least = one.worth
    rows += one.rows
    if (rows >= LOOKED_AT) break
  }
  return sets
    .map(({ set }) => set)
    .filter((set) => worthOf(set) >= least && set.every((part) => worthOf(set.filter((one) => one !== part)) < least))
}

function worthOf(set: readonly Part[]): number {
  return set.reduce((sum, { idf: worth }) => sum + worth, 0)
}

function queryOf(prefix: string, { terms }: Part): string {
  return terms.map((term) => quoted(prefix + term)).join(' & ')
}

/** The rank of a single term grows with its occurrences as in BM25, but needs a look into the row. */
const RANK = `ts_rank('{1,1,1,1}', terms, `

/** The best rows that match a query, scored by its rarest parts and the row's length as in BM25. */
function* chosen(
  { key, nodes, length }: SpaceRow,
  query: string,
  rarest: readonly Part[],
  all: readonly string[],
  wanted: number,
  { docs, scope }: Limits,
): Read<Candidate[]> {
  const prefix = prefixOf(key)
  const average = length / Math.max(1, nodes)
  // unused slots match no row: all queries share one statement text, which is planned once
  const slots = Array.from({ length: CHOOSING_PARTS }, (_, place) => rarest[place])
  const values: Bindable[] = [textArray(all.map((term) => quoted(prefix + term)))]
  for (const part of slots) values.push(part?.idf ?? 0, part === undefined ? quoted(prefix) : queryOf(prefix, part))
  values.push(1 + K1 * (1 - B), (K1 * B) / Math.max(1, average), key)
  if (docs !== undefined) values.push(numberArray(docs))
  if (scope !== undefined) values.push(numberArray(scope.docs))
  // a policy of the table compares the terms of each row with this setting
  yield* sql.get('SELECT set_config(?, ?, true)', [WORDS_SETTING, query])
  const rows = yield* sql.all<{ node: number; length: number; ranks: string }>(
    `SELECT node, length, ARRAY(SELECT ${RANK}term) FROM unnest(?::tsquery[]) term) ranks
     FROM (SELECT node, length, terms, (${slots.map(() => `?::float8 * ${RANK}?::tsquery)`).join(' + ')})
         / (?::float8 + ?::float8 * length) worth
       FROM ${IN}.nodes WHERE space = ? ${docs === undefined ? '' : 'AND doc = ANY(?::bigint[])'}
         ${scope === undefined ? '' : `AND ${isInScope('doc', scope)}`}
       ORDER BY worth DESC, node LIMIT ${wanted}) best`,
    values,
  )
  return rows.map(({ ranks, ...row }) => ({ ...row, ranks: ranks.slice(1, -1).split(',').map(Number) }))
}

interface Weighted {
  terms: readonly string[]
  weight: number
}

function bm25(
  { length, ranks }: Candidate,
  all: readonly string[],
  weighted: readonly Weighted[],
  idfOf: (term: string) => number,
  average: number,
): number {
  const places = new Map(all.map((term, place) => [term, placesOf(ranks[place] ?? 0)]))
  const norm = K1 * (1 - B + (B * length) / Math.max(1, average))
  let score = 0
  for (const { terms, weight } of weighted) {
    if (terms.some((term) => (places.get(term) ?? 0) === 0)) continue
    for (const term of terms) {
      const count = places.get(term) ?? 0
      score += (weight * idfOf(term) * count * (K1 + 1)) / (count + norm)
    }
  }
  return score
}
