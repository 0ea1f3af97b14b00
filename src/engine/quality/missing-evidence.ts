import { KsError, notFound } from '../../contract/errors.js'
import type { MissingEvidenceHistory, MissingEvidenceReview, ReviewBody } from '../../contract/gateway/quality.js'
import { defined } from '../../lib/defined.js'
import { newId } from '../../lib/ids.js'
import type { Caller } from '../base/caller.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { findTrace } from '../rows/traces.js'
import type { Database } from '../storage/database.js'
import { type Read, sql } from '../storage/program.js'
import { readable } from '../storage/readable.js'
import { writeAnswer } from '../storage/write-answer.js'
import { missingItemKey } from '../traces/missing-key.js'

type Status = MissingEvidenceReview['status']

/** A row of `missing_reviews`. */
interface ReviewRow {
  id: string
  item_key: string
  status: Status
  reason: string | null
  revision: number
  actor: string
  created_at: number
  updated_at: number
}

interface HistoryRow {
  id: string
  actor: string
  from_status: Status | null
  to_status: Status
  reason: string | null
  revision: number
  created_at: number
}

/**
 * Sets the status of a piece of missing evidence when the caller knows its current revision (0 when there is none yet).
 *
 * @throws KsError `not-found` unless the trace is the caller's, visible, of this space, and lacked the item;
 *   `version-mismatch`
 */
export function reviewMissingEvidence(
  db: Database,
  caller: Caller,
  spaceId: string,
  item: MissingItem,
  body: ReviewBody,
): Promise<MissingEvidenceReview> {
  return writeAnswer(db, caller, function* () {
    const space = yield* assertItem(caller, spaceId, item)
    const current = yield* lookupReview(space, item)
    const revision = current?.revision ?? 0
    if (revision !== body.expectedRevision)
      throw new KsError(
        'version-mismatch',
        `expectedRevision must be the current revision ${revision}, received ${body.expectedRevision}`,
      )
    const now = Date.now()
    const id = current?.id ?? newId()
    const values = [body.status, body.reason ?? null, revision + 1, caller.subject, now]
    if (current === undefined)
      yield* sql.run(
        `INSERT INTO missing_reviews (status, reason, revision, actor, updated_at, id, tenant, space_key, trace_id, item_key, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [...values, id, space.tenant, space.key, item.traceId, item.itemKey, now],
      )
    else
      yield* sql.run(
        `UPDATE missing_reviews SET status = ?, reason = ?, revision = ?, actor = ?, updated_at = ?
         WHERE tenant = ? AND space_key = ? AND id = ? AND revision = ?`,
        [...values, space.tenant, space.key, id, revision],
      )
    yield* sql.run(
      `INSERT INTO missing_review_history (id, tenant, space_key, review_id, actor, from_status, to_status, reason, revision, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        newId(),
        space.tenant,
        space.key,
        id,
        caller.subject,
        current?.status ?? null,
        body.status,
        body.reason ?? null,
        revision + 1,
        now,
      ],
    )
    const stored = yield* lookupReview(space, item)
    if (stored === undefined) throw new KsError('internal', 'a review was not kept')
    return toReview(space, stored)
  })
}

/** What was decided about an item, oldest first; nothing while nobody has. */
export function* missingEvidenceHistory(
  caller: Caller,
  spaceId: string,
  item: MissingItem,
): Read<MissingEvidenceHistory> {
  const space = yield* assertItem(caller, spaceId, item)
  const rows = yield* sql.all<HistoryRow>(
    `SELECT history.id, history.actor, history.from_status, history.to_status, history.reason, history.revision, history.created_at
     FROM missing_reviews review JOIN missing_review_history history ON history.review_id = review.id
     WHERE review.tenant = ? AND review.space_key = ? AND review.trace_id = ? AND review.item_key = ? ORDER BY history.revision`,
    [space.tenant, space.key, item.traceId, item.itemKey],
  )
  return {
    items: readable(rows, (row) => ({
      id: row.id,
      action: row.to_status === 'dismissed' ? 'dismiss' : 'activate',
      actorSubjectId: row.actor,
      ...defined({ fromStatus: row.from_status ?? undefined }),
      toStatus: row.to_status,
      ...defined({ reason: row.reason ?? undefined }),
      revision: row.revision,
      createdAt: new Date(row.created_at).toISOString(),
    })),
  }
}

function* assertItem(caller: Caller, spaceId: string, item: MissingItem): Read<SpaceRow> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const { row, bundle } = yield* findTrace(caller, item.traceId)
  if (row.space_key !== space.key) throw notFound('trace', item.traceId)
  const lacked = (bundle?.missingEvidence ?? []).some((entry) => missingItemKey(entry) === item.itemKey)
  if (!lacked) throw notFound('missing evidence', item.itemKey)
  return space
}

function* lookupReview(space: SpaceRow, item: MissingItem): Read<ReviewRow | undefined> {
  return yield* sql.get<ReviewRow>(
    `SELECT id, item_key, status, reason, revision, actor, created_at, updated_at FROM missing_reviews
     WHERE tenant = ? AND space_key = ? AND trace_id = ? AND item_key = ?`,
    [space.tenant, space.key, item.traceId, item.itemKey],
  )
}

function toReview(space: SpaceRow, row: ReviewRow): MissingEvidenceReview {
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    itemKey: row.item_key,
    status: row.status,
    ...defined({ reason: row.reason ?? undefined }),
    revision: row.revision,
    actorSubjectId: row.actor,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}

/** A piece of missing evidence, by the trace that lacked it. */
export interface MissingItem {
  traceId: string
  itemKey: string
}
