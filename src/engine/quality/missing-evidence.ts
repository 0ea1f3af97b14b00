import { KsError, notFound } from '../../contract/errors.js'
import type { MissingEvidenceHistory, MissingEvidenceReview, ReviewBody } from '../../contract/gateway/quality.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import { lookupReview, type MissingItem, type ReviewRow, reviewHistory, writeReview } from '../rows/quality/reviews.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { findTrace } from '../rows/traces.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'
import { readable } from '../storage/readable.js'
import { writeAnswer } from '../storage/write-answer.js'
import { missingItemKey } from '../traces/missing-key.js'

/**
 * Sets the status of a missing-evidence item. The caller must know its current revision (0 when there is none yet).
 *
 * @throws KsError `not-found` unless the trace is the caller's, visible, of this space, and lacked the item;
 * `version-mismatch`
 */
export function reviewMissingEvidence(
  db: Driver,
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
    yield* writeReview(space, item, current, {
      status: body.status,
      reason: body.reason,
      actor: caller.subject,
      now: Date.now(),
    })
    const stored = yield* lookupReview(space, item)
    if (stored === undefined) throw new KsError('internal', 'a review was not kept')
    return toReview(space, stored)
  })
}

/** Decisions about an item, oldest first; empty when there are none. */
export function* missingEvidenceHistory(
  caller: Caller,
  spaceId: string,
  item: MissingItem,
): Read<MissingEvidenceHistory> {
  const space = yield* assertItem(caller, spaceId, item)
  const rows = yield* reviewHistory(space, item)
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
