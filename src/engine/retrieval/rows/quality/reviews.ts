import type { MissingEvidenceReview } from '../../../../contract/gateway/quality.js'
import { newId } from '../../../../lib/ids.js'
import { type Read, readClock, sql, type Write } from '../../../store/program.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'

type ReviewStatus = MissingEvidenceReview['status']

/** A missing piece of evidence, by the trace that lacked it. */
export interface MissingEvidenceItem {
  traceId: string
  itemKey: string
}

/** A row of `missing_reviews`. */
export interface ReviewRow {
  id: string
  item_key: string
  status: ReviewStatus
  reason: string | null
  revision: number
  actor: string
  created_at: number
  updated_at: number
}

/** A row of `missing_review_history`. */
interface ReviewHistoryRow {
  id: string
  actor: string
  from_status: ReviewStatus | null
  to_status: ReviewStatus
  reason: string | null
  revision: number
  created_at: number
}

export function* lookupReview(space: SpaceRow, item: MissingEvidenceItem): Read<ReviewRow | undefined> {
  return yield* sql.get<ReviewRow>(
    `SELECT id, item_key, status, reason, revision, actor, created_at, updated_at FROM missing_reviews
     WHERE tenant = ? AND space_key = ? AND trace_id = ? AND item_key = ?`,
    [space.tenant, space.key, item.traceId, item.itemKey],
  )
}

/** @param current the result of `lookupReview` */
export function* storeReview(
  space: SpaceRow,
  item: MissingEvidenceItem,
  current: ReviewRow | undefined,
  next: { status: ReviewStatus; reason: string | undefined; actor: string },
): Write<void> {
  const { status, reason = null, actor } = next
  const now = yield* readClock()
  const id = current?.id ?? newId()
  const revision = current?.revision ?? 0
  const values = [status, reason, revision + 1, actor, now]
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
    [newId(), space.tenant, space.key, id, actor, current?.status ?? null, status, reason, revision + 1, now],
  )
}

/** The decisions about an item, oldest first. */
export function* listReviewHistory(space: SpaceRow, item: MissingEvidenceItem): Read<ReviewHistoryRow[]> {
  return yield* sql.all<ReviewHistoryRow>(
    `SELECT history.id, history.actor, history.from_status, history.to_status, history.reason, history.revision, history.created_at
     FROM missing_reviews review JOIN missing_review_history history
       ON history.tenant = review.tenant AND history.review_id = review.id
     WHERE review.tenant = ? AND review.space_key = ? AND review.trace_id = ? AND review.item_key = ? ORDER BY history.revision`,
    [space.tenant, space.key, item.traceId, item.itemKey],
  )
}
