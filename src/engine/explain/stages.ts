import type { ExplainStage, ExplainVerdict } from '../../contract/gateway/explain.js'

/** Collects the stages of one explanation; the first that keeps the document out gives the verdict. */
export interface Stages {
  readonly list: ExplainStage[]
  verdict: ExplainVerdict | undefined
}

type Name = ExplainStage['stage']
type Figures = Record<string, unknown>

export function passed(stages: Stages, stage: Name, reason: string, text: string, figures: Figures = {}): void {
  stages.list.push({ stage, outcome: 'passed', reason, text, figures })
}

export function missed(stages: Stages, stage: Name, reason: string, text: string, figures: Figures = {}): void {
  stages.list.push({ stage, outcome: 'missed', reason, text, figures })
}

export function note(stages: Stages, stage: Name, reason: string, text: string, figures: Figures = {}): void {
  stages.list.push({ stage, outcome: 'note', reason, text, figures })
}

/** The stage that kept the document out. */
export function failed(
  stages: Stages,
  verdict: ExplainVerdict,
  at: { stage: Name; reason: string; text: string; figures?: Figures },
): void {
  stages.list.push({ stage: at.stage, outcome: 'failed', reason: at.reason, text: at.text, figures: at.figures ?? {} })
  stages.verdict ??= verdict
}

/** A score as people compare them. */
export function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
