import { KsError } from '../../contract/errors.js'
import type {
  CreateResearchBody,
  PlanResearchBody,
  ResearchPartialResult,
  ResearchReport,
  ResearchStage,
  ResearchTaskDryRunPlan,
  ResearchTaskJob,
} from '../../contract/gateway/research.js'
import type { Caller } from '../base/caller.js'
import type { Page, PageRequest } from '../base/page.js'
import type { EngineContext } from '../context.js'
import type { QueryShared } from '../query/stages.js'
import { isTerminal } from '../rows/research/stages.js'
import { findTask, moveTask } from '../rows/research/tasks.js'
import { writeReply } from '../storage/write-reply.js'
import { createTask, planTask } from './create.js'
import { followEvents, type ResearchEventFrame } from './events.js'
import { listPartials, listTasks, loadJob, readReport } from './read.js'
import { ResearchRunner } from './runner.js'

/** Research tasks, as callers use them. A task belongs to its creator; other callers get `not-found`. */
export interface ResearchOperations {
  /** @throws KsError `not-found`, `profile-mode-mismatch`, `unavailable` */
  plan(caller: Caller, body: PlanResearchBody): Promise<ResearchTaskDryRunPlan>
  /** @throws KsError the same, `research-limits-exceeded`, `capacity-exceeded`, `quota-exceeded` */
  create(caller: Caller, body: CreateResearchBody): Promise<ResearchTaskJob>
  /** Newest first. @throws KsError `not-found` for a missing space, `invalid-cursor` */
  list(
    caller: Caller,
    query: PageRequest & { knowledgeSpaceId?: string | undefined; stage?: ResearchStage | undefined },
  ): Promise<Page<ResearchTaskJob>>
  get(caller: Caller, id: string): Promise<ResearchTaskJob>
  partials(caller: Caller, id: string, page: PageRequest): Promise<Page<ResearchPartialResult>>
  /** Stored events, then live ones. Resolves once the task is found. @throws KsError `not-found`, `invalid-cursor` */
  events(caller: Caller, id: string, page: PageRequest, signal: AbortSignal): Promise<AsyncIterable<ResearchEventFrame>>
  /** @throws KsError `not-found` before the task is completed, and when a document it cites was deleted */
  report(caller: Caller, id: string): Promise<ResearchReport>
  /** @throws KsError `already-terminal` */
  cancel(caller: Caller, id: string): Promise<ResearchTaskJob>
}

export function createResearch(
  context: EngineContext,
  shared: QueryShared,
): { operations: ResearchOperations; runner: ResearchRunner } {
  const { db, now } = context
  const runner = new ResearchRunner(context, shared)
  const operations: ResearchOperations = {
    plan: (caller, body) => planTask(context, caller, body),
    async create(caller, body) {
      const task = await createTask(context, caller, body)
      runner.wake()
      return task
    },
    list: (caller, query) => db.read(listTasks(caller, query)),
    get: (caller, id) => db.read(loadJob(caller, id)),
    partials: (caller, id, page) => db.read(listPartials(caller, id, page)),
    events: (caller, id, page, signal) => followEvents(context, runner, caller, id, page, signal),
    report: (caller, id) => db.read(readReport(caller, id)),
    async cancel(caller, id) {
      const task = await writeReply(db, caller, function* () {
        const row = yield* findTask(caller, id)
        if (isTerminal(row.stage) || !(yield* moveTask(row, { from: row.stage, to: 'canceled', now: now() })))
          throw new KsError('already-terminal', `research task ${row.id} has already ended as ${row.stage}`)
        return yield* loadJob(caller, id)
      })
      runner.noteEnded(task.id)
      return task
    },
  }
  return { operations, runner }
}
