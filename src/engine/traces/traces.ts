import type { AnswerTrace, EvidenceItem, TraceListing, TraceStep } from '../../contract/gateway/queries.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import { decodeCursor, encodeCursor, filterHash } from '../base/cursor.js'
import type { PageRequest } from '../base/page.js'
import { findTrace, type MissingReview, reviewsOf } from '../rows/traces.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { missingItemKey } from './missing-key.js'

type Entry = TraceListing['items'][number]

/** The step whose metadata shows the evidence bundle, which is stored once, next to the trace. */
export const GENERATE_STEP = 'query.generate'

export function* getTrace(caller: Caller, id: string): Read<AnswerTrace> {
  const { row, spaceId, bundle } = yield* findTrace(caller, id)
  const steps: TraceStep[] = fromCell(row.steps)
  return {
    id: row.id,
    knowledgeSpaceId: spaceId,
    query: row.query,
    mode: row.mode,
    createdAt: new Date(row.created_at).toISOString(),
    ...defined({ evidenceBundleId: row.bundle_id ?? undefined }),
    steps: steps.map((step) =>
      step.name === GENERATE_STEP && bundle !== undefined
        ? { ...step, metadata: { ...step.metadata, evidenceBundle: bundle } }
        : step,
    ),
  }
}

/** An item of evidence as an entry of a folder. */
export function evidenceEntry(folder: string, item: EvidenceItem) {
  return {
    kind: 'resource' as const,
    name: item.nodeId,
    path: `${folder}/${item.nodeId}`,
    metadata: {
      citationCount: item.citations.length,
      conflictCount: item.conflicts.length,
      freshness: item.freshness,
      score: item.score,
      scores: item.scores,
    },
    resourceType: 'node' as const,
    targetId: item.nodeId,
  }
}

export function* listEvidence(caller: Caller, id: string, page: PageRequest): Read<TraceListing> {
  const { bundle } = yield* findTrace(caller, id)
  const path = `/evidence/${id}`
  const items = (bundle?.items ?? []).map((item) => evidenceEntry(path, item))
  return paged(items, path, page)
}

export function* listConflicts(caller: Caller, id: string, page: PageRequest): Read<TraceListing> {
  const { bundle } = yield* findTrace(caller, id)
  const path = `/evidence/${id}/conflicts`
  const items = (bundle?.items ?? []).flatMap((item) =>
    item.conflicts.map(
      (conflict): Entry => ({
        kind: 'resource',
        name: `${item.nodeId}~${conflict.nodeId}`,
        path: `${path}/${item.nodeId}~${conflict.nodeId}`,
        resourceType: 'node',
        targetId: conflict.nodeId,
        metadata: { nodeId: item.nodeId, reason: conflict.reason, severity: conflict.severity },
      }),
    ),
  )
  return paged(items, path, page)
}

export function* listMissing(caller: Caller, id: string, page: PageRequest): Read<TraceListing> {
  const { bundle } = yield* findTrace(caller, id)
  const path = `/evidence/${id}/missing`
  const reviews = yield* reviewsOf(caller.tenant, id)
  const items = (bundle?.missingEvidence ?? []).map(
    (entry, index): Entry => ({
      kind: 'resource',
      name: `missing-${index + 1}`,
      path: `${path}/missing-${index + 1}`,
      resourceType: 'evidence',
      ...defined({ targetId: entry.expectedEvidenceId }),
      metadata: {
        ...entry.metadata,
        reason: entry.reason,
        text: entry.text,
        itemKey: missingItemKey(entry),
        ...reviewed(reviews.get(missingItemKey(entry))),
        ...defined({ expectedEvidenceId: entry.expectedEvidenceId }),
      },
    }),
  )
  return paged(items, path, page)
}

/** The review field of a listed item. */
function reviewed(review: MissingReview | undefined): { review?: MissingReview } {
  return review === undefined ? {} : { review }
}

function paged(items: Entry[], path: string, page: PageRequest): TraceListing {
  const filter = filterHash('trace-listing', path)
  const start = page.cursor === undefined ? 0 : Number(decodeCursor(page.cursor, filter).after[0] ?? 0)
  const limit = Math.min(page.limit, LIMITS.evidencePage.max)
  const end = start + limit
  const more = end < items.length
  return {
    path,
    truncated: more,
    items: items.slice(start, end),
    ...(more ? { nextCursor: encodeCursor({ after: [end] }, filter) } : {}),
  }
}
