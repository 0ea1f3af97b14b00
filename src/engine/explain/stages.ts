import type { ExplainStage, ExplainVerdict } from '../../contract/gateway/explain.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'

/** Collects the stages of one explanation; the first one that excludes the document gives the verdict. */
export interface Stages {
  readonly list: ExplainStage[]
  verdict: ExplainVerdict | undefined
}

/** Runs a part of an explanation that reads the database, and adds its stages. */
export async function said<T>(db: Driver, stages: Stages, part: (own: Stages) => Read<T>): Promise<T> {
  const { made, own } = await db.read(withStages(stages.verdict, part))
  for (const stage of own.list) stages.list.push(stage)
  stages.verdict = own.verdict
  return made
}

function* withStages<T>(verdict: Stages['verdict'], part: (own: Stages) => Read<T>): Read<{ made: T; own: Stages }> {
  const own: Stages = { list: [], verdict }
  return { made: yield* part(own), own }
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

/** Adds the stage that excluded the document. */
export function failed(
  stages: Stages,
  verdict: ExplainVerdict,
  at: { stage: Name; reason: string; text: string; figures?: Figures },
): void {
  stages.list.push({ stage: at.stage, outcome: 'failed', reason: at.reason, text: at.text, figures: at.figures ?? {} })
  stages.verdict ??= verdict
}

/** Rounds a score for display. */
export function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
