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
 * BM25 in two steps: rows are chosen by the rarest parts of the question, in SQL, and the best of them are scored by all of
 * it here. Choosing by everything would score every row with a common word; choosing by `ts_rank` alone loses a sixth of the
 * quality. See docs/decisions/0058-search-in-postgresql.md.
 */

const K1 = 1.2
const B = 0.75

/** Parts of a question by which rows are chosen: the rarest. */
const CHOOSING_PARTS = 6
/** Rows that are scored by all parts, at least; more where more hits are asked for. */
const CANDIDATES = 200
/** Rows with the rarest parts that are looked at to choose those, as far as frequencies tell. */
const LOOKED_AT = 1_500
/** Rounds of looking up frequencies: what a compound may be cut into hangs on what its ends are. */
const MOST_ROUNDS = 8

/** A term, or terms that count only together, and what a row gains by holding it. */
interface Part {
  terms: readonly string[]
  idf: number
  /** share of the rows that hold it, as far as frequencies tell */
  share: number
}

/** The best nodes with any of the terms, as the text index of a gateway scores them. */
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

/** Computes with frequencies, which are looked up until it asks for no other. */
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
  /** of each term, in their order */
  ranks: readonly number[]
}

/**
 * Rows by the rarest parts. First only those are looked at whose rarest parts together are worth the most; where they are
 * too few, all that hold one of these parts, and then of any.
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
  // documents that are picked leave few rows, of which frequencies tell nothing
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
 * The smallest sets of parts that are worth as much as what `LOOKED_AT` rows are expected to hold, were parts to stand in
 * rows by chance: a row is worth the most that holds all of the rarest.
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

/** A rank of one term alone grows with its places as BM25 does, and costs a look into the row. */
const RANK = `ts_rank('{1,1,1,1}', terms, `

/** The best rows that match a query, by its rarest parts and their lengths, as BM25 weighs them. */
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
  // slots that are not used hold what no row does: all questions have one text, which is planned once
  const slots = Array.from({ length: CHOOSING_PARTS }, (_, place) => rarest[place])
  const values: Bindable[] = [textArray(all.map((term) => quoted(prefix + term)))]
  for (const part of slots) values.push(part?.idf ?? 0, part === undefined ? quoted(prefix) : queryOf(prefix, part))
  values.push(1 + K1 * (1 - B), (K1 * B) / Math.max(1, average), key)
  if (docs !== undefined) values.push(numberArray(docs))
  if (scope !== undefined) values.push(numberArray(scope.docs))
  // the policy of the table compares the terms of each row with it
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
