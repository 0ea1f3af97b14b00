import type { EvidenceState } from '../../../contract/gateway/queries.js'
import type { ReachedResearchLimit, ResearchStage, ResearchTaskJob } from '../../../contract/gateway/research.js'
import type { Tone } from '../../ui/state.js'

export const TASKS = 'GET /research-tasks'
export type Task = ResearchTaskJob

export const STAGE_LABELS: Record<ResearchStage, { label: string; tone: Tone }> = {
  queued: { label: 'waiting', tone: 'neutral' },
  planning: { label: 'planning', tone: 'accent' },
  retrieving: { label: 'searching', tone: 'accent' },
  analyzing: { label: 'judging', tone: 'accent' },
  generating: { label: 'writing', tone: 'accent' },
  completed: { label: 'completed', tone: 'good' },
  failed: { label: 'failed', tone: 'bad' },
  canceled: { label: 'canceled', tone: 'warn' },
}

/** The stages of a successful task, in order. */
export const STAGE_ORDER: readonly ResearchStage[] = [
  'queued',
  'planning',
  'retrieving',
  'analyzing',
  'generating',
  'completed',
]

export const STATE_LABELS: Record<EvidenceState, { label: string; tone: Tone }> = {
  answerable: { label: 'answered', tone: 'good' },
  partial: { label: 'answered in part', tone: 'warn' },
  'not-enough-evidence': { label: 'nothing found', tone: 'bad' },
  conflict: { label: 'the documents disagree', tone: 'warn' },
  'permission-limited': { label: 'not open to you', tone: 'warn' },
}

export const STOP_REASONS: Record<ReachedResearchLimit['limit'], string> = {
  maxRetrievalSteps: 'the maximum number of searches was reached',
  maxScannedResources: 'the maximum number of passages was reached',
  maxToolCalls: 'the maximum number of calls was reached',
  timeoutMs: 'its time limit was reached',
  budgetUsd: 'its budget was spent',
}

export function isEnded(stage: ResearchStage): boolean {
  return stage === 'completed' || stage === 'failed' || stage === 'canceled'
}

const dollars = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })

export function formatUsd(usd: number): string {
  return usd === 0 ? 'nothing' : dollars.format(usd)
}
