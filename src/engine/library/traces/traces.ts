import type { AnswerTrace, EvidenceItem, TraceListing, TraceStep } from '../../../contract/gateway/queries.js'
import { LIMITS } from '../../../contract/limits.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { PageRequest } from '../../base/page.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { findTrace, listMissingEvidenceStates } from '../../store/rows/traces.js'
import { toMissingItemKey } from './missing-key.js'

type TraceListingEntry = TraceListing['items'][number]

/** The step whose metadata shows the evidence bundle, which is stored once, next to the trace. */
export const GENERATE_STEP = 'query.generate'

export function* getTrace(caller: Caller, id: string): Read<AnswerTrace> {
  const { row, spaceId, bundle } = yield* findTrace(caller, id)
  const steps: TraceStep[] = parseJsonCell(row.steps)
  return {
    id: row.id,
    knowledgeSpaceId: spaceId,
    query: row.query,
    mode: row.mode,
    createdAt: new Date(row.created_at).toISOString(),
    ...omitUndefined({ evidenceBundleId: row.bundle_id ?? undefined }),
    steps: steps.map((step) =>
      step.name === GENERATE_STEP && bundle !== undefined
        ? { ...step, metadata: { ...step.metadata, evidenceBundle: bundle } }
        : step,
    ),
  }
}

/** An item of evidence as an entry of a folder. */
export function toEvidenceEntry(folder: string, item: EvidenceItem) {
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
  const items = (bundle?.items ?? []).map((item) => toEvidenceEntry(path, item))
  return toListing(items, path, page)
}

export function* listConflicts(caller: Caller, id: string, page: PageRequest): Read<TraceListing> {
  const { bundle } = yield* findTrace(caller, id)
  const path = `/evidence/${id}/conflicts`
  const items = (bundle?.items ?? []).flatMap((item) =>
    item.conflicts.map(
      (conflict): TraceListingEntry => ({
        kind: 'resource',
        name: `${item.nodeId}~${conflict.nodeId}`,
        path: `${path}/${item.nodeId}~${conflict.nodeId}`,
        resourceType: 'node',
        targetId: conflict.nodeId,
        metadata: { nodeId: item.nodeId, reason: conflict.reason, severity: conflict.severity },
      }),
    ),
  )
  return toListing(items, path, page)
}

export function* listMissing(caller: Caller, id: string, page: PageRequest): Read<TraceListing> {
  const { bundle } = yield* findTrace(caller, id)
  const path = `/evidence/${id}/missing`
  const reviews = yield* listMissingEvidenceStates(caller.tenant, id)
  const items = (bundle?.missingEvidence ?? []).map(
    (entry, index): TraceListingEntry => ({
      kind: 'resource',
      name: `missing-${index + 1}`,
      path: `${path}/missing-${index + 1}`,
      resourceType: 'evidence',
      ...omitUndefined({ targetId: entry.expectedEvidenceId }),
      metadata: {
        ...entry.metadata,
        reason: entry.reason,
        text: entry.text,
        itemKey: toMissingItemKey(entry),
        ...omitUndefined({
          review: reviews.get(toMissingItemKey(entry)),
          expectedEvidenceId: entry.expectedEvidenceId,
        }),
      },
    }),
  )
  return toListing(items, path, page)
}

function toListing(items: TraceListingEntry[], path: string, page: PageRequest): TraceListing {
  const filter = hashFilter('trace-listing', path)
  const start = page.cursor === undefined ? 0 : Number(decodeCursor(page.cursor, filter).after[0] ?? 0)
  const limit = Math.min(page.limit, LIMITS.evidencePage.max)
  const end = start + limit
  const hasMore = end < items.length
  return {
    path,
    truncated: hasMore,
    items: items.slice(start, end),
    ...(hasMore ? { nextCursor: encodeCursor({ after: [end] }, filter) } : {}),
  }
}
