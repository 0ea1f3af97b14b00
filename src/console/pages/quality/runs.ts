import type { GoldenRun, GoldenRunResult } from '../../../contract/gateway/golden-runs.js'

export const RUNS = 'GET /knowledge-spaces/{id}/golden-runs'

/** Fraction of the measured questions that passed; undefined until the run has ended. */
export function passedFraction({ passed, metrics }: GoldenRun): number | undefined {
  return metrics === undefined || metrics.questions === 0 ? undefined : passed / metrics.questions
}

export type RunChange = 'better' | 'worse' | 'evidence' | 'same' | 'added' | 'removed'

export interface QuestionDifference {
  id: string
  question: string
  before: GoldenRunResult | undefined
  after: GoldenRunResult | undefined
  change: RunChange
  /** indexes of the passages that only the later run has, in its evidence */
  gained: readonly number[]
  /** indexes of the passages that only the earlier run has, in its evidence */
  lost: readonly number[]
}

const OUTCOME_ORDER = { failed: 0, partly: 1, passed: 2 } as const
const CHANGE_ORDER: readonly RunChange[] = ['worse', 'better', 'evidence', 'added', 'removed', 'same']

/** Compares two runs by question, regressions first. */
export function compareRuns(
  before: readonly GoldenRunResult[],
  after: readonly GoldenRunResult[],
): QuestionDifference[] {
  const earlier = new Map(before.map((result) => [result.id, result]))
  const later = new Map(after.map((result) => [result.id, result]))
  const differences = [...new Map([...later, ...earlier]).values()].map(({ id, question }): QuestionDifference => {
    const was = earlier.get(id)
    const is = later.get(id)
    const gained = itemsNotIn(is, was)
    const lost = itemsNotIn(was, is)
    const change = classifyChange(was, is, gained.length + lost.length)
    return { id, question, before: was, after: is, gained, lost, change }
  })
  return differences.sort((a, b) => CHANGE_ORDER.indexOf(a.change) - CHANGE_ORDER.indexOf(b.change))
}

function classifyChange(
  was: GoldenRunResult | undefined,
  is: GoldenRunResult | undefined,
  changedCount: number,
): RunChange {
  if (was === undefined) return 'added'
  if (is === undefined) return 'removed'
  const step = compareAnswers(was, is) || toRank(is) - toRank(was) || (is.recall ?? 0) - (was.recall ?? 0)
  if (step !== 0) return step > 0 ? 'better' : 'worse'
  return changedCount > 0 ? 'evidence' : 'same'
}

function toRank({ outcome }: GoldenRunResult): number {
  return outcome === undefined ? OUTCOME_ORDER.failed : OUTCOME_ORDER[outcome]
}

/** 1 if a wrong answer became right, -1 if a right one became wrong, else 0. */
function compareAnswers(was: GoldenRunResult, is: GoldenRunResult): number {
  if (was.answer === undefined || is.answer === undefined) return 0
  return Number(is.answer.right) - Number(was.answer.right)
}

/** Indexes of the evidence of the first result that the second lacks. */
function itemsNotIn(result: GoldenRunResult | undefined, other: GoldenRunResult | undefined): number[] {
  if (result === undefined || other === undefined) return []
  const known = new Set(other.evidence)
  return result.evidence.flatMap((hash, index) => (known.has(hash) ? [] : [index]))
}
