import type { TriageReport } from '../../contract/gateway/failed-queries.js'
import type { Caller } from '../api.js'
import type { EngineContext } from '../context.js'
import { findSpace } from '../spaces/store.js'
import { failedToTriage, moveFailed } from './failed-store.js'
import { quotesOf } from './quotes.js'
import { bestOf, evidenceOf } from './triage-evidence.js'
import { judgeEvidence } from './triage-rules.js'
import { searchWidely } from './wide-search.js'

const TRIAGER = 'builtin-evidence'
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
    const search = await searchWidely(context, { space, audience: quotesOf(db, row.id) }, row.query)
    const evidence = evidenceOf(row.query, search)
    const verdict = judgeEvidence(evidence)
    const nodeIds = bestOf(search.compared).map(({ id }) => id)
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

