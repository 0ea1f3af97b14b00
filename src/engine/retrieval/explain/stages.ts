import type { ExplainStage, ExplainVerdict } from '../../../contract/gateway/explain.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'

type StageName = ExplainStage['stage']
type StageFigures = Record<string, unknown>

/** Collects the stages of one explanation; the first one that excludes the document gives the verdict. */
export class Stages {
  readonly list: ExplainStage[]
  verdict: ExplainVerdict | undefined

  constructor(list: ExplainStage[] = [], verdict?: ExplainVerdict) {
    this.list = list
    this.verdict = verdict
  }

  addPassed(stage: StageName, reason: string, text: string, figures: StageFigures = {}): void {
    this.list.push({ stage, outcome: 'passed', reason, text, figures })
  }

  addMissed(stage: StageName, reason: string, text: string, figures: StageFigures = {}): void {
    this.list.push({ stage, outcome: 'missed', reason, text, figures })
  }

  addNote(stage: StageName, reason: string, text: string, figures: StageFigures = {}): void {
    this.list.push({ stage, outcome: 'note', reason, text, figures })
  }

  /** Adds the stage that excluded the document. */
  addFailed(
    verdict: ExplainVerdict,
    { stage, reason, text, figures = {} }: { stage: StageName; reason: string; text: string; figures?: StageFigures },
  ): void {
    this.list.push({ stage, outcome: 'failed', reason, text, figures })
    this.verdict ??= verdict
  }
}

/** Runs a part of an explanation that reads the database, and adds its stages. */
export async function runDatabasePart<T>(db: Driver, stages: Stages, part: (own: Stages) => Read<T>): Promise<T> {
  const { result, own } = await db.read(withStages(stages.verdict, part))
  for (const stage of own.list) stages.list.push(stage)
  stages.verdict = own.verdict
  return result
}

function* withStages<T>(verdict: Stages['verdict'], part: (own: Stages) => Read<T>): Read<{ result: T; own: Stages }> {
  const own = new Stages([], verdict)
  return { result: yield* part(own), own }
}

/** Rounds a score for display. */
export function roundScore(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
