import type { GoldenRun, GoldenRunResult } from '../../../contract/gateway/golden-runs.js'

export const RUNS = 'GET /knowledge-spaces/{id}/golden-runs'

/** Fraction of the measured questions that passed; undefined until the run has ended. */
export function computePassedFraction({ passed, metrics }: GoldenRun): number | undefined {
  return metrics === undefined || metrics.questions === 0 ? undefined : passed / metrics.questions
}

export type RunChange = 'better' | 'worse' | 'evidence' | 'same' | 'added' | 'removed'

export interface QuestionDifference {
  /** of the golden question */
  id: string
  question: string
  before: GoldenRunResult | undefined
  after: GoldenRunResult | undefined
  change: RunChange
  /** indexes of the passages that only the later run found, in its evidence */
  gained: readonly number[]
  /** indexes of the passages that only the earlier run found, in its evidence */
  lost: readonly number[]
}

const OUTCOME_RANKS = { failed: 0, partly: 1, passed: 2 } as const
/** Changes in the order in which they are listed. */
export const CHANGE_ORDER: readonly RunChange[] = ['worse', 'better', 'evidence', 'added', 'removed', 'same']

/** Compares two runs by question, regressions first. */
export function compareRuns(
  beforeResults: readonly GoldenRunResult[],
  afterResults: readonly GoldenRunResult[],
): QuestionDifference[] {
  const beforeById = new Map(beforeResults.map((result) => [result.id, result]))
  const afterById = new Map(afterResults.map((result) => [result.id, result]))
  const results = new Map([...afterById, ...beforeById]).values()
  const differences = [...results].map(({ id, question }): QuestionDifference => {
    const before = beforeById.get(id)
    const after = afterById.get(id)
    const gained = listMissing(after, before)
    const lost = listMissing(before, after)
    const change = classifyChange(before, after) ?? (gained.length + lost.length > 0 ? 'evidence' : 'same')
    return { id, question, before, after, gained, lost, change }
  })
  return differences.sort((a, b) => CHANGE_ORDER.indexOf(a.change) - CHANGE_ORDER.indexOf(b.change))
}

/** @returns undefined for equal outcomes */
function classifyChange(
  before: GoldenRunResult | undefined,
  after: GoldenRunResult | undefined,
): RunChange | undefined {
  if (before === undefined) return 'added'
  if (after === undefined) return 'removed'
  const difference =
    compareAnswers(before, after) || getRank(after) - getRank(before) || (after.recall ?? 0) - (before.recall ?? 0)
  return difference === 0 ? undefined : difference > 0 ? 'better' : 'worse'
}

function getRank({ outcome }: GoldenRunResult): number {
  return outcome === undefined ? OUTCOME_RANKS.failed : OUTCOME_RANKS[outcome]
}

/** 1 if a wrong answer became right, -1 if a right one became wrong, else 0. */
function compareAnswers(before: GoldenRunResult, after: GoldenRunResult): number {
  if (before.answer === undefined || after.answer === undefined) return 0
  return Number(after.answer.right) - Number(before.answer.right)
}

/** Indexes of the evidence of the first result that the second one lacks. */
function listMissing(result: GoldenRunResult | undefined, other: GoldenRunResult | undefined): number[] {
  if (result === undefined || other === undefined) return []
  const otherHashes = new Set(other.evidence)
  return result.evidence.flatMap((hash, index) => (otherHashes.has(hash) ? [] : [index]))
}
