import type { FailedQueryStatus, FailedQueryVerdict } from '../../contract/gateway/failed-queries.js'
import { FAILED_QUERY_STATUSES } from '../../contract/values.js'

/** What triage says of a failed query. */
export type TriageVerdict = FailedQueryVerdict | 'uncertain'

/** What moves a failed query: a person's verdict, or triage that was sure or was not. */
export type FailedQueryEvent = `verdict:${FailedQueryVerdict}` | 'triage:sure' | 'triage:uncertain'

const BY_VERDICT = {
  'verdict:retrieval-miss': 'promoted',
  'verdict:coverage-gap': 'annotated',
  'verdict:irrelevant': 'dismissed',
} as const

/**
 * Every move of a failed query. The API document sets no condition on a verdict, so a person may also revise one;
 * triage only touches what nobody has looked at yet.
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

/** The states an event may find a failed query in, each with the state it leads to. */
export function movesOf(event: FailedQueryEvent): { from: FailedQueryStatus; to: FailedQueryStatus }[] {
  return FAILED_QUERY_STATUSES.flatMap((from) => {
    const to = FAILED_QUERY_MOVES[from][event]
    return to === undefined ? [] : [{ from, to }]
  })
}
