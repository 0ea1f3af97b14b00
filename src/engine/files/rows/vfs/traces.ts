import type { Caller } from '../../../base/caller.js'
import { type Read, sql } from '../../../store/program.js'

/** A query of the caller. */
export interface TraceEntry {
  id: string
  query: string
  mode: string
  evidence_state: string | null
  created_at: number
  /** JSON of the evidence bundle */
  body: string | null
}

interface TraceOwner {
  caller: Caller
  space: { key: number }
}

const SELECT_TRACES = `SELECT t.id, t.query, t.mode, t.evidence_state, t.created_at, b.body FROM traces t
  LEFT JOIN evidence_bundles b ON b.id = t.bundle_id AND b.tenant = t.tenant AND b.space_key = t.space_key
  WHERE t.tenant = ? AND t.space_key = ? AND t.subject = ?`

export function* listTraceEntriesAfter({ caller, space }: TraceOwner, id: string, limit: number): Read<TraceEntry[]> {
  return yield* sql.all<TraceEntry>(`${SELECT_TRACES} AND t.id > ? ORDER BY t.id LIMIT +?`, [
    caller.tenant,
    space.key,
    caller.subject,
    id,
    limit,
  ])
}

export function* findTraceEntry({ caller, space }: TraceOwner, id: string): Read<TraceEntry | undefined> {
  return yield* sql.get<TraceEntry>(`${SELECT_TRACES} AND t.id = ?`, [caller.tenant, space.key, caller.subject, id])
}
