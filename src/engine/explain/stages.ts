import type { ExplainStage, ExplainVerdict } from '../../contract/gateway/explain.js'
import type { Driver } from '../storage/driver.js'
import type { Read } from '../storage/program.js'

/** Collects the stages of one explanation; the first one that excludes the document gives the verdict. */
export interface Stages {
  readonly list: ExplainStage[]
  verdict: ExplainVerdict | undefined
}

/** Runs a part of an explanation that reads the database, and adds its stages. */
export async function runDatabasePart<T>(db: Driver, stages: Stages, part: (own: Stages) => Read<T>): Promise<T> {
  const { made: result, own } = await db.read(withStages(stages.verdict, part))
  for (const stage of own.list) stages.list.push(stage)
  stages.verdict = own.verdict
  return result
}

function* withStages<T>(verdict: Stages['verdict'], part: (own: Stages) => Read<T>): Read<{ made: T; own: Stages }> {
  const own: Stages = { list: [], verdict }
  return { made: yield* part(own), own }
}

type StageName = ExplainStage['stage']
type StageFigures = Record<string, unknown>

export function addPassed(
  stages: Stages,
  stage: StageName,
  reason: string,
  text: string,
  figures: StageFigures = {},
): void {
  stages.list.push({ stage, outcome: 'passed', reason, text, figures })
}

export function addMissed(
  stages: Stages,
  stage: StageName,
  reason: string,
  text: string,
  figures: StageFigures = {},
): void {
  stages.list.push({ stage, outcome: 'missed', reason, text, figures })
}

export function addNote(
  stages: Stages,
  stage: StageName,
  reason: string,
  text: string,
  figures: StageFigures = {},
): void {
  stages.list.push({ stage, outcome: 'note', reason, text, figures })
}

/** Adds the stage that excluded the document. */
export function addFailed(
  stages: Stages,
  verdict: ExplainVerdict,
  details: { stage: StageName; reason: string; text: string; figures?: StageFigures },
): void {
  stages.list.push({
    stage: details.stage,
    outcome: 'failed',
    reason: details.reason,
    text: details.text,
    figures: details.figures ?? {},
  })
  stages.verdict ??= verdict
}

/** Rounds a score for display. */
export function roundScore(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
