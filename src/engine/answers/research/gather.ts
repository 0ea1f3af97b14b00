import type { EvidenceBundle } from '../../../contract/gateway/queries.js'
import type { ReachedResearchLimit } from '../../../contract/gateway/research.js'
import { createDegradation, type Degradation } from '../../base/degraded.js'
import { describeUnread } from '../../knowledge/index.js'
import { toSearchedQuery } from '../../retrieval/index.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import type { ResearchTaskKey } from '../../store/rows/research/task-key.js'
import { listPartialBodies, listStepBodies } from '../rows/research/steps.js'
import { assessQuestion, type QuestionEvidence, type RetrievalWithEvidence } from './analyze.js'
import type { ResearchQuestionPlan } from './plan-questions.js'
import { type CompletedRetrieval, type ResearchRetrieval, runRetrievalStep } from './retrieve.js'
import { findSearchLeads } from './search-leads.js'
import { LimitReached, type TaskRun } from './task-run.js'

/** Maximum wait for outline and graph to include recent publications. */
const CATCH_UP_MS = 2500

/**
 * Retrieves evidence for the complete question, for its parts, and then along leads for open parts, until everything is
 * answered, no lead is left, or a limit is reached. Each retrieval is a step; completed steps are not repeated.
 *
 * @returns the limit that ended it
 */
export async function gatherEvidence(
  run: TaskRun,
  plan: ResearchQuestionPlan,
): Promise<ReachedResearchLimit | undefined> {
  let stepNumber = 0
  const next = async (retrieval: ResearchRetrieval): Promise<void> => {
    stepNumber += 1
    await run.step(`retrieve-${String(stepNumber).padStart(2, '0')}`, 'retrieve', (scope) =>
      runRetrievalStep(run, retrieval, scope),
    )
  }
  try {
    for (const [question, text] of plan.questions.entries()) await next(toRetrieval(plan, question, text))
    for (const [question, text] of plan.questions.entries()) {
      // The complete question is as open as its parts.
      if (question === 0 && plan.questions.length > 1) continue
      const inspected = await run.step<Inspection | string[]>(
        `inspect-${String(question).padStart(2, '0')}`,
        'inspect',
        async ({ signal }) => {
          const answered = assessQuestion(text, question, await run.context.db.read(loadRetrievals(run.row)))
          return { body: await inspectQuestion(run, answered, signal), toolCalls: 0, scanned: 0 }
        },
      )
      const leads = getLeads(inspected)
      const retrieval = toRetrieval(plan, question, text)
      // Documents that only mention a name may contain what the documents about it lack.
      const isWide = retrieval.entities !== undefined && isOpen(inspected)
      if (isWide) await next({ ...retrieval, wider: true })
      for (const lead of isWide ? leads.slice(1) : leads) await next({ ...retrieval, lead })
    }
    return undefined
  } catch (error) {
    if (error instanceof LimitReached) return error.stop
    throw error
  }
}

/** `and how tall was its mast` is searched with the words of the previous complete part. */
function toRetrieval(
  { questions, parts = [] }: ResearchQuestionPlan,
  question: number,
  text: string,
): ResearchRetrieval {
  const entities = parts[question]?.entities ?? []
  const before = questions.slice(1, question).map((query) => ({ query, answer: '' }))
  const others = (parts[0]?.entities ?? []).filter((name) => !entities.includes(name))
  const names = entities.length === 0 ? {} : { entities, others }
  return { question, text, searched: toSearchedQuery(text, before), ...names }
}

/** Result of inspecting the evidence of a question: leads, and what the search for leads had to omit. */
interface Inspection {
  leads: string[]
  /** the question is not answered yet */
  isOpen?: boolean
  degraded?: Degradation[]
}

/** Whether the question is still open; steps of earlier releases do not record it. */
function isOpen(inspected: Inspection | string[]): boolean {
  return !Array.isArray(inspected) && inspected.isOpen === true
}

/** Steps of earlier releases contain only the leads. */
function getLeads(inspected: Inspection | string[]): string[] {
  return Array.isArray(inspected) ? inspected : inspected.leads
}

async function inspectQuestion(run: TaskRun, answered: QuestionEvidence, signal: AbortSignal): Promise<Inspection> {
  if (answered.state === 'answerable' || answered.state === 'conflict') return { leads: [] }
  const space = await run.space()
  const reason = describeUnread(await run.services.derivations.catchUp(space, CATCH_UP_MS))
  signal.throwIfAborted()
  const { question, uncovered, items } = answered
  const leads = await run.context.db.read(
    findSearchLeads(space.key, { subject: run.row.subject }, { question, missing: uncovered, items }),
  )
  return { leads, isOpen: true, ...(reason === undefined ? {} : { degraded: [createDegradation('graph', reason)] }) }
}

/** Degradations of the searches for leads, over the steps of a task so far. */
export function* loadLeadDegradations(task: ResearchTaskKey): Read<Degradation[]> {
  return (yield* listStepBodies(task, 'inspect')).flatMap((body) => {
    const inspected: Inspection | string[] = parseJsonCell(body)
    return Array.isArray(inspected) ? [] : (inspected.degraded ?? [])
  })
}

/** The retrievals of a task so far, in order, with their evidence. */
export function* loadRetrievals(task: ResearchTaskKey): Read<RetrievalWithEvidence[]> {
  const bundles = new Map(
    (yield* listPartialBodies(task)).map((body) => {
      const bundle: EvidenceBundle = parseJsonCell(body)
      return [bundle.id, bundle]
    }),
  )
  return (yield* listStepBodies(task, 'retrieve')).flatMap((body): RetrievalWithEvidence[] => {
    const done: CompletedRetrieval = parseJsonCell(body)
    const bundle = bundles.get(done.bundleId)
    return bundle === undefined ? [] : [{ ...done, bundle }]
  })
}
