import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.js'

const QUIET_MS = 3000
const TIMEOUT_MS = 600_000
const POLL_MS = 250

/** Waits until the daemon has had no jobs and no background tasks (training, vector graphs, graph claims) for `quietMs`. */
export async function waitUntilSettled(client: Client, quietMs = QUIET_MS, timeoutMs = TIMEOUT_MS): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (let quietSince: number | undefined; ; await sleep(POLL_MS)) {
    const { activity } = await client.request('GET /daemon/status', {})
    const tasks = activity.activeJobs + activity.waitingJobs + (activity.backgroundTasks ?? 0)
    const now = performance.now()
    quietSince = tasks === 0 ? (quietSince ?? now) : undefined
    if (quietSince !== undefined && now - quietSince >= quietMs) return
    if (now > deadline) throw new Error('the daemon did not become idle in time')
  }
}
