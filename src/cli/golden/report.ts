import { LIMITS } from '../../contract/limits.js'
import type { AnswerCheck } from '../../lib/text/expected-answer.js'
import { ttyLine } from '../terminal.js'
import type { Check, Comparison } from './gate.js'
import { type CaseResult, type Metrics, metricsOf } from './measure.js'

/** The result of a run; the JSON value of `ks golden run --json`. */
export interface GoldenReport {
  mode: string
  k: number
  questions: number
  measured: number
  unresolved: number
  unlabelled: number
  failed: number
  metrics: Metrics
  tags: Record<string, Metrics>
  checks: Check[]
  baseline?: Omit<Comparison, 'checks'>
  /** Whether all checks passed. */
  passed: boolean
  results: CaseResult[]
}

export function makeReport(
  results: readonly CaseResult[],
  run: { mode: string; k: number },
  checks: readonly Check[],
  comparison: Comparison | undefined,
): GoldenReport {
  const count = (status: CaseResult['status']) => results.filter((result) => result.status === status).length
  const measured = results.filter(({ status }) => status === 'measured')
  const tags = [...new Set(results.flatMap((result) => result.tags))].sort()
  const all = [...checks, ...(comparison?.checks ?? [])]
  return {
    ...run,
    questions: results.length,
    measured: measured.length,
    unresolved: results.filter(({ unresolved }) => unresolved.length > 0).length,
    unlabelled: count('unlabelled'),
    failed: count('failed'),
    metrics: metricsOf(measured),
    tags: Object.fromEntries(
      tags.map((tag) => [tag, metricsOf(measured.filter((result) => result.tags.includes(tag)))]),
    ),
    checks: all,
    ...(comparison === undefined
      ? {}
      : {
          baseline: {
            worse: comparison.worse,
            broken: comparison.broken,
            added: comparison.added,
            removed: comparison.removed,
          },
        }),
    passed: all.every(({ holds }) => holds),
    results: [...results],
  }
}

/** Whether every question ran and all its labels were resolved. */
export function isComplete(report: GoldenReport): boolean {
  return report.failed === 0 && report.unresolved === 0
}

const figure = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(3))

/** Formats the report for people. */
export function reportLines(report: GoldenReport): string[] {
  const { k, mode, measured, questions } = report
  const rows = [['all', report.metrics] as const, ...Object.entries(report.tags)]
  const width = Math.max(3, ...rows.map(([name]) => name.length))
  const cells = (name: string, values: string[]) =>
    `  ${ttyLine(name).padEnd(width)}  ${values.map((value) => value.padStart(10)).join('')}`
  return [
    `${measured} of ${questions} questions measured, mode ${mode}`,
    '',
    cells('', [k < LIMITS.topK ? `recall@${k}` : 'recall', 'MRR', 'answerable', 'answer', 'questions']),
    ...rows.map(([name, { recall, mrr, answerable, answer, questions: of }]) =>
      cells(name, [figure(recall), figure(mrr), figure(answerable), figure(answer), String(of)]),
    ),
    ...section('Not found:', report.results, (result) => result.missing),
    ...section('Wrongly answered or refused:', report.results, ({ answerable, evidenceState }) =>
      answerable === false ? [evidenceState ?? 'unknown'] : [],
    ),
    ...section('Wrong answers:', report.results, ({ answer }) => (answer === undefined ? [] : answerFaults(answer))),
    ...section('Labels not found in the documents:', report.results, (result) => result.unresolved),
    ...section('Failed to run:', report.results, ({ error }) => (error === undefined ? [] : [error])),
    ...checkLines(report),
  ]
}

/** `not in the answer: "four weeks"` */
function answerFaults({ missing, forbidden, wrongState }: AnswerCheck): string[] {
  return [
    ...missing.map((text) => `not in the answer: ${JSON.stringify(text)}`),
    ...forbidden.map((text) => `in the answer: ${JSON.stringify(text)}`),
    ...(wrongState === undefined ? [] : [`state ${wrongState.actual}, expected ${wrongState.expected}`]),
  ]
}

function section(title: string, results: readonly CaseResult[], of: (result: CaseResult) => string[]): string[] {
  const lines = results.flatMap((result) => {
    const found = of(result)
    return found.length === 0 ? [] : [`  ${ttyLine(result.question)}`, ...found.map((line) => `    ${ttyLine(line)}`)]
  })
  return lines.length === 0 ? [] : ['', title, ...lines]
}

function checkLines({ checks, baseline, results }: GoldenReport): string[] {
  const questionOf = (id: string) => ttyLine(results.find((result) => result.id === id)?.question ?? id)
  const { worse = [], broken = [] } = baseline ?? {}
  return [
    ...(worse.length === 0 ? [] : ['', 'Worse than the baseline:', ...worse.map((id) => `  ${questionOf(id)}`)]),
    ...(broken.length === 0 ? [] : ['', 'No longer right:', ...broken.map((id) => `  ${questionOf(id)}`)]),
    ...(checks.length === 0 ? [] : ['', ...checks.map(checkLine)]),
  ]
}

/** `ok min-recall: 0.912, at least 0.85` */
export function checkLine({ name, value, least, holds }: Check): string {
  return `${holds ? 'ok' : 'failed'}  ${name}: ${figure(value)}, at least ${figure(least)}`
}
