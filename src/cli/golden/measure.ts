import { defined } from '../../lib/defined.js'
import { isRecord, textOf } from '../../lib/json/values.js'
import type { AnswerCheck } from '../../lib/text/expected-answer.js'
import type { Label } from './anchors.js'
import { overlap } from './place.js'

/** Expected evidence: a location in a document, or a passage id. */
export type Wanted = { text: string } & ({ label: Label } | { nodeId: string })

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

interface Item {
  nodeId: string | undefined
  documentId: string | undefined
  start: number
  end: number
}

/** The locations of the first `k` items of an evidence bundle. */
function itemsOf(bundle: unknown, k: number): Item[] {
  const items = isRecord(bundle) && Array.isArray(bundle.items) ? bundle.items : []
  return items.slice(0, k).map((item: unknown): Item => {
    const fields = isRecord(item) ? item : {}
    const [citation] = Array.isArray(fields.citations) ? fields.citations : []
    const at = isRecord(citation) ? citation : {}
    return {
      nodeId: textOf(fields.nodeId),
      documentId: textOf(at.documentAssetId),
      start: typeof at.startOffset === 'number' ? at.startOffset : 0,
      end: typeof at.endOffset === 'number' ? at.endOffset : 0,
    }
  })
}

function holds(item: Item, wanted: Wanted): boolean {
  if ('nodeId' in wanted) return item.nodeId === wanted.nodeId
  const { documentId, ranges } = wanted.label
  return item.documentId === documentId && (ranges === undefined || ranges.some((range) => overlap(range, item)))
}

/** Computes recall and reciprocal rank of one question's evidence. */
export function measureEvidence(
  bundle: unknown,
  wanted: readonly Wanted[],
  k: number,
): { recall: number; reciprocalRank: number; missing: string[] } {
  const items = itemsOf(bundle, k)
  const missing = wanted.filter((each) => !items.some((item) => holds(item, each))).map(({ text }) => text)
  const first = items.findIndex((item) => wanted.some((each) => holds(item, each)))
  return {
    recall: (wanted.length - missing.length) / wanted.length,
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
    missing,
  }
}

export interface Metrics {
  questions: number
  recall?: number
  mrr?: number
  answerable?: number
  /** Fraction of right answers, among the questions that expect one. */
  answer?: number
}

/** Averages each metric over the questions that have it. */
export function metricsOf(results: readonly CaseResult[]): Metrics {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const of = (pick: (result: CaseResult) => number | undefined): number | undefined => {
    const values = results.flatMap((result) => pick(result) ?? [])
    return values.length === 0 ? undefined : Math.round(mean(values) * 10_000) / 10_000
  }
  const recall = of((result) => result.recall)
  const mrr = of((result) => result.reciprocalRank)
  const answerable = of((result) => (result.answerable === undefined ? undefined : Number(result.answerable)))
  const answer = of((result) => (result.answer === undefined ? undefined : Number(result.answer.right)))
  return {
    questions: results.length,
    ...defined({ recall, mrr, answerable, answer }),
  }
}
