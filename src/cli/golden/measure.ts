import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { AnswerCheck } from '../../lib/text/expected-answer.js'
import type { AnchorLocation } from './anchors.js'
import { overlaps } from './text-location.js'

/** Expected evidence: a location in a document, or a passage id. */
export type GoldenEvidence = { text: string } & ({ label: AnchorLocation } | { nodeId: string })

export type CaseStatus = 'measured' | 'unresolved' | 'unlabelled' | 'failed'

/** The result of one question. */
export interface CaseResult {
  id: string
  question: string
  tags: string[]
  status: CaseStatus
  traceId?: string
  mode?: string
  evidenceState?: string
  /** Fraction of the expected evidence that the first k items contain. */
  recall?: number
  /** One divided by the rank of the first item with expected evidence; 0 if none has any. */
  reciprocalRank?: number
  /** Whether the space was right about having or not having an answer. */
  answerable?: boolean
  /** The answer compared with the expected one; absent if none is expected. */
  answer?: AnswerCheck & { text: string }
  /** Expected evidence that no item contains. */
  missing: string[]
  /** Anchors without a location in the current documents. */
  unresolved: string[]
  error?: string
}

interface EvidenceLocation {
  nodeId: string | undefined
  documentId: string | undefined
  start: number
  end: number
}

/** The locations of the first `k` items of an evidence bundle. */
function getEvidenceLocations(bundle: unknown, k: number): EvidenceLocation[] {
  const items = isRecord(bundle) && Array.isArray(bundle.items) ? bundle.items : []
  return items.slice(0, k).map((item: unknown): EvidenceLocation => {
    const fields = isRecord(item) ? item : {}
    const [citation] = Array.isArray(fields.citations) ? fields.citations : []
    const location = isRecord(citation) ? citation : {}
    return {
      nodeId: toNonEmptyString(fields.nodeId),
      documentId: toNonEmptyString(location.documentAssetId),
      start: typeof location.startOffset === 'number' ? location.startOffset : 0,
      end: typeof location.endOffset === 'number' ? location.endOffset : 0,
    }
  })
}

function containsEvidence(item: EvidenceLocation, expected: GoldenEvidence): boolean {
  if ('nodeId' in expected) return item.nodeId === expected.nodeId
  const { documentId, ranges } = expected.label
  return item.documentId === documentId && (ranges === undefined || ranges.some((range) => overlaps(range, item)))
}

/** Computes recall and reciprocal rank of one question's evidence. */
export function measureEvidence(
  bundle: unknown,
  expected: readonly GoldenEvidence[],
  k: number,
): { recall: number; reciprocalRank: number; missing: string[] } {
  const items = getEvidenceLocations(bundle, k)
  const missing = expected
    .filter((evidence) => !items.some((item) => containsEvidence(item, evidence)))
    .map(({ text }) => text)
  const first = items.findIndex((item) => expected.some((evidence) => containsEvidence(item, evidence)))
  return {
    recall: (expected.length - missing.length) / expected.length,
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
    missing,
  }
}

export interface GoldenMetrics {
  questions: number
  recall?: number
  mrr?: number
  answerable?: number
  /** Fraction of right answers, among the questions that expect one. */
  answer?: number
}

/** Averages each metric over the questions that have it. */
export function computeMetrics(results: readonly CaseResult[]): GoldenMetrics {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const average = (getValue: (result: CaseResult) => number | undefined): number | undefined => {
    const values = results.flatMap((result) => getValue(result) ?? [])
    return values.length === 0 ? undefined : Math.round(mean(values) * 10_000) / 10_000
  }
  const recall = average((result) => result.recall)
  const mrr = average((result) => result.reciprocalRank)
  const answerable = average((result) => (result.answerable === undefined ? undefined : Number(result.answerable)))
  const answer = average((result) => (result.answer === undefined ? undefined : Number(result.answer.right)))
  return {
    questions: results.length,
    ...omitUndefined({ recall, mrr, answerable, answer }),
  }
}
