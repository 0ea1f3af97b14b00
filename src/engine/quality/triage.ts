import { KsError } from '../../contract/errors.js'
import type { TriageReport } from '../../contract/gateway/failed-queries.js'
import { analyzeDocument, analyzeQuery } from '../../lib/text/analyze.js'
import type { Caller } from '../api.js'
import type { EngineContext } from '../context.js'
import { loadPassages, visibleKeys } from '../query/store.js'
import { findSpace, type SpaceRow } from '../spaces/store.js'
import { failedToTriage, moveFailed } from './failed-store.js'
import type { TriageVerdict } from './moves.js'

const TRIAGER = 'builtin-terms-1'
/** Distinct terms of a query that are looked up; a longer one is judged by its first. */
const MAX_TERMS = 32
/** Passages whose text is compared; the text index ranks those first that hold most of the query. */
const COMPARED = 30
/** A term asked for alone needs no more than one visible hit among these. */
const TERM_CANDIDATES = 20
/** Passages named as a suggestion for the expected evidence. */
const SUGGESTED = 5

/** One passage holds this share of the query's terms: what was asked for is there, and was not answered from. */
const MISS_FROM = 0.8
/** The space knows this share of the terms, though no passage holds them together: its subject, but a hole in it. */
const GAP_FROM = 0.6
/** Fewer of its terms than this are known: the question is about something else. */
const IRRELEVANT_BELOW = 0.4

/** What the space holds of a query's terms. */
export interface TermEvidence {
  /** distinct terms looked up */
  terms: number
  /** of them, those that some published passage holds */
  known: number
  /** of them, the most that one passage holds */
  best: number
}

/**
 * The rules of triage, in order: a query without terms is irrelevant; terms together in one passage are a retrieval
 * miss; mostly known terms a coverage gap; mostly unknown ones irrelevant; what lies between is uncertain.
 */
export function judgeTerms({ terms, known, best }: TermEvidence): TriageVerdict {
  if (terms === 0) return 'irrelevant'
  if (best / terms >= MISS_FROM) return 'retrieval-miss'
  if (known / terms >= GAP_FROM) return 'coverage-gap'
  return known / terms < IRRELEVANT_BELOW ? 'irrelevant' : 'uncertain'
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
  for (const row of failedToTriage(db, space, limit)) {
    const { evidence, nodeIds } = await lookUp(context, space, row.query)
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

/** Asks the text index for the query's terms, together and then one by one where no passage found held them. */
async function lookUp(
  context: EngineContext,
  space: SpaceRow,
  query: string,
): Promise<{ evidence: TermEvidence; nodeIds: string[] }> {
  const terms = [...new Set(analyzeQuery(query))].slice(0, MAX_TERMS)
  if (terms.length === 0) return { evidence: { terms: 0, known: 0, best: 0 }, nodeIds: [] }
  const known = new Set<string>()
  const passages = await passagesWith(context, space, terms)
  for (const { held } of passages) for (const term of held) known.add(term)
  const others = terms.filter((term) => !known.has(term))
  const found = await Promise.all(others.map((term) => visibleHits(context, space, [term], TERM_CANDIDATES)))
  for (const [index, term] of others.entries()) if ((found[index]?.length ?? 0) > 0) known.add(term)
  const best = Math.max(0, ...passages.map(({ held }) => held.length))
  return {
    evidence: { terms: terms.length, known: known.size, best },
    nodeIds: passages
      .filter(({ held }) => held.length / terms.length >= MISS_FROM)
      .sort((a, b) => b.held.length - a.held.length)
      .slice(0, SUGGESTED)
      .map(({ id }) => id),
  }
}

/** The best passages for the terms, each with those of the terms it holds. */
async function passagesWith(
  context: EngineContext,
  space: SpaceRow,
  terms: string[],
): Promise<{ id: string; held: string[] }[]> {
  const keys = await visibleHits(context, space, terms, COMPARED)
  return [...loadPassages(context.db, space.key, keys).values()].map(({ id, title, body }) => {
    const present = new Set(analyzeDocument(`${title}\n${body}`))
    return { id, held: terms.filter((term) => present.has(term)) }
  })
}

/** Keys of published nodes that the text index returns for the terms. */
async function visibleHits(context: EngineContext, space: SpaceRow, terms: string[], textK: number): Promise<number[]> {
  const { hits, degraded } = await context.indexes.search(space.id, { terms, textK, vectorK: 1 })
  if (degraded.length > 0) throw new KsError('unavailable', `the text index cannot be asked: ${degraded.join('; ')}`)
  const snapshot = {
    publicationId: space.publication_id,
    fingerprint: space.fingerprint,
    headRevision: space.head_revision,
    projectionVersion: space.head_revision,
  }
  const keys = hits.map((hit) => hit.key)
  return [...visibleKeys(context.db, space.key, snapshot, keys)]
}
