import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../../client/errors.js'
import type { DocumentCompilationJob } from '../../contract/gateway/jobs.js'
import { isRecord } from '../../lib/json/values.js'
import { POLL_BACKOFF } from '../wait.js'
import type { IngestService } from './recovering-service.js'

/** A document whose compilation is running. */
export interface PendingDocument {
  /** Index of its file in the ingest. */
  index: number
  documentId: string
  jobId: string
  bulkJobId?: string
}

/** `skipped`: the file is empty, or of a type that is not read. */
export type CompilationOutcome = { status: 'published' } | { status: 'failed' | 'skipped'; reason: string }

export interface FollowJobsOptions {
  client: Pick<IngestService, 'request'>
  signal: AbortSignal
  /** Called once for each document that has ended. */
  onEnded: (index: number, outcome: CompilationOutcome) => void
  /** Called with the number of documents that have ended without a call of `onEnded` so far. */
  onProgress: (endedCount: number) => void
  /** Called after each round of requests, before the delay. */
  onRound?: () => Promise<void>
}

/** Error codes of files that contain nothing to read. */
const SKIPPED_CODES = ['empty', 'unsupported-type']

/** Maximum number of jobs requested in one round; jobs run in order, so later ones can wait. */
const MAX_REQUESTS_PER_ROUND = 4

/**
 * Follows compilations to their end with few requests: one for each bulk job, the oldest first, with a backoff while
 * nothing changes.
 */
export async function followJobs(documents: readonly PendingDocument[], options: FollowJobsOptions): Promise<void> {
  let groups = groupByJob(documents)
  let delayMs: number = POLL_BACKOFF.firstMs
  const endedCounts = new Map<JobGroup, number>()
  while (groups.length > 0) {
    let hasChanged = false
    for (const group of groups.slice(0, MAX_REQUESTS_PER_ROUND)) {
      const endedCount = await checkGroup(group, options)
      hasChanged ||= endedCount !== (endedCounts.get(group) ?? 0)
      endedCounts.set(group, endedCount)
      if (endedCount < group.documents.length) continue
      endedCounts.delete(group)
      groups = groups.filter((other) => other !== group)
    }
    options.onProgress([...endedCounts.values()].reduce((sum, count) => sum + count, 0))
    if (groups.length === 0) return
    await options.onRound?.()
    delayMs = hasChanged ? POLL_BACKOFF.firstMs : Math.min(POLL_BACKOFF.maxMs, delayMs * POLL_BACKOFF.factor)
    await sleep(delayMs, undefined, { signal: options.signal })
  }
}

/** Documents covered by one request: those of a bulk job, or a single document. */
interface JobGroup {
  bulkJobId: string | undefined
  documents: PendingDocument[]
}

function groupByJob(documents: readonly PendingDocument[]): JobGroup[] {
  const groups = new Map<string, JobGroup>()
  for (const document of documents) {
    const key = document.bulkJobId ?? document.jobId
    const group = groups.get(key) ?? { bulkJobId: document.bulkJobId, documents: [] }
    group.documents.push(document)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** @returns how many documents of the group have ended */
async function checkGroup(group: JobGroup, options: FollowJobsOptions): Promise<number> {
  const { client } = options
  const [first] = group.documents
  if (group.bulkJobId === undefined && first !== undefined) {
    const job = await client.request('GET /jobs/{id}', { path: { id: first.jobId } })
    if (job.stage === 'published') options.onEnded(first.index, { status: 'published' })
    else if (job.stage === 'failed' || job.stage === 'canceled')
      options.onEnded(first.index, await toFailedOutcome(client, job))
    else return 0
    return 1
  }
  const bulk = await client.request('GET /bulk-jobs/{id}', { path: { id: group.bulkJobId ?? '' } })
  if (bulk.status === 'running') return Math.min(group.documents.length - 1, bulk.completedItems + bulk.failedItems)
  const failed = new Set(bulk.failedItemIds)
  for (const document of group.documents) {
    if (!failed.has(document.documentId)) {
      options.onEnded(document.index, { status: 'published' })
    } else {
      const job = await client.request('GET /jobs/{id}', { path: { id: document.jobId } })
      options.onEnded(document.index, await toFailedOutcome(client, job))
    }
  }
  return group.documents.length
}

async function toFailedOutcome(
  client: FollowJobsOptions['client'],
  job: DocumentCompilationJob,
): Promise<CompilationOutcome> {
  const reason = job.error ?? (job.stage === 'canceled' ? 'reading it was canceled' : 'it could not be read')
  const path = { id: job.knowledgeSpaceId, documentId: job.documentAssetId }
  return { status: await getFailedStatus(client, path), reason }
}

/** `skipped` if the compilation of a document failed since its file is empty or of an unknown type. */
export async function getFailedStatus(
  client: FollowJobsOptions['client'],
  path: { id: string; documentId: string },
): Promise<'failed' | 'skipped'> {
  try {
    const { metadata } = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', { path })
    const { error } = metadata
    return isRecord(error) && SKIPPED_CODES.some((code) => error.code === code) ? 'skipped' : 'failed'
  } catch (error) {
    // It was deleted meanwhile.
    if (error instanceof ApiError && error.status === 404) return 'failed'
    throw error
  }
}
