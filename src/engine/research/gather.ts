import type { EvidenceBundle } from '../../contract/gateway/queries.js'
import type { ResearchStop } from '../../contract/gateway/research.js'
import { type Degradation, degradation } from '../base/degraded.js'
import { graphBehind } from '../derived/derivation.js'
import { searchedQuery } from '../query/follow-up.js'
import type { OwnTask } from '../rows/research/own-task.js'
import { bodiesOf, partialBodies } from '../rows/research/steps.js'
import type { Read } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { type Answered, answerOf, type Found } from './analyze.js'
import { followUpTerms } from './follow-up-terms.js'
import type { Plan } from './plan-questions.js'
import { type Look, type LookDone, look } from './retrieve.js'
import { LimitReached, type TaskRun } from './task-run.js'

/** Maximum wait for outline and graph to include recent publications. */
const CATCH_UP_MS = 2500

/**
 * Retrieves evidence for the complete question, for its parts, and then along leads for open parts, until everything is
 * answered, no lead is left, or a limit is reached. Each retrieval is a step; completed steps are not repeated.
 *
 * @returns the limit that ended it
 */
export async function gather(run: TaskRun, plan: Plan): Promise<ResearchStop | undefined> {
  let place = 0
  const next = async (one: Look): Promise<void> => {
    place += 1
    await run.step(`retrieve-${String(place).padStart(2, '0')}`, 'retrieve', (scope) => look(run, one, scope))
  }
  try {
    for (const [question, text] of plan.questions.entries()) await next(asked(plan, question, text))
    for (const [question, text] of plan.questions.entries()) {
      // The complete question is as open as its parts.
      if (question === 0 && plan.questions.length > 1) continue
      const inspected = await run.step<Inspected | string[]>(
        `inspect-${String(question).padStart(2, '0')}`,
        'inspect',
        async ({ signal }) => {
          const answered = answerOf(text, question, await run.context.db.read(foundBy(run.row)))
          return { body: await leadsOf(run, answered, signal), toolCalls: 0, scanned: 0 }
        },
      )
      const leads = leadsIn(inspected)
      const one = asked(plan, question, text)
      // Documents that only mention a name may contain what the documents about it lack.
      const isWide = one.entities !== undefined && isOpen(inspected)
      if (isWide) await next({ ...one, wider: true })
      for (const lead of isWide ? leads.slice(1) : leads) await next({ ...one, lead })
    }
    return undefined
  } catch (error) {
    if (error instanceof LimitReached) return error.stop
    throw error
  }
}

/** `and how tall was its mast` is searched with the words of the previous complete part. */
function asked({ questions, parts = [] }: Plan, question: number, text: string): Look {
  const entities = parts[question]?.entities ?? []
  const before = questions.slice(1, question).map((query) => ({ query, answer: '' }))
  const others = (parts[0]?.entities ?? []).filter((name) => !entities.includes(name))
  const whom = entities.length === 0 ? {} : { entities, others }
  return { question, text, searched: searchedQuery(text, before), ...whom }
}

/** Result of inspecting the evidence of a question: leads, and what the search for leads had to omit. */
interface Inspected {
  leads: string[]
  /** the question is not answered yet */
  isOpen?: boolean
  degraded?: Degradation[]
}

/** Whether the question is still open; steps of earlier releases do not record it. */
function isOpen(inspected: Inspected | string[]): boolean {
  return !Array.isArray(inspected) && inspected.isOpen === true
}

/** Steps of earlier releases contain only the leads. */
function leadsIn(inspected: Inspected | string[]): string[] {
  return Array.isArray(inspected) ? inspected : inspected.leads
}

async function leadsOf(run: TaskRun, answered: Answered, signal: AbortSignal): Promise<Inspected> {
  if (answered.state === 'answerable' || answered.state === 'conflict') return { leads: [] }
  const space = await run.space()
  const behind = graphBehind(await run.shared.derivations.catchUp(space, CATCH_UP_MS))
  signal.throwIfAborted()
  const { question, uncovered, items } = answered
  const leads = await run.context.db.read(
    followUpTerms(space.key, { subject: run.row.subject }, { question, missing: uncovered, items }),
  )
  return { leads, isOpen: true, ...(behind === undefined ? {} : { degraded: [degradation('graph', behind)] }) }
}

/** Degradations of the searches for leads, over the steps of a task so far. */
export function* lackedByLeads(task: OwnTask): Read<Degradation[]> {
  return (yield* bodiesOf(task, 'inspect')).flatMap((body) => {
    const inspected: Inspected | string[] = fromCell(body)
    return Array.isArray(inspected) ? [] : (inspected.degraded ?? [])
  })
}

/** The retrievals of a task so far, in order, with their evidence. */
export function* foundBy(task: OwnTask): Read<Found[]> {
  const bundles = new Map(
    (yield* partialBodies(task)).map((body) => {
      const bundle: EvidenceBundle = fromCell(body)
      return [bundle.id, bundle]
    }),
  )
  return (yield* bodiesOf(task, 'retrieve')).flatMap((body): Found[] => {
    const done: LookDone = fromCell(body)
    const bundle = bundles.get(done.bundleId)
    return bundle === undefined ? [] : [{ ...done, bundle }]
  })
}
