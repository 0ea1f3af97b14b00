import { call } from '../../../api/client.js'

type Ended = (reason: string | undefined) => void

const LOOK_MS = 1_500
/** Jobs that are read individually per poll. */
const MOST_ASKED = 20
const LIST = 1_000

const open = new Map<string, { spaceId: string; onEnd: Ended }>()
let isLooking = false

/** Waits for the end of a job. @param onEnd called with the reason of a failure, else undefined */
export function followJob(spaceId: string, jobId: string, onEnd: Ended): void {
  open.set(jobId, { spaceId, onEnd })
  if (isLooking) return
  isLooking = true
  setTimeout(look, LOOK_MS)
}

/**
 * Polls all followed jobs. One list tells which jobs of a space are still open; only the others are read individually.
 */
async function look(): Promise<void> {
  for (const spaceId of new Set([...open.values()].map((job) => job.spaceId))) {
    try {
      const { items } = await call('GET /knowledge-spaces/{id}/jobs', {
        path: { id: spaceId },
        query: { state: 'open', limit: LIST },
      })
      const stillOpen = new Set(items.map(({ id }) => id))
      const gone = [...open].filter(([id, job]) => job.spaceId === spaceId && !stillOpen.has(id))
      for (const [id] of gone.slice(0, MOST_ASKED)) await ask(id)
    } catch {
      // the daemon is unreachable: the next poll retries
    }
  }
  isLooking = open.size > 0
  if (isLooking) setTimeout(look, LOOK_MS)
}

async function ask(id: string): Promise<void> {
  const job = await call('GET /jobs/{id}', { path: { id } })
  if (job.stage !== 'published' && job.stage !== 'failed' && job.stage !== 'canceled') return
  const waiting = open.get(id)
  open.delete(id)
  if (job.stage === 'published') waiting?.onEnd(undefined)
  else waiting?.onEnd(job.error ?? (job.stage === 'canceled' ? 'it was canceled' : 'it could not be read'))
}
