import { setTimeout as sleep } from 'node:timers/promises'
import type { CallToolResult, CreateTaskResult, ServerContext, Task } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { ResearchTaskJob } from '../contract/gateway/research.js'
import { describeIssue } from '../contract/issues.js'
import { LIMITS } from '../contract/limits.js'
import type { GatewayApi } from './api.js'
import { TOKEN_LIMITS } from './budget.js'
import { ToolError } from './failure.js'
import type { SpaceDirectory } from './spaces.js'
import { readStatus, startResearch, toTaskResult } from './tools/research.js'

/**
 * Research as a task of the protocol (2025-11-25): a client may request one and follow it with `tasks/get`,
 * `tasks/result`, `tasks/cancel` and `tasks/list`. The task is that of the service under the same id, so it outlives
 * the session.
 */
const POLL_MS = 1000
const TASKS_PER_PAGE = 50

export interface TaskContext {
  api: GatewayApi
  spaces: SpaceDirectory
}

const taskParams = z.looseObject({ taskId: z.string() })
const listParams = z.looseObject({ cursor: z.string().max(LIMITS.cursor).optional() })

export async function startTask(args: unknown, { api, spaces }: TaskContext): Promise<CreateTaskResult> {
  const job = await startResearch(api, spaces, args)
  return { task: toTask(job) }
}

type TaskMethod = (params: unknown, call: TaskContext, context: ServerContext) => Promise<Record<string, unknown>>

/** Makes a method of the protocol that validates its parameters. It throws a ToolError for invalid ones. */
function defineMethod<P>(
  schema: z.ZodType<P>,
  run: (params: P, ...contexts: [TaskContext, ServerContext]) => ReturnType<TaskMethod>,
): TaskMethod {
  return (params, ...contexts) => {
    const { success, data, error } = schema.safeParse(params)
    if (success) return run(data, ...contexts)
    throw new ToolError(
      'invalid-request',
      describeIssue(error, schema, params, 'the parameters'),
      'Correct the parameters.',
    )
  }
}

export const taskMethods = {
  'tasks/get': defineMethod(taskParams, async ({ taskId }, call) => ({ ...toTask(await getVisibleJob(taskId, call)) })),
  'tasks/list': defineMethod(listParams, async ({ cursor }, { api, spaces }) => {
    const query = { limit: TASKS_PER_PAGE, ...(cursor === undefined ? {} : { cursor }) }
    const { items, nextCursor } = await api.request('GET /research-tasks', { query })
    const visibleIds = new Set((await spaces.list()).map(({ id }) => id))
    const tasks = items.filter(({ knowledgeSpaceId }) => visibleIds.has(knowledgeSpaceId)).map(toTask)
    return { tasks, ...(nextCursor === undefined ? {} : { nextCursor }) }
  }),
  'tasks/cancel': defineMethod(taskParams, async ({ taskId }, call) => {
    await getVisibleJob(taskId, call)
    return { ...toTask(await call.api.request('DELETE /research-tasks/{id}', { path: { id: taskId } })) }
  }),
  'tasks/result': defineMethod(taskParams, async ({ taskId }, call, { mcpReq }) => {
    const result = await waitForResult(taskId, call, mcpReq.signal)
    return { ...result, _meta: { 'io.modelcontextprotocol/related-task': { taskId } } }
  }),
}

/** Waits for the end of a task, as the protocol requires. */
async function waitForResult(
  taskId: string,
  { api, spaces }: TaskContext,
  signal: AbortSignal,
): Promise<CallToolResult> {
  for (;;) {
    const status = await readStatus(api, spaces, taskId, { offset: 0, maxTokens: TOKEN_LIMITS.max })
    // The report is stored a moment after its task is completed.
    if (status.hasEnded && (status.stage !== 'completed' || status.report !== undefined)) return toTaskResult(status)
    await sleep(POLL_MS, undefined, { signal })
  }
}

async function getVisibleJob(id: string, { api, spaces }: TaskContext): Promise<ResearchTaskJob> {
  const job = await api.request('GET /research-tasks/{id}', { path: { id } })
  await spaces.resolve(job.knowledgeSpaceId)
  return job
}

function toTask({ id, stage, createdAt, updatedAt, error }: ResearchTaskJob): Task {
  return {
    taskId: id,
    status: stage === 'completed' || stage === 'failed' ? stage : stage === 'canceled' ? 'cancelled' : 'working',
    statusMessage: error ?? stage,
    // Stored as long as the service stores research.
    ttl: null,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    pollInterval: POLL_MS,
  }
}
