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

export const MISSING_COLUMNS: OutputColumn[] = [
  { field: 'name' },
  { field: 'metadata.reason', title: 'REASON' },
  { field: 'metadata.text', title: 'LACKED' },
  { field: 'metadata.review.status', title: 'REVIEW', kind: 'state' },
]

export const GOLDEN_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'question' },
  { field: 'tags', isDetail: true },
  { field: 'expectedEvidenceIds.length', title: 'EXPECTED', kind: 'count' },
  { field: 'expect.answer', title: 'EXPECTED ANSWER' },
  { field: 'metadata.annotation.answerCorrectness', title: 'ANSWER' },
  { field: 'updatedAt', title: 'CHANGED', kind: 'time' },
]

export const GOLDEN_RUN_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'status', kind: 'state' },
  { field: 'questions', kind: 'count' },
  { field: 'passed', kind: 'count' },
  { field: 'metrics.recall', title: 'RECALL', kind: 'score' },
  { field: 'metrics.answer', title: 'ANSWER', kind: 'score' },
  { field: 'createdAt', title: 'STARTED', kind: 'time' },
]

export const FAILED_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'query' },
  { field: 'trigger', isDetail: true },
  { field: 'status', kind: 'state' },
  { field: 'metadata.triage.verdict', title: 'TRIAGE' },
  { field: 'metadata.occurrences', title: 'ASKED', kind: 'count' },
  { field: 'updatedAt', title: 'CHANGED', kind: 'time' },
]
