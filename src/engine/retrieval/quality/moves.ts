import type { FailedQueryStatus, FailedQueryVerdict } from '../../../contract/gateway/failed-queries.js'
import { FAILED_QUERY_STATUSES } from '../../../contract/values.js'

/** Result of the triage of a failed query. */
export type TriageVerdict = FailedQueryVerdict | 'uncertain'

/** Event that changes the status of a failed query: a person's verdict, or a sure or uncertain triage. */
export type FailedQueryEvent = `verdict:${FailedQueryVerdict}` | 'triage:sure' | 'triage:uncertain'

const BY_VERDICT = {
  'verdict:retrieval-miss': 'promoted',
  'verdict:coverage-gap': 'annotated',
  'verdict:irrelevant': 'dismissed',
} as const

/**
 * All transitions of a failed query. The API sets no condition on a verdict, so a person may revise one; triage only
 * changes queries that no person has decided.
 */
export const FAILED_QUERY_MOVES: Readonly<
  Record<FailedQueryStatus, Partial<Record<FailedQueryEvent, FailedQueryStatus>>>
> = {
  'pending-triage': { ...BY_VERDICT, 'triage:sure': 'triaged', 'triage:uncertain': 'pending-annotation' },
  triaged: BY_VERDICT,
  'pending-annotation': BY_VERDICT,
  annotated: BY_VERDICT,
  dismissed: BY_VERDICT,
  promoted: BY_VERDICT,
}

/** Transitions of an event: each status it applies to, with the next one. */
export function listMoves(event: FailedQueryEvent): { from: FailedQueryStatus; to: FailedQueryStatus }[] {
  return FAILED_QUERY_STATUSES.flatMap((from) => {
    const to = FAILED_QUERY_MOVES[from][event]
    return to === undefined ? [] : [{ from, to }]
  })
}
