import { call } from '../../../api/client.js'

type OnJobEnd = (reason: string | undefined) => void

const POLL_MS = 1_500
/** Jobs that are read individually per poll. */
const MAX_READS_PER_POLL = 20
const LIST_LIMIT = 1_000

const followedJobs = new Map<string, { spaceId: string; onEnd: OnJobEnd }>()
let isPolling = false

/** Waits for the end of a job. @param onEnd called with the reason of a failure, else undefined */
export function followJob(spaceId: string, jobId: string, onEnd: OnJobEnd): void {
  followedJobs.set(jobId, { spaceId, onEnd })
  if (isPolling) return
  isPolling = true
  setTimeout(poll, POLL_MS)
}

/**
 * Polls all followed jobs. One list tells which jobs of a space are still open; only the others are read individually.
 */
async function poll(): Promise<void> {
  for (const spaceId of new Set([...followedJobs.values()].map((job) => job.spaceId))) {
    try {
      const { items } = await call('GET /knowledge-spaces/{id}/jobs', {
        path: { id: spaceId },
        query: { state: 'open', limit: LIST_LIMIT },
      })
      const stillOpen = new Set(items.map(({ id }) => id))
      const closed = [...followedJobs].filter(([id, job]) => job.spaceId === spaceId && !stillOpen.has(id))
      for (const [id] of closed.slice(0, MAX_READS_PER_POLL)) await reportEnd(id)
    } catch {
      // the daemon is unreachable: the next poll retries
    }
  }
  isPolling = followedJobs.size > 0
  if (isPolling) setTimeout(poll, POLL_MS)
}

async function reportEnd(id: string): Promise<void> {
  const job = await call('GET /jobs/{id}', { path: { id } })
  if (job.stage !== 'published' && job.stage !== 'failed' && job.stage !== 'canceled') return
  const followed = followedJobs.get(id)
  followedJobs.delete(id)
  if (job.stage === 'published') followed?.onEnd(undefined)
  else followed?.onEnd(job.error ?? (job.stage === 'canceled' ? 'it was canceled' : 'it could not be read'))
}
