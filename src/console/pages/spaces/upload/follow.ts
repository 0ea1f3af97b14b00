import { call } from '../../../api/client.js'

type Ended = (reason: string | undefined) => void

const LOOK_MS = 1_500
/** jobs that are looked at one by one in a round */
const MOST_ASKED = 20
const LIST = 1_000

const open = new Map<string, { spaceId: string; onEnd: Ended }>()
let isLooking = false

/** Waits for the end of a job. @param onEnd told why it failed, or nothing */
export function followJob(spaceId: string, jobId: string, onEnd: Ended): void {
  open.set(jobId, { spaceId, onEnd })
  if (isLooking) return
  isLooking = true
  setTimeout(look, LOOK_MS)
}

/** One list says of all jobs of a space whether they are open; only those that are not are asked for. */
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
      // the daemon is away: it is asked again
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
