import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.js'

const QUIET_MS = 3000
const LIMIT_MS = 600_000
const POLL_MS = 500

/**
 * Waits until nothing has gone on behind for three seconds: models are trained, vector graphs built, documents read for
 * the graph. What is asked before that is answered by what there is.
 */
export async function untilSettled(client: Client): Promise<void> {
  const started = performance.now()
  for (let quiet = 0; quiet < QUIET_MS; await sleep(POLL_MS)) {
    if (performance.now() - started > LIMIT_MS) throw new Error('the indexes did not settle in time')
    const { activity } = await client.request('GET /daemon/status', {})
    quiet = activity.backgroundTasks === 0 ? quiet + POLL_MS : 0
  }
}
