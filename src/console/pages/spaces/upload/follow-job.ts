import { call, RequestError } from '../../../api/client.js'

/** @param reason of a failure, else undefined */
type OnJobEnd = (reason: string | undefined) => void

const POLL_MS = 1_500
/** Maximum number of jobs that are read individually per poll. */
const MAX_READS_PER_POLL = 20
/** Maximum number of open jobs in the list; further ones are read individually. */
const LIST_LIMIT = 1_000

/** by id of the job */
const followedJobs = new Map<string, { spaceId: string; onEnd: OnJobEnd }>()
let isPolling = false

/** Calls a function when a job has ended. */
export function followJob(spaceId: string, jobId: string, onEnd: OnJobEnd): void {
  followedJobs.set(jobId, { spaceId, onEnd })
  if (isPolling) return
  isPolling = true
  setTimeout(poll, POLL_MS)
}

/** Polls all followed jobs. One request lists the open jobs of a space; only the others are read individually. */
async function poll(): Promise<void> {
  for (const spaceId of new Set([...followedJobs.values()].map((job) => job.spaceId))) {
    const jobIds = [...followedJobs].flatMap(([id, job]) => (job.spaceId === spaceId ? [id] : []))
    const isSpaceMissing = await isMissing(async () => {
      const { items } = await call('GET /knowledge-spaces/{id}/jobs', {
        path: { id: spaceId },
        query: { state: 'open', limit: LIST_LIMIT },
      })
      const openIds = new Set(items.map(({ id }) => id))
      for (const id of jobIds.filter((id) => !openIds.has(id)).slice(0, MAX_READS_PER_POLL)) await checkJob(id)
    })
    if (isSpaceMissing) for (const id of jobIds) reportEnd(id, 'its space was deleted')
  }
  isPolling = followedJobs.size > 0
  if (isPolling) setTimeout(poll, POLL_MS)
}

async function checkJob(id: string): Promise<void> {
  const isJobMissing = await isMissing(async () => {
    const { stage, error } = await call('GET /jobs/{id}', { path: { id } })
    if (stage === 'published') reportEnd(id, undefined)
    else if (stage === 'canceled') reportEnd(id, error ?? 'it was canceled')
    else if (stage === 'failed') reportEnd(id, error ?? 'it could not be read')
  })
  if (isJobMissing) reportEnd(id, 'it was deleted')
}

/** Whether the daemon answers that the item does not exist. The next poll retries after any other failure. */
async function isMissing(request: () => Promise<void>): Promise<boolean> {
  try {
    await request()
    return false
  } catch (error) {
    return error instanceof RequestError && error.status === 404
  }
}

function reportEnd(id: string, reason: string | undefined): void {
  const job = followedJobs.get(id)
  followedJobs.delete(id)
  job?.onEnd(reason)
}
