import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.js'

const QUIET_MS = 3000
const LIMIT_MS = 600_000
const POLL_MS = 250

/**
 * Waits until nothing has gone on for a while: no jobs, models are trained, vector graphs built, documents read for the
 * graph. What is asked before that is answered by what there is.
 *
 * @param quietMs how long nothing may go on
 */
export async function untilSettled(client: Client, quietMs = QUIET_MS, limitMs = LIMIT_MS): Promise<void> {
  const end = performance.now() + limitMs
  for (let quietSince: number | undefined; ; await sleep(POLL_MS)) {
    const { activity } = await client.request('GET /daemon/status', {})
    const tasks = activity.activeJobs + activity.waitingJobs + (activity.backgroundTasks ?? 0)
    const now = performance.now()
    quietSince = tasks === 0 ? (quietSince ?? now) : undefined
    if (quietSince !== undefined && now - quietSince >= quietMs) return
    if (now > end) throw new Error('the daemon did not come to rest in time')
  }
}
