import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../client/client.js'
import { ApiError } from '../client/errors.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { formatCount } from '../lib/text/pluralize.js'
import type { WatchedJob } from './json-output/quality.js'
import { findReadingProgress } from './reading.js'
import { POLL_BACKOFF } from './wait.js'

const ENDED_STAGES = new Set(['published', 'failed', 'canceled'])

/** Loads a job by id: a compilation job, else a bulk job. */
async function loadJob(client: Client, id: string, kind?: WatchedJob['kind']): Promise<WatchedJob> {
  if (kind !== 'bulk') {
    try {
      const job = await client.request('GET /jobs/{id}', { path: { id } })
      const reading = job.stage === 'queued' ? await findReadingProgress(client, job) : undefined
      const base: WatchedJob = { id, kind: 'document', state: job.stage, ended: ENDED_STAGES.has(job.stage) }
      return { ...base, ...omitUndefined({ error: job.error, reading }) }
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404 || kind === 'document') throw error
    }
  }
  const bulk = await client.request('GET /bulk-jobs/{id}', { path: { id } })
  const { totalItems: total, completedItems: completed, failedItems: failed } = bulk
  return { id, kind: 'bulk', state: bulk.status, ended: bulk.status !== 'running', total, completed, failed }
}

/** Loads a bulk job; undefined if the id is that of another job. */
export async function loadBulkJob(client: Client, id: string) {
  try {
    return await client.request('GET /bulk-jobs/{id}', { path: { id } })
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

export function hasFailed(job: WatchedJob): boolean {
  return job.state === 'failed' || job.state === 'canceled' || (job.failed ?? 0) > 0
}

/** Yields every job at the start and after each change, until all have ended. */
export async function* watchJobs(client: Client, ids: string[], signal?: AbortSignal): AsyncGenerator<WatchedJob> {
  const jobsById = new Map<string, WatchedJob>()
  let openIds = [...new Set(ids)]
  let delayMs: number = POLL_BACKOFF.firstMs
  while (openIds.length > 0) {
    let hasChanged = false
    for (const id of openIds) {
      const previous = jobsById.get(id)
      const job = await loadJob(client, id, previous?.kind)
      jobsById.set(id, job)
      if (previous !== undefined && toProgressKey(previous) === toProgressKey(job)) continue
      hasChanged = true
      yield job
    }
    openIds = openIds.filter((id) => jobsById.get(id)?.ended !== true)
    if (openIds.length === 0) return
    delayMs = hasChanged ? POLL_BACKOFF.firstMs : Math.min(POLL_BACKOFF.maxMs, delayMs * POLL_BACKOFF.factor)
    await sleep(delayMs, undefined, signal === undefined ? {} : { signal })
  }
}

function toProgressKey(job: WatchedJob): string {
  return `${job.state} ${job.completed ?? ''} ${job.failed ?? ''} ${job.reading ?? ''}`
}

/** `#a1b2c3d4 queued, page 120 of 872`, `#a1b2c3d4 projection_built`, `#0c0ffee0 running 3 of 14, 1 failed` */
export function formatJob(job: WatchedJob, idText: string): string {
  const counts = job.total === undefined ? '' : ` ${formatCount(job.completed ?? 0)} of ${formatCount(job.total)}`
  const failed = (job.failed ?? 0) > 0 ? `, ${formatCount(job.failed ?? 0)} failed` : ''
  const reading = job.reading === undefined ? '' : `, ${job.reading}`
  const error = job.error === undefined ? '' : `: ${job.error}`
  return `${idText} ${job.state}${counts}${failed}${reading}${error}`
}
