import type { EvidenceBundle } from '../../contract/gateway/queries.js'
import type { ResearchStop } from '../../contract/gateway/research.js'
import { searchedQuery } from '../query/follow-up.js'
import type { Database } from '../storage/database.js'
import { type Answered, answerOf } from './analyze.js'
import { leadsFor } from './leads.js'
import type { Plan } from './plan-questions.js'
import { type Look, type LookDone, look } from './retrieve.js'
import { LimitReached, type TaskRun } from './task-run.js'

/** How long a task waits for outline and graph of what was published since. */
const CATCH_UP_MS = 2500

/** A look with its evidence. */
export interface Found extends LookDone {
  bundle: EvidenceBundle
}

/**
 * Looks for the whole question, for its parts, and then along leads for what is still open, until everything is
 * answered, nothing leads on, or a limit is reached. Every look is a step; those done before are not repeated.
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
      // the whole question is as open as its parts
      if (question === 0 && plan.questions.length > 1) continue
      const leads = await run.step(`inspect-${String(question).padStart(2, '0')}`, 'inspect', async ({ signal }) => {
        const answered = answerOf(text, question, foundBy(run.context.db, run.row.id))
        return { body: await leadsOf(run, answered, signal), toolCalls: 0, scanned: 0 }
      })
      for (const lead of leads) await next({ ...asked(plan, question, text), lead })
    }
    return undefined
  } catch (error) {
    if (error instanceof LimitReached) return error.stop
    throw error
  }
}

/** `and how tall was its mast` is searched with the words of the part before it that stands by itself. */
function asked({ questions }: Plan, question: number, text: string): Look {
  const before = questions.slice(1, question).map((query) => ({ query, answer: '' }))
  return { question, text, searched: searchedQuery(text, before) }
}

async function leadsOf(run: TaskRun, answered: Answered, signal: AbortSignal): Promise<string[]> {
  if (answered.state === 'answerable' || answered.state === 'conflict') return []
  const { space } = run
  await run.shared.derivations.catchUp(space, CATCH_UP_MS)
  signal.throwIfAborted()
  const { question, uncovered, items } = answered
  return leadsFor(run.context.db, space.key, { question, missing: uncovered, items })
}

/** The looks of a task so far, in their order, with their evidence. */
export function foundBy(db: Database, taskId: string): Found[] {
  const bundles = new Map(
    db.all<{ body: string }>('SELECT body FROM research_partials WHERE task_id = ?', taskId).map(({ body }) => {
      const bundle: EvidenceBundle = JSON.parse(body)
      return [bundle.id, bundle]
    }),
  )
  const rows = db.all<{ body: string }>(
    "SELECT body FROM research_steps WHERE task_id = ? AND name = 'retrieve' ORDER BY step",
    taskId,
  )
  return rows.flatMap(({ body }): Found[] => {
    const done: LookDone = JSON.parse(body)
    const bundle = bundles.get(done.bundleId)
    return bundle === undefined ? [] : [{ ...done, bundle }]
  })
}
