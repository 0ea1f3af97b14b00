import type { Client } from '../client/client.js'
import { EXIT } from '../contract/errors.js'
import { isRecord } from '../lib/json/values.js'
import { CliError } from './cli-error.js'
import type { OutputColumn } from './columns.js'

export const TRACE_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'createdAt', title: 'ASKED', kind: 'time' },
  { field: 'mode', isDetail: true },
  { field: 'completed', isDetail: true },
  { field: 'evidenceState', title: 'EVIDENCE', kind: 'state' },
  { field: 'finalScore', title: 'SCORE', kind: 'score' },
  { field: 'query' },
]
export const TRACE_FIELDS = ['evidenceBundleId', 'scores', 'profile', 'stages']

export const MISSING_COLUMNS: OutputColumn[] = [
  { field: 'name' },
  { field: 'metadata.reason', title: 'REASON' },
  { field: 'metadata.text', title: 'LACKED' },
  { field: 'metadata.review.status', title: 'REVIEW', kind: 'state' },
]

export const HISTORY_COLUMNS: OutputColumn[] = [
  { field: 'revision' },
  { field: 'action' },
  { field: 'reason' },
  { field: 'actorSubjectId', title: 'BY' },
  { field: 'createdAt', title: 'WHEN', kind: 'time' },
]
export const HISTORY_FIELDS = ['id', 'fromStatus', 'toStatus']

export const GOLDEN_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'question' },
  { field: 'tags', isDetail: true },
  { field: 'expectedEvidenceIds.length', title: 'EXPECTED', kind: 'count' },
  { field: 'expect.answer', title: 'EXPECTED ANSWER' },
  { field: 'metadata.annotation.answerCorrectness', title: 'ANSWER' },
  { field: 'updatedAt', title: 'CHANGED', kind: 'time' },
]
export const GOLDEN_FIELDS = ['knowledgeSpaceId', 'expectedEvidenceIds', 'expect', 'metadata', 'createdAt']

export const GOLDEN_RUN_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'status', kind: 'state' },
  { field: 'questions', kind: 'count' },
  { field: 'passed', kind: 'count' },
  { field: 'metrics.recall', title: 'RECALL', kind: 'score' },
  { field: 'metrics.answer', title: 'ANSWER', kind: 'score' },
  { field: 'createdAt', title: 'STARTED', kind: 'time' },
]
export const GOLDEN_RUN_FIELDS = ['knowledgeSpaceId', 'mode', 'k', 'done', 'metrics', 'error', 'completedAt']

export const FAILED_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'query' },
  { field: 'trigger', isDetail: true },
  { field: 'status', kind: 'state' },
  { field: 'metadata.triage.verdict', title: 'TRIAGE' },
  { field: 'metadata.occurrences', title: 'ASKED', kind: 'count' },
  { field: 'updatedAt', title: 'CHANGED', kind: 'time' },
]
export const FAILED_FIELDS = ['knowledgeSpaceId', 'mode', 'metadata', 'answerTraceId', 'createdAt']

/** An item of a trace's missing evidence as `ks traces missing` lists it, with its review state. */
export interface ListedMissingEvidence {
  spaceId: string
  itemKey: string
  /** 0 while the item has no review. */
  revision: number
}

/** Finds an item by its name (`missing-1`) or key (`sha256:…`). @throws CliError exit 5 */
export async function findMissingEvidence(
  client: Client,
  traceId: string,
  item: string,
): Promise<ListedMissingEvidence> {
  const { knowledgeSpaceId: spaceId } = await client.request('GET /queries/{traceId}', { path: { traceId } })
  const { items } = await client.request('GET /queries/{traceId}/missing', { path: { traceId }, query: { limit: 100 } })
  for (const { name, metadata } of items) {
    const { itemKey, review } = metadata
    if (typeof itemKey !== 'string' || (name !== item && itemKey !== item)) continue
    const revision = isRecord(review) && typeof review.revision === 'number' ? review.revision : 0
    return { spaceId, itemKey, revision }
  }
  throw new CliError(`the query has no missing evidence ${JSON.stringify(item)}`, {
    code: 'not-found',
    exit: EXIT.notFound,
    hint: '`ks traces missing ID` lists its missing evidence',
  })
}
