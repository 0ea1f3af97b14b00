import type { AnswerTrace } from '../contract/gateway/queries.js'
import { ttyLine } from './terminal.js'
import { formatDuration } from './units.js'

type TraceViewStep = AnswerTrace['steps'][number]

/** Formats a trace: a head line and one line for each step with its duration and notes. */
export function formatTrace(trace: AnswerTrace): string[] {
  const first = trace.steps[0]?.startedAt
  const last = trace.steps
    .map((step) => step.endedAt ?? step.startedAt)
    .sort()
    .at(-1)
  const total = first === undefined || last === undefined ? [] : [formatDuration(Date.parse(last) - Date.parse(first))]
  const head = [trace.mode, trace.createdAt.replace('T', ' ').slice(0, 19), ...total]
  const width = Math.max(0, ...trace.steps.map((step) => step.name.length))
  return [head.join(' · '), ttyLine(trace.query), '', ...trace.steps.map((step) => formatStep(step, width))]
}

function formatStep(step: TraceViewStep, width: number): string {
  const durationText =
    step.endedAt === undefined ? '-' : formatDuration(Date.parse(step.endedAt) - Date.parse(step.startedAt))
  return `  ${step.name.padEnd(width)}  ${durationText.padStart(7)}  ${step.status.padEnd(7)}  ${formatNotes(step.metadata)}`.trimEnd()
}

/** Notes of a step as `name value`; omits nested values, which `--json` shows, and the duration. */
function formatNotes(metadata: Record<string, unknown>): string {
  return Object.entries(metadata)
    .filter(([name]) => name !== 'durationMs')
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    .map(([name, value]) => `${name} ${typeof value === 'string' ? ttyLine(value) : value}`)
    .join(' · ')
}
