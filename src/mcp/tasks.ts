import { setTimeout as sleep } from 'node:timers/promises'
import type { CallToolResult, CreateTaskResult, ServerContext, Task } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { ResearchTaskJob } from '../contract/gateway/research.js'
import { describeIssue } from '../contract/issues.js'
import { LIMITS } from '../contract/limits.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { TOKEN_LIMITS } from './budget.js'
import { ToolError } from './failure.js'
import type { SessionAccess } from './spaces.js'
import { readStatus, startResearch, toTaskResult } from './tools/research.js'

/**
 * Research as a task of the protocol (2025-11-25): a client may request one and follow it with `tasks/get`,
 * `tasks/result`, `tasks/cancel` and `tasks/list`. The task is that of the service under the same id, so it outlives
 * the session.
 */
const POLL_MS = 1000
const TASKS_PER_PAGE = 50

const taskParams = z.looseObject({ taskId: z.string() })
const listParams = z.looseObject({ cursor: z.string().max(LIMITS.cursor).optional() })

export async function startTask(args: unknown, access: SessionAccess): Promise<CreateTaskResult> {
  return { task: toTask(await startResearch(access, args)) }
}

type TaskMethod = (params: unknown, access: SessionAccess, context: ServerContext) => Promise<Record<string, unknown>>

/** Makes a method of the protocol that validates its parameters. It throws a ToolError for invalid ones. */
function defineMethod<P>(
  schema: z.ZodType<P>,
  run: (params: P, ...contexts: [SessionAccess, ServerContext]) => ReturnType<TaskMethod>,
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
  'tasks/get': defineMethod(taskParams, async ({ taskId }, access) => ({
    ...toTask(await getVisibleJob(taskId, access)),
  })),
  'tasks/list': defineMethod(listParams, async ({ cursor }, { api, spaces }) => {
    const query = { limit: TASKS_PER_PAGE, ...omitUndefined({ cursor }) }
    const { items, nextCursor } = await api.request('GET /research-tasks', { query })
    const visibleIds = new Set((await spaces.list()).map(({ id }) => id))
    const tasks = items.filter(({ knowledgeSpaceId }) => visibleIds.has(knowledgeSpaceId)).map(toTask)
    return { tasks, ...omitUndefined({ nextCursor }) }
  }),
  'tasks/cancel': defineMethod(taskParams, async ({ taskId }, access) => {
    await getVisibleJob(taskId, access)
    return { ...toTask(await access.api.request('DELETE /research-tasks/{id}', { path: { id: taskId } })) }
  }),
  'tasks/result': defineMethod(taskParams, async ({ taskId }, access, { mcpReq }) => {
    const result = await waitForResult(taskId, access, mcpReq.signal)
    return { ...result, _meta: { 'io.modelcontextprotocol/related-task': { taskId } } }
  }),
}

/** Waits for the end of a task, as the protocol requires. */
async function waitForResult(taskId: string, access: SessionAccess, signal: AbortSignal): Promise<CallToolResult> {
  for (;;) {
    const status = await readStatus(access, taskId, { offset: 0, maxTokens: TOKEN_LIMITS.max })
    // The report is stored a moment after its task is completed.
    if (status.hasEnded && (status.stage !== 'completed' || status.report !== undefined)) return toTaskResult(status)
    await sleep(POLL_MS, undefined, { signal })
  }
}

async function getVisibleJob(id: string, { api, spaces }: SessionAccess): Promise<ResearchTaskJob> {
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
