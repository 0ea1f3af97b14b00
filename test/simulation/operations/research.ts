import { setTimeout as sleep } from 'node:timers/promises'
import type { SpaceModel } from '../model.js'
import { type Context, choose, describe, diverge, expectRefusal, type Operation, pick, pickSpace } from './context.js'

const ENDED = ['completed', 'failed', 'canceled']
const POLL_MS = 250

/** Starts a research task; repeated until it is acknowledged, so that it must exist exactly once. */
const startResearch: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const document = choose([...space.documents.values()], pick(step, 2))
  const query = `What did ${session.tenant.marker} say of the ${document?.word ?? 'sea'} in step ${step.number}?`
  space.tasks.set(query, undefined)
  const outcome = await session.write(
    step,
    'POST /research-tasks',
    { body: { knowledgeSpaceId: space.id, query } },
    { always: true },
  )
  if (outcome.kind === 'done') space.tasks.set(query, outcome.value.id)
  if (outcome.kind === 'refused') expectRefusal(context, space, outcome)
}

const readResearch: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const id = choose([...space.tasks.values()], pick(step, 2))
  if (id === undefined) return
  const answer = await session.read(step, 'GET /research-tasks/{id}', { path: { id } })
  if (answer.kind === 'refused') expectRefusal(context, space, answer)
}

/** Every acknowledged task exists once and ends; a completed one has its report. */
export async function checkResearch(context: Context, space: SpaceModel): Promise<void> {
  const { session, step } = context
  const since = performance.now()
  let last = ''
  for (let moved = since; ; await sleep(POLL_MS)) {
    const answer = await session.read(step, 'GET /research-tasks', {
      query: { knowledgeSpaceId: space.id, limit: 100 },
    })
    if (answer.kind === 'refused') return diverge(context, 'the research tasks', describe(answer))
    const { items } = answer.value
    const state = JSON.stringify(items)
    if (state !== last) moved = performance.now()
    last = state
    const open = items.filter(({ stage }) => !ENDED.includes(stage))
    if (open.length > 0 && performance.now() - moved < session.world.stuckMs) continue
    for (const { id, stage } of open) diverge(context, `the research task ${id} to end`, stage)
    return await compare(context, space, items)
  }
}

async function compare(context: Context, space: SpaceModel, items: { id: string; query: string; stage: string }[]) {
  const { session, step } = context
  for (const [query, id] of space.tasks) {
    const made = items.filter((item) => item.query === query)
    if (made.length > 1) diverge(context, `${query} once`, `${made.length} research tasks`)
    if (id !== undefined && made[0]?.id !== id) diverge(context, `the research task ${id}`, `${made[0]?.id}`)
  }
  for (const { query } of items) if (!space.tasks.has(query)) diverge(context, 'only tasks that were started', query)
  for (const { id, stage } of items) {
    if (stage !== 'completed') continue
    const report = await session.read(step, 'GET /research-tasks/{id}/report', { path: { id } })
    // A report that cites a deleted document is hidden.
    if (report.kind === 'refused' && report.status !== 404) diverge(context, `the report of ${id}`, describe(report))
  }
}

export const researchOperations = { startResearch, readResearch }
