import { KsError } from '../../contract/errors.js'
import type { TriageReport } from '../../contract/gateway/failed-queries.js'
import { analyzeDocument, analyzeQuery } from '../../lib/text/analyze.js'
import type { Caller } from '../api.js'
import type { EngineContext } from '../context.js'
import { loadPassages, nodeCount, visibleKeys } from '../query/store.js'
import { isOpen } from '../sources/permissions.js'
import { findSpace, type SpaceRow } from '../spaces/store.js'
import type { Database } from '../storage/database.js'
import { failedToTriage, moveFailed } from './failed-store.js'
import type { TriageVerdict } from './moves.js'
import { quotesOf } from './quotes.js'

const TRIAGER = 'builtin-terms'
/** Distinct terms of a query that are looked up; a longer one is judged by its first. */
const MAX_TERMS = 32
/** Passages whose text is compared; the text index ranks those first that hold most of the query. */
const COMPARED = 30
/** Holders of a term are counted up to this many; what more passages hold tells little. */
const TERM_CANDIDATES = 200
/** A space of fewer passages is weighed as one of this many, so that a term of its only document still weighs. */
const SMALLEST_SPACE = 30
/** Passages named as a suggestion for the expected evidence. */
const SUGGESTED = 5

/**
 * Set on questions of SQuAD 2.0, failed or not, asked of a space of every second passage of three quarters of its
 * articles. Whose passage is there: 74 % retrieval-miss, 24 % coverage-gap. Whose passage was left out: 57 % coverage-gap,
 * 19 % retrieval-miss (other passages say much the same), 17 % uncertain. Claims of SciFact: 73 % irrelevant, 21 %
 * uncertain, none a retrieval-miss. Shares of equally weighted terms tell them apart far worse, and so does what the whole
 * space knows of them: most words of any question occur somewhere. bench/triage.ts measures those that really failed.
 */
const MISS_FROM = 0.65
const GAP_FROM = 0.35
const IRRELEVANT_BELOW = 0.25

/** What the space holds of a query's terms; shares are 0 to 1, each term weighted by how telling it is in the space. */
export interface TermEvidence {
  /** distinct terms looked up */
  terms: number
  /** share that some published passage holds */
  known: number
  /** the largest share that one passage holds */
  best: number
}

/**
 * The rules of triage, by the passage that holds most of the query: nearly all of it is a retrieval miss (what was asked
 * for is there, and was not answered from), a good part a coverage gap (the space's subject, but a hole in it), hardly
 * any irrelevant, and what lies between is uncertain. A query without terms is irrelevant.
 */
export function judgeTerms({ terms, best }: Pick<TermEvidence, 'terms' | 'best'>): TriageVerdict {
  if (terms === 0 || best < IRRELEVANT_BELOW) return 'irrelevant'
  if (best >= MISS_FROM) return 'retrieval-miss'
  return best >= GAP_FROM ? 'coverage-gap' : 'uncertain'
}

/**
 * Sorts waiting failed queries, oldest first, by looking their terms up in the space as it is published now. Each one is
 * moved by a conditional update: one that a person has decided meanwhile stays as it was decided.
 */
export async function triageFailedQueries(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  limit: number,
): Promise<TriageReport> {
  const { db, log } = context
  const space = findSpace(db, caller.tenant, spaceId)
  const report: TriageReport = {
    triaged: 0,
    verdicts: { 'retrieval-miss': 0, 'coverage-gap': 0, irrelevant: 0, uncertain: 0 },
  }
  for (const row of failedToTriage(db, caller, space, limit)) {
    const { evidence, nodeIds } = await lookUp(context, { space, audience: quotesOf(db, row.id) }, row.query)
    const verdict = judgeTerms(evidence)
    const triage = {
      ...{ verdict, triager: TRIAGER, triagedAt: new Date().toISOString(), ...evidence },
      ...(verdict === 'retrieval-miss' ? { suggestedEvidenceIds: nodeIds } : {}),
    }
    const event = verdict === 'uncertain' ? 'triage:uncertain' : 'triage:sure'
    const moved = await db.write(() => moveFailed(db, space, row.id, event, { key: 'triage', value: triage }))
    if (moved) {
      report.triaged++
      report.verdicts[verdict]++
    } else log.info({ failedQuery: row.id, event }, 'a move of a failed query was refused: it was decided meanwhile')
  }
  return report
}

