import { defined } from '../../lib/defined.js'
import { isRecord, textOf } from '../../lib/json/values.js'
import { usageError } from '../cli-error.js'
import { readInputFile } from '../input-file.js'
import { parseJsonObject } from '../json-file.js'
import { type CaseResult, type Metrics, metricsOf } from './measure.js'

/** One threshold and whether it is met. */
export interface Check {
  name: string
  metric: Measure
  value: number | undefined
  /** The minimum allowed value. */
  least: number
  holds: boolean
}

const MEASURES = ['recall', 'mrr', 'answerable', 'answer'] as const
type Measure = (typeof MEASURES)[number]
export type Minimums = Partial<Record<Measure, number | undefined>>

/** Averages of binary fractions may differ in the last digit although they are equal in decimal. */
const EPSILON = 1e-9

/** The metrics of one question in a baseline. */
type Figures = Pick<CaseResult, 'recall' | 'reciprocalRank' | 'answerable'> & {
  /** Whether the answer was right. */
  answer?: boolean
}

/** The metrics of an earlier run. */
export interface Baseline {
  version: 1
  createdAt: string
  mode: string
  k: number
  metrics: Metrics
  questions: Record<string, Figures>
}

export function baselineOf(results: readonly CaseResult[], run: { mode: string; k: number }): Baseline {
  const questions: Baseline['questions'] = {}
  for (const { id, recall, reciprocalRank, answerable, answer } of results)
    questions[id] = defined({ recall, reciprocalRank, answerable, answer: answer?.right })
  return { version: 1, createdAt: new Date().toISOString(), ...run, metrics: metricsOf(results), questions }
}

/** @throws CliError exit 2 if the file is missing, unreadable or not a baseline */
export function readBaseline(file: string): Baseline {
  const value = parseJsonObject(file, readInputFile(file, 'the baseline'))
  const { questions, mode, k, createdAt } = value
  if (value.version !== 1 || !isRecord(questions) || typeof k !== 'number')
    throw usageError(`${file} is not a baseline of \`ks golden run --save-baseline\``)
  const kept: Baseline['questions'] = {}
  for (const [id, figures] of Object.entries(questions)) {
    if (!isRecord(figures)) throw usageError(`${file}: the figures of ${JSON.stringify(id)} must be an object`)
    const { recall, reciprocalRank, answerable, answer } = figures
    kept[id] = {
      ...(typeof recall === 'number' ? { recall } : {}),
      ...(typeof reciprocalRank === 'number' ? { reciprocalRank } : {}),
      ...(typeof answerable === 'boolean' ? { answerable } : {}),
      ...(typeof answer === 'boolean' ? { answer } : {}),
    }
  }
  return {
    version: 1,
    createdAt: textOf(createdAt) ?? '',
    mode: textOf(mode) ?? '',
    k,
    questions: kept,
    metrics: metricsOf(Object.entries(kept).map(([id, figures]) => asResult(id, figures))),
  }
}

function asResult(id: string, { answer: right, ...figures }: Figures): CaseResult {
  const answer = right === undefined ? undefined : { right, missing: [], forbidden: [], text: '' }
  const result = { id, question: id, tags: [], status: 'measured' as const, missing: [], unresolved: [] }
  return { ...result, ...figures, ...defined({ answer }) }
}

/** Checks the thresholds of `--min-...`. A metric without a value fails. */
export function checkMinimums(metrics: Metrics, minimums: Minimums): Check[] {
  return MEASURES.flatMap((metric): Check[] => {
    const least = minimums[metric]
    if (least === undefined) return []
    const value = metrics[metric]
    return [{ name: `min-${metric}`, metric, value, least, holds: value !== undefined && value >= least - EPSILON }]
  })
}

export interface Comparison {
  checks: Check[]
  /** Questions with lower metrics than the baseline. */
  worse: string[]
  /** Questions whose answer was right and is wrong now; also in `worse`. */
  broken: string[]
  /** Questions that only one of the runs has. */
  added: string[]
  removed: string[]
}

/** Compares the questions that both runs measured; averages may drop by the tolerance. */
export function compare(results: readonly CaseResult[], baseline: Baseline, tolerance: number): Comparison {
  const known = new Map(Object.entries(baseline.questions))
  const measured = results.filter(({ status }) => status === 'measured')
  const common = measured.filter(({ id }) => known.has(id))
  const before = metricsOf(common.map(({ id }) => asResult(id, known.get(id) ?? {})))
  const now = metricsOf(common)
  const checks = MEASURES.flatMap((metric): Check[] => {
    const was = before[metric]
    if (was === undefined) return []
    const least = Math.round(Math.max(0, was - tolerance) * 10_000) / 10_000
    const value = now[metric]
    return [
      { name: `baseline-${metric}`, metric, value, least, holds: value !== undefined && value >= least - EPSILON },
    ]
  })
  const ids = new Set(results.map(({ id }) => id))
  return {
    checks,
    worse: common.filter((result) => isWorse(result, known.get(result.id) ?? {})).map(({ id }) => id),
    broken: common.filter((result) => isBroken(result, known.get(result.id) ?? {})).map(({ id }) => id),
    added: measured.filter(({ id }) => !known.has(id)).map(({ id }) => id),
    removed: [...known.keys()].filter((id) => !ids.has(id)),
  }
}

function isBroken(now: CaseResult, was: Figures): boolean {
  return was.answer === true && now.answer?.right === false
}

function isWorse(now: CaseResult, was: Figures): boolean {
  return (
    (was.recall ?? 0) > (now.recall ?? 0) + EPSILON ||
    (was.reciprocalRank ?? 0) > (now.reciprocalRank ?? 0) + EPSILON ||
    (was.answerable === true && now.answerable === false) ||
    isBroken(now, was)
  )
}
