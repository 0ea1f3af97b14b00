import { KsError } from '../../../contract/errors.js'
import type { CreateResearchBody } from '../../../contract/gateway/research.js'
import type { Caller } from '../../base/caller.js'
import type { PageRequest } from '../../base/page.js'
import type { RetrievalServices } from '../../retrieval/index.js'
import { bind, bindRead } from '../../store/bind-operation.js'
import { isTerminal } from '../../store/rows/research/stages.js'
import { findTask, moveTask } from '../../store/rows/research/tasks.js'
import { writeReply } from '../../store/write-reply.js'
import { createTask, planTask } from './create.js'
import { followEvents } from './events.js'
import { listPartials, listTasks, loadJob, readReport } from './read.js'
import { ResearchRunner } from './runner.js'

export type ResearchService = ReturnType<typeof createResearch>

/** Research tasks, as callers use them. A task belongs to its creator; other callers get `not-found`. */
export function createResearch(services: RetrievalServices) {
  const { context } = services
  const { db, now } = context
  const runner = new ResearchRunner(services)
  const operations = {
    plan: bind(planTask, context),
    create: bind(async (caller: Caller, body: CreateResearchBody) => {
      const task = await createTask(context, caller, body)
      runner.wake()
      return task
    }),
    list: bindRead(db, listTasks),
    get: bindRead(db, loadJob),
    partials: bindRead(db, listPartials),
    events: bind((caller: Caller, id: string, page: PageRequest, signal: AbortSignal) =>
      followEvents(context, runner, { caller, id, ...page }, signal),
    ),
    report: bindRead(db, readReport),
    /** @throws KsError `already-terminal` */
    cancel: bind(async (caller: Caller, id: string) => {
      const task = await writeReply(db, caller, function* () {
        const row = yield* findTask(caller, id)
        if (isTerminal(row.stage) || !(yield* moveTask(row, { from: row.stage, to: 'canceled', now: now() })))
          throw new KsError('already-terminal', `research task ${row.id} has already ended as ${row.stage}`)
        return yield* loadJob(caller, id)
      })
      runner.noteEnded(task.id)
      return task
    }),
  }
  return { operations, runner }
}
