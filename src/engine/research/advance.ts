import { KsError } from '../../contract/errors.js'
import type { EvidenceBundle } from '../../contract/gateway/queries.js'
import type { ResearchStop } from '../../contract/gateway/research.js'
import type { OwnTask } from '../rows/research/own-task.js'
import { isTerminal } from '../rows/research/stages.js'
import { partialBodies } from '../rows/research/steps.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { type Analysis, analyse, answerOf } from './analyze.js'
import { foundBy, gather } from './gather.js'
import { planQuestions, sectionQuestions } from './plan-questions.js'
import { writeReport } from './report.js'
import { LimitReached, TaskFailed, type TaskRun } from './task-run.js'

/**
 * Runs a task from its current stage until it is completed. After a kill at any point it continues after its last step.
 *
 * @throws TaskEnded when another caller ended it; the signal's reason when it aborts
 */
export async function advance(run: TaskRun): Promise<void> {
  while (!isTerminal(run.row.stage)) {
    run.signal.throwIfAborted()
    await STAGES[run.row.stage](run)
  }
}

const ended = (): Promise<void> => Promise.reject(new KsError('internal', 'a research task that has ended was run'))

const STAGES: Record<TaskRun['row']['stage'], (run: TaskRun) => Promise<void>> = {
  queued: (run) => run.moveTo('planning'),
  planning: plan,
  retrieving: retrieve,
  analyzing: analyzeFound,
  generating: generate,
  completed: ended,
  failed: ended,
  canceled: ended,
}

async function plan(run: TaskRun): Promise<void> {
  try {
    await planQuestions(run)
  } catch (error) {
    if (error instanceof LimitReached) throw nothingFound(error.stop)
    throw error
  }
  await run.moveTo('retrieving')
}

async function retrieve(run: TaskRun): Promise<void> {
  const stoppedBy = await gather(run, await planQuestions(run))
  if (stoppedBy !== undefined && (await run.used()).retrievalSteps === 0) throw nothingFound(stoppedBy)
  await run.moveTo('analyzing', stoppedBy)
}

/** The task has no result to report. */
function nothingFound({ limit, limitValue }: ResearchStop): TaskFailed {
  return new TaskFailed(`${limit} of ${limitValue} was reached before anything was found`)
}

async function analyzeFound(run: TaskRun): Promise<void> {
  await analysed(run)
  await run.moveTo('generating')
}

async function analysed(run: TaskRun): Promise<Analysis> {
  const questions = sectionQuestions(await planQuestions(run))
  return run.step('analyze', 'analyze', async () => {
    const found = await run.context.db.read(foundBy(run.row))
    const answered = questions.map(({ text, place, part }) => ({ ...answerOf(text, place, found), part }))
    const { analysis, bundle } = analyse(run.row.query, answered, found, stopOf(run))
    return { body: analysis, toolCalls: 0, scanned: 0, partial: bundle }
  })
}

async function generate(run: TaskRun): Promise<void> {
  const analysis = await analysed(run)
  const bundle = await run.context.db.read(bundleById(run.row, analysis.bundleId))
  await writeReport(run, analysis, bundle, stopOf(run))
  await run.moveTo('completed')
}

function stopOf({ row }: TaskRun): ResearchStop | undefined {
  if (row.stopped_by === null) return undefined
  const stop: ResearchStop = fromCell(row.stopped_by)
  return stop
}

function* bundleById(task: OwnTask, id: string): Read<EvidenceBundle> {
  for (const body of yield* partialBodies(task)) {
    const bundle: EvidenceBundle = fromCell(body)
    if (bundle.id === id) return bundle
  }
  throw new KsError('internal', 'the evidence of a research task is missing')
}
