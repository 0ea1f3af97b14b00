import type { GoldenMetrics } from '../../contract/gateway/golden-runs.js'
import { computeGoldenMetrics } from '../../lib/golden-metrics.js'
import { isRecord, toNonEmptyString } from '../../lib/json/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { usageError } from '../cli-error.js'
import { readInputFile } from '../input-file.js'
import { parseJsonObject } from '../json-file.js'
import type { BaselineComparison, CaseResult, GateCheck } from '../json-output/quality.js'

type GateMetric = GateCheck['metric']
const GATE_METRICS: readonly GateMetric[] = ['recall', 'mrr', 'answerable', 'answer']
export type MetricMinimums = Partial<Record<GateMetric, number | undefined>>

/** Tolerance of comparisons: averages that are equal in decimal may differ in their last binary digit. */
const EPSILON = 1e-9

/** The metrics of one question in a baseline. */
type BaselineFigures = Pick<CaseResult, 'recall' | 'reciprocalRank' | 'answerable'> & {
  /** Whether the answer was right. */
  answer?: boolean
}

/** The metrics of an earlier run. */
export interface Baseline {
  version: 1
  createdAt: string
  mode: string
  k: number
  metrics: GoldenMetrics
  questions: Record<string, BaselineFigures>
}

export function makeBaseline(results: readonly CaseResult[], run: { mode: string; k: number }): Baseline {
  const questions: Baseline['questions'] = {}
  for (const { id, recall, reciprocalRank, answerable, answer } of results)
    questions[id] = omitUndefined({ recall, reciprocalRank, answerable, answer: answer?.right })
  return { version: 1, createdAt: new Date().toISOString(), ...run, metrics: computeGoldenMetrics(results), questions }
}

/** @throws CliError exit 2 if the file is missing, unreadable or not a baseline */
export function readBaseline(file: string): Baseline {
  const value = parseJsonObject(file, readInputFile(file, 'the baseline'))
  const { questions, mode, k, createdAt } = value
  if (value.version !== 1 || !isRecord(questions) || typeof k !== 'number')
    throw usageError(`${file} is not a baseline of \`ks golden run --save-baseline\``)
  const parsed: Baseline['questions'] = {}
  for (const [id, figures] of Object.entries(questions)) {
    if (!isRecord(figures)) throw usageError(`${file}: the figures of ${JSON.stringify(id)} must be an object`)
    const { recall, reciprocalRank, answerable, answer } = figures
    parsed[id] = {
      ...(typeof recall === 'number' ? { recall } : {}),
      ...(typeof reciprocalRank === 'number' ? { reciprocalRank } : {}),
      ...(typeof answerable === 'boolean' ? { answerable } : {}),
      ...(typeof answer === 'boolean' ? { answer } : {}),
    }
  }
  return {
    version: 1,
    createdAt: toNonEmptyString(createdAt) ?? '',
    mode: toNonEmptyString(mode) ?? '',
    k,
    questions: parsed,
    metrics: computeGoldenMetrics(Object.entries(parsed).map(([id, figures]) => toCaseResult(id, figures))),
  }
}

function toCaseResult(id: string, { answer: right, ...figures }: BaselineFigures): CaseResult {
  const answer = right === undefined ? undefined : { right, missing: [], forbidden: [], text: '' }
  const result = { id, question: id, tags: [], status: 'measured' as const, missing: [], unresolved: [] }
  return { ...result, ...figures, ...omitUndefined({ answer }) }
}

/** Checks the thresholds of `--min-...`. A metric without a value fails. */
export function checkMinimums(metrics: GoldenMetrics, minimums: MetricMinimums): GateCheck[] {
  return GATE_METRICS.flatMap((metric) => {
    const minimum = minimums[metric]
    return minimum === undefined ? [] : [checkMinimum(`min-${metric}`, metric, metrics[metric], minimum)]
  })
}

function checkMinimum(name: string, metric: GateMetric, value: number | undefined, least: number): GateCheck {
  return { name, metric, value, least, holds: value !== undefined && value >= least - EPSILON }
}

/** Compares the questions that both runs measured; averages may drop by the tolerance. */
export function compareToBaseline(
  results: readonly CaseResult[],
  baseline: Baseline,
  tolerance: number,
): BaselineComparison {
  const previousFigures = new Map(Object.entries(baseline.questions))
  const measured = results.filter(({ status }) => status === 'measured')
  const common = measured.filter(({ id }) => previousFigures.has(id))
  const previous = computeGoldenMetrics(common.map(({ id }) => toCaseResult(id, previousFigures.get(id) ?? {})))
  const current = computeGoldenMetrics(common)
  const checks = GATE_METRICS.flatMap((metric): GateCheck[] => {
    const previousValue = previous[metric]
    if (previousValue === undefined) return []
    const minimum = Math.round(Math.max(0, previousValue - tolerance) * 10_000) / 10_000
    return [checkMinimum(`baseline-${metric}`, metric, current[metric], minimum)]
  })
  const ids = new Set(results.map(({ id }) => id))
  return {
    checks,
    worse: common.filter((result) => isWorse(result, previousFigures.get(result.id) ?? {})).map(({ id }) => id),
    broken: common.filter((result) => isBroken(result, previousFigures.get(result.id) ?? {})).map(({ id }) => id),
    added: measured.filter(({ id }) => !previousFigures.has(id)).map(({ id }) => id),
    removed: [...previousFigures.keys()].filter((id) => !ids.has(id)),
  }
}

function isBroken(current: CaseResult, previous: BaselineFigures): boolean {
  return previous.answer === true && current.answer?.right === false
}

function isWorse(current: CaseResult, previous: BaselineFigures): boolean {
  return (
    (previous.recall ?? 0) > (current.recall ?? 0) + EPSILON ||
    (previous.reciprocalRank ?? 0) > (current.reciprocalRank ?? 0) + EPSILON ||
    (previous.answerable === true && current.answerable === false) ||
    isBroken(current, previous)
  )
}
