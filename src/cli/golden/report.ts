import { LIMITS } from '../../contract/limits.js'
import { computeGoldenMetrics } from '../../lib/golden-metrics.js'
import type { AnswerCheck } from '../../lib/text/expected-answer.js'
import { formatCount, pluralize } from '../../lib/text/pluralize.js'
import type { BaselineComparison, CaseResult, GateCheck, GoldenReport } from '../json-output/quality.js'
import { ttyLine } from '../terminal.js'

export function makeGoldenReport(
  results: readonly CaseResult[],
  run: { mode: string; k: number },
  checks: readonly GateCheck[],
  comparison: BaselineComparison | undefined,
): GoldenReport {
  const count = (status: CaseResult['status']) => results.filter((result) => result.status === status).length
  const measured = results.filter(({ status }) => status === 'measured')
  const tags = [...new Set(results.flatMap((result) => result.tags))].sort()
  const allChecks = [...checks, ...(comparison?.checks ?? [])]
  return {
    ...run,
    questions: results.length,
    measured: measured.length,
    unresolved: results.filter(({ unresolved }) => unresolved.length > 0).length,
    unlabelled: count('unlabelled'),
    failed: count('failed'),
    metrics: computeGoldenMetrics(measured),
    tags: Object.fromEntries(
      tags.map((tag) => [tag, computeGoldenMetrics(measured.filter((result) => result.tags.includes(tag)))]),
    ),
    checks: allChecks,
    ...(comparison === undefined ? {} : { baseline: omitChecks(comparison) }),
    passed: allChecks.every(({ holds }) => holds),
    results: [...results],
  }
}

function omitChecks({ checks: _, ...baseline }: BaselineComparison): Omit<BaselineComparison, 'checks'> {
  return baseline
}

/** Whether every question ran and all its labels were resolved. */
export function isComplete(report: GoldenReport): boolean {
  return report.failed === 0 && report.unresolved === 0
}

const formatMetric = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(3))

/** Formats the report for people. */
export function formatGoldenReport(report: GoldenReport): string[] {
  const { k, mode, measured, questions } = report
  const rows = [['all', report.metrics] as const, ...Object.entries(report.tags)]
  const width = Math.max(3, ...rows.map(([name]) => name.length))
  const formatRow = (name: string, values: string[]) =>
    `  ${ttyLine(name).padEnd(width)}  ${values.map((value) => value.padStart(12)).join('')}`
  return [
    `${formatCount(measured)} of ${pluralize(questions, 'question')} measured, mode ${mode}`,
    '',
    formatRow('', [k < LIMITS.topK ? `recall@${k}` : 'recall', 'MRR', 'answerable', 'answer', 'questions']),
    ...rows.map(([name, { recall, mrr, answerable, answer, questions: questionCount }]) =>
      formatRow(name, [...[recall, mrr, answerable, answer].map(formatMetric), String(questionCount)]),
    ),
    ...formatSection('Not found:', report.results, (result) => result.missing),
    ...formatSection('Wrongly answered or refused:', report.results, ({ answerable, evidenceState }) =>
      answerable === false ? [evidenceState ?? 'unknown'] : [],
    ),
    ...formatSection('Wrong answers:', report.results, ({ answer }) =>
      answer === undefined ? [] : listAnswerFaults(answer),
    ),
    ...formatSection('Labels not found in the documents:', report.results, (result) => result.unresolved),
    ...formatSection('Failed to run:', report.results, ({ error }) => (error === undefined ? [] : [error])),
    ...formatChecks(report),
  ]
}

/** `not in the answer: "four weeks"` */
function listAnswerFaults({ missing, forbidden, wrongState }: AnswerCheck): string[] {
  return [
    ...missing.map((text) => `not in the answer: ${JSON.stringify(text)}`),
    ...forbidden.map((text) => `in the answer: ${JSON.stringify(text)}`),
    ...(wrongState === undefined ? [] : [`state ${wrongState.actual}, expected ${wrongState.expected}`]),
  ]
}

function formatSection(
  title: string,
  results: readonly CaseResult[],
  getLines: (result: CaseResult) => string[],
): string[] {
  const lines = results.flatMap((result) => {
    const entries = getLines(result)
    return entries.length === 0
      ? []
      : [`  ${ttyLine(result.question)}`, ...entries.map((line) => `    ${ttyLine(line)}`)]
  })
  return lines.length === 0 ? [] : ['', title, ...lines]
}

function formatChecks({ checks, baseline, results }: GoldenReport): string[] {
  const getQuestion = (id: string) => ttyLine(results.find((result) => result.id === id)?.question ?? id)
  const { worse = [], broken = [] } = baseline ?? {}
  return [
    ...(worse.length === 0 ? [] : ['', 'Worse than the baseline:', ...worse.map((id) => `  ${getQuestion(id)}`)]),
    ...(broken.length === 0 ? [] : ['', 'No longer right:', ...broken.map((id) => `  ${getQuestion(id)}`)]),
    ...(checks.length === 0 ? [] : ['', ...checks.map(formatCheck)]),
  ]
}

/** `ok  min-recall: 0.912, at least 0.850` */
export function formatCheck({ name, value, least, holds }: GateCheck): string {
  return `${holds ? 'ok' : 'failed'}  ${name}: ${formatMetric(value)}, at least ${formatMetric(least)}`
}
