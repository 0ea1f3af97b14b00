import { KsError } from '../../../contract/errors.js'
import type { EvidenceBundle } from '../../../contract/gateway/queries.js'
import type { ReachedResearchLimit } from '../../../contract/gateway/research.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { isTerminal } from '../../store/rows/research/stages.js'
import type { ResearchTaskKey } from '../../store/rows/research/task-key.js'
import { listPartialBodies } from '../rows/research/steps.js'
import { assessQuestion, mergeEvidence, type ResearchAnalysis } from './analyze.js'
import { gatherEvidence, loadRetrievals } from './gather.js'
import { listSectionQuestions, planQuestions } from './plan-questions.js'
import { writeReport } from './report.js'
import { LimitReached, TaskFailed, type TaskRun } from './task-run.js'

/**
 * Runs a task from its current stage until it is completed. After a kill at any point it continues after its last step.
 *
 * @throws TaskEnded when another caller ended it; the signal's reason when it aborts
 */
export async function runTask(run: TaskRun): Promise<void> {
  while (!isTerminal(run.row.stage)) {
    run.signal.throwIfAborted()
    await STAGE_RUNNERS[run.row.stage](run)
  }
}

const rejectEnded = (): Promise<void> =>
  Promise.reject(new KsError('internal', 'a research task that has ended was run'))

const STAGE_RUNNERS: Record<TaskRun['row']['stage'], (run: TaskRun) => Promise<void>> = {
  queued: (run) => run.moveTo('planning'),
  planning: runPlanning,
  retrieving: runRetrieval,
  analyzing: runAnalysis,
  generating: runGeneration,
  completed: rejectEnded,
  failed: rejectEnded,
  canceled: rejectEnded,
}

async function runPlanning(run: TaskRun): Promise<void> {
  try {
    await planQuestions(run)
  } catch (error) {
    if (error instanceof LimitReached) throw toNothingFoundError(error.stop)
    throw error
  }
  await run.moveTo('retrieving')
}

async function runRetrieval(run: TaskRun): Promise<void> {
  const stoppedBy = await gatherEvidence(run, await planQuestions(run))
  if (stoppedBy !== undefined && (await run.used()).retrievalSteps === 0) throw toNothingFoundError(stoppedBy)
  await run.moveTo('analyzing', stoppedBy)
}

/** The task has no result to report. */
function toNothingFoundError({ limit, limitValue }: ReachedResearchLimit): TaskFailed {
  return new TaskFailed(`${limit} of ${limitValue} was reached before anything was found`)
}

async function runAnalysis(run: TaskRun): Promise<void> {
  await analyzeTask(run)
  await run.moveTo('generating')
}

async function analyzeTask(run: TaskRun): Promise<ResearchAnalysis> {
  const questions = listSectionQuestions(await planQuestions(run))
  return run.step('analyze', 'analyze', async () => {
    const found = await run.context.db.read(loadRetrievals(run.row))
    const answered = questions.map(({ text, index, part }) => ({ ...assessQuestion(text, index, found), part }))
    const { analysis, bundle } = mergeEvidence(
      { query: run.row.query, now: run.context.now() },
      answered,
      found,
      getStop(run),
    )
    return { body: analysis, toolCalls: 0, scanned: 0, partial: bundle }
  })
}

async function runGeneration(run: TaskRun): Promise<void> {
  const analysis = await analyzeTask(run)
  const bundle = await run.context.db.read(findBundle(run.row, analysis.bundleId))
  await writeReport(run, analysis, bundle, getStop(run))
  await run.moveTo('completed')
}

function getStop({ row }: TaskRun): ReachedResearchLimit | undefined {
  if (row.stopped_by === null) return undefined
  const stop: ReachedResearchLimit = parseJsonCell(row.stopped_by)
  return stop
}

function* findBundle(task: ResearchTaskKey, id: string): Read<EvidenceBundle> {
  for (const body of yield* listPartialBodies(task)) {
    const bundle: EvidenceBundle = parseJsonCell(body)
    if (bundle.id === id) return bundle
  }
  throw new KsError('internal', 'the evidence of a research task is missing')
}
