import type { EvidenceState } from '../../../contract/gateway/queries.js'
import type { ResearchStage, ResearchStop, ResearchTaskJob } from '../../../contract/gateway/research.js'
import type { Tone } from '../../ui/state.js'

export const TASKS = 'GET /research-tasks'
export type Task = ResearchTaskJob

export const STAGE: Record<ResearchStage, { said: string; tone: Tone }> = {
  queued: { said: 'waiting', tone: 'neutral' },
  planning: { said: 'planning', tone: 'accent' },
  retrieving: { said: 'searching', tone: 'accent' },
  analyzing: { said: 'judging', tone: 'accent' },
  generating: { said: 'writing', tone: 'accent' },
  completed: { said: 'completed', tone: 'good' },
  failed: { said: 'failed', tone: 'bad' },
  canceled: { said: 'canceled', tone: 'warn' },
}

/** The stages of a task that is not canceled and does not fail, in order. */
export const WORK: readonly ResearchStage[] = [
  'queued',
  'planning',
  'retrieving',
  'analyzing',
  'generating',
  'completed',
]

export const STATE: Record<EvidenceState, { said: string; tone: Tone }> = {
  answerable: { said: 'answered', tone: 'good' },
  partial: { said: 'answered in part', tone: 'warn' },
  'not-enough-evidence': { said: 'nothing found', tone: 'bad' },
  conflict: { said: 'the documents disagree', tone: 'warn' },
  'permission-limited': { said: 'not open to you', tone: 'warn' },
}

export const STOPPED: Record<ResearchStop['limit'], string> = {
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

export function money(usd: number): string {
  return usd === 0 ? 'nothing' : dollars.format(usd)
}