/**
 * Where a failed query is looked up: among what everybody of the tenant may know of, and what comes from the sources that
 * the query quotes. Whoever may see the query may see what triage says of it.
 */
interface Searched {
  space: SpaceRow
  /** ids of sources */
  audience: readonly string[]
}

function openKeys(db: Database, keys: readonly number[], audience: readonly string[]): number[] {
  return db
    .all<{ key: number }>(
      `SELECT n.key FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
       CROSS JOIN documents d ON d.key = n.doc_key
       WHERE ${isOpen('d.source_id')} OR d.source_id IN (SELECT value FROM json_each(?)) ORDER BY wanted.key`,
      ...[JSON.stringify(keys), JSON.stringify(audience)],
    )
    .map(({ key }) => key)
}

/** Asks the text index for the query's terms, one by one for how telling they are, and together for the best passages. */
async function lookUp(
  context: EngineContext,
  where: Searched,
  query: string,
): Promise<{ evidence: TermEvidence; nodeIds: string[] }> {
  const terms = [...new Set(analyzeQuery(query))].slice(0, MAX_TERMS)
  if (terms.length === 0) return { evidence: { terms: 0, known: 0, best: 0 }, nodeIds: [] }
  const [passages, ...counts] = await Promise.all([
    passagesWith(context, where, terms),
    ...terms.map(async (term) => (await visibleHits(context, where, [term], TERM_CANDIDATES)).length),
  ])
  const nodes = Math.max(SMALLEST_SPACE, nodeCount(context.db, where.space.key))
  const weights = new Map(terms.map((term, index) => [term, telling(counts[index] ?? 0, nodes)]))
  const share = (some: readonly string[]) => weightOf(weights, some) / weightOf(weights, terms)
  const ranked = passages
    .map(({ id, held }) => ({ id, share: share(held) }))
    .sort((a, b) => b.share - a.share || (a.id < b.id ? -1 : 1))
  return {
    evidence: {
      terms: terms.length,
      known: rounded(share(terms.filter((_, index) => (counts[index] ?? 0) > 0))),
      best: rounded(ranked[0]?.share ?? 0),
    },
    nodeIds: ranked
      .filter((passage) => passage.share >= MISS_FROM)
      .slice(0, SUGGESTED)
      .map(({ id }) => id),
  }
}

/** Inverse document frequency as BM25 has it: what few passages hold tells most. */
function telling(holders: number, nodes: number): number {
  const found = Math.min(holders, nodes)
  return Math.log(1 + (nodes - found + 0.5) / (found + 0.5))
}

function weightOf(weights: ReadonlyMap<string, number>, terms: readonly string[]): number {
  return terms.reduce((sum, term) => sum + (weights.get(term) ?? 0), 0)
}

function rounded(share: number): number {
  return Math.round(share * 1000) / 1000
}

/** The best passages for the terms, each with those of the terms it holds. */
async function passagesWith(
  context: EngineContext,
  where: Searched,
  terms: string[],
): Promise<{ id: string; held: string[] }[]> {
  const keys = await visibleHits(context, where, terms, COMPARED)
  return [...loadPassages(context.db, where.space.key, keys).values()].map(({ id, title, body }) => {
    const present = new Set(analyzeDocument(`${title}\n${body}`))
    return { id, held: terms.filter((term) => present.has(term)) }
  })
}

/** Keys of published nodes that the text index returns for the terms, of those that the query's readers may know of. */
async function visibleHits(
  context: EngineContext,
  { space, audience }: Searched,
  terms: string[],
  textK: number,
): Promise<number[]> {
  const { hits, degraded } = await context.indexes.search(space.id, { terms, textK, vectorK: 1 })
  if (degraded.length > 0) throw new KsError('unavailable', `the text index cannot be asked: ${degraded.join('; ')}`)
  const snapshot = {
    publicationId: space.publication_id,
    fingerprint: space.fingerprint,
    headRevision: space.head_revision,
    projectionVersion: space.head_revision,
  }
  const keys = hits.map((hit) => hit.key)
  return openKeys(context.db, [...visibleKeys(context.db, space.key, snapshot, keys)], audience)
}
