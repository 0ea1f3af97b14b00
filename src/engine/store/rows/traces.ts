import { notFoundError } from '../../../contract/errors.js'
import type { EvidenceBundle, TraceStep } from '../../../contract/gateway/queries.js'
import { isUuid } from '../../../lib/ids.js'
import type { Caller } from '../../base/caller.js'
import { type Read, readClock, sql, type Write } from '../program.js'
import { parseJsonCell } from '../readable.js'
import { filterReadableDocuments } from './documents.js'
import type { Reader } from './permissions.js'

/** A row of `traces`. */
export interface TraceRow {
  id: string
  tenant: string
  space_key: number
  subject: string
  query: string
  mode: 'fast' | 'deep' | 'research' | 'auto'
  requested_mode: string
  completed: number
  bundle_id: string | null
  evidence_state: string | null
  steps: string
  created_at: number
}

export interface NewTrace {
  id: string
  tenant: string
  spaceKey: number
  subject: string
  query: string
  mode: 'fast' | 'deep' | 'research'
  requestedMode: string
  completed: boolean
  steps: TraceStep[]
  sessionId?: string
  /** absent for a run that failed */
  bundle?: EvidenceBundle
}

/** Inserts a trace with its evidence bundle, if it has one, inside the caller's transaction. */
export function* insertTrace(trace: NewTrace): Write<void> {
  const now = yield* readClock()
  const { bundle } = trace
  if (bundle !== undefined)
    yield* sql.run(
      `INSERT INTO evidence_bundles (id, tenant, space_key, trace_id, body, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
      [bundle.id, trace.tenant, trace.spaceKey, trace.id, JSON.stringify(bundle), now],
    )
  yield* sql.run(
    `INSERT INTO traces (id, tenant, space_key, subject, query, mode, requested_mode, completed, bundle_id, evidence_state, steps, created_at, session_id)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      trace.id,
      trace.tenant,
      trace.spaceKey,
      trace.subject,
      trace.query,
      trace.mode,
      trace.requestedMode,
      trace.completed ? 1 : 0,
      bundle?.id ?? null,
      bundle?.state ?? null,
      JSON.stringify(trace.steps),
      now,
      trace.sessionId ?? null,
    ],
  )
}

/**
 * A trace of the caller, with its bundle, if the space and every cited document still exist.
 * @throws KsError `not-found` in every other case: the caller must not learn whether a hidden trace exists
 */
export function* findTrace(
  caller: Caller,
  id: string,
): Read<{ row: TraceRow; spaceId: string; bundle: EvidenceBundle | undefined }> {
  if (!isUuid(id)) throw notFoundError('trace', id)
  const row = yield* sql.get<TraceRow & { space_id: string }>(
    `SELECT traces.*, spaces.id space_id FROM traces JOIN spaces ON spaces.key = traces.space_key
     WHERE traces.tenant = ? AND traces.id = ? AND traces.subject = ? AND spaces.tenant = ? AND spaces.deleted_at IS NULL`,
    [caller.tenant, id, caller.subject, caller.tenant],
  )
  if (row === undefined) throw notFoundError('trace', id)
  const bundle = row.bundle_id === null ? undefined : yield* readBundle(caller.tenant, row.bundle_id)
  if (bundle !== undefined && !(yield* areDocumentsReadable(caller, row.space_key, bundle)))
    throw notFoundError('trace', id)
  return { row, spaceId: row.space_id, bundle }
}

export function* readBundle(tenant: string, id: string): Read<EvidenceBundle | undefined> {
  const row = yield* sql.get<{ body: string }>('SELECT body FROM evidence_bundles WHERE id = ? AND tenant = ?', [
    id,
    tenant,
  ])
  if (row === undefined) return undefined
  const bundle: EvidenceBundle = parseJsonCell(row.body)
  return bundle
}

/** The evidence of a trace; undefined for a failed run, and for a removed trace. */
export function* findTraceBundle(tenant: string, traceId: string): Read<EvidenceBundle | undefined> {
  const row = yield* sql.get<{ bundle_id: string | null }>('SELECT bundle_id FROM traces WHERE id = ? AND tenant = ?', [
    traceId,
    tenant,
  ])
  return row?.bundle_id == null ? undefined : yield* readBundle(tenant, row.bundle_id)
}

/** Ids of the documents that the evidence cites. */
export function listCitedDocuments({ items }: EvidenceBundle): Set<string> {
  return new Set(items.flatMap((item) => item.citations.map((citation) => citation.documentAssetId)))
}

/** Whether the reader may read every document that the evidence cites. */
export function* areDocumentsReadable(reader: Reader, spaceKey: number, bundle: EvidenceBundle): Read<boolean> {
  const ids = listCitedDocuments(bundle)
  return (yield* filterReadableDocuments(reader, spaceKey, [...ids])).size === ids.size
}

/** The review state of a missing piece of evidence. */
export interface MissingEvidenceState {
  status: 'active' | 'dismissed'
  revision: number
}

/**
 * The reviews of a trace's missing evidence, by item key. The caller has checked that the trace belongs to the API's
 * caller.
 */
export function* listMissingEvidenceStates(tenant: string, traceId: string): Read<Map<string, MissingEvidenceState>> {
  const rows = yield* sql.all<MissingEvidenceState & { item_key: string }>(
    'SELECT item_key, status, revision FROM missing_reviews WHERE tenant = ? AND trace_id = ?',
    [tenant, traceId],
  )
  return new Map(rows.map(({ item_key, status, revision }) => [item_key, { status, revision }]))
}
