import { KsError, notFoundError } from '../../../contract/errors.js'
import type { MissingEvidenceHistory, MissingEvidenceReview, ReviewBody } from '../../../contract/gateway/quality.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { toMissingItemKey } from '../../library/index.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { mapReadable } from '../../store/readable.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { findTrace } from '../../store/rows/traces.js'
import { writeReply } from '../../store/write-reply.js'
import {
  listReviewHistory,
  lookupReview,
  type MissingEvidenceItem,
  type ReviewRow,
  storeReview,
} from '../rows/quality/reviews.js'

/**
 * Sets the status of a missing-evidence item. The caller must know its current revision (0 when there is none yet).
 *
 * @throws KsError `not-found` unless the trace is the caller's, visible, of this space, and lacked the item;
 * `version-mismatch`
 */
export function reviewMissingEvidence(
  db: Driver,
  caller: Caller,
  { spaceId, item }: { spaceId: string; item: MissingEvidenceItem },
  body: ReviewBody,
): Promise<MissingEvidenceReview> {
  return writeReply(db, caller, function* () {
    const space = yield* assertMissingItem(caller, spaceId, item)
    const current = yield* lookupReview(space, item)
    const revision = current?.revision ?? 0
    if (revision !== body.expectedRevision)
      throw new KsError(
        'version-mismatch',
        `expectedRevision must be the current revision ${revision}, received ${body.expectedRevision}`,
      )
    yield* storeReview(space, item, current, {
      status: body.status,
      reason: body.reason,
      actor: caller.subject,
    })
    const stored = yield* lookupReview(space, item)
    if (stored === undefined) throw new KsError('internal', 'a review was not kept')
    return toReview(space, stored)
  })
}

/** Decisions about an item, oldest first; empty when there are none. */
export function* readMissingEvidenceHistory(
  caller: Caller,
  spaceId: string,
  item: MissingEvidenceItem,
): Read<MissingEvidenceHistory> {
  const space = yield* assertMissingItem(caller, spaceId, item)
  const rows = yield* listReviewHistory(space, item)
  return {
    items: mapReadable(rows, (row) => ({
      id: row.id,
      action: row.to_status === 'dismissed' ? 'dismiss' : 'activate',
      actorSubjectId: row.actor,
      ...omitUndefined({ fromStatus: row.from_status ?? undefined }),
      toStatus: row.to_status,
      ...omitUndefined({ reason: row.reason ?? undefined }),
      revision: row.revision,
      createdAt: new Date(row.created_at).toISOString(),
    })),
  }
}

function* assertMissingItem(caller: Caller, spaceId: string, item: MissingEvidenceItem): Read<SpaceRow> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const { row, bundle } = yield* findTrace(caller, item.traceId)
  if (row.space_key !== space.key) throw notFoundError('trace', item.traceId)
  const lacked = (bundle?.missingEvidence ?? []).some((entry) => toMissingItemKey(entry) === item.itemKey)
  if (!lacked) throw notFoundError('missing evidence', item.itemKey)
  return space
}

function toReview(space: SpaceRow, row: ReviewRow): MissingEvidenceReview {
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    itemKey: row.item_key,
    status: row.status,
    ...omitUndefined({ reason: row.reason ?? undefined }),
    revision: row.revision,
    actorSubjectId: row.actor,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  }
}
