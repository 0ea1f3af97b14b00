import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../../bench/lib/daemon.js'
import type { Fault } from '../helpers/fake-openai.js'
import { until } from '../helpers/until.js'
import type { PlannedFault } from './schedule.js'
import type { World } from './world.js'

const PAUSE_MS = 400
const CHILDREN_END_MS = 60_000
const OUTAGE_MS = 2000
/** between the earliest and the latest time of the clock */
const CLOCK_MS = 2 * 3_600_000
/** faults of the models during the disturbance */
const OUTAGES: Fault[] = [{ kind: 'status', status: 503 }, { kind: 'reset' }, { kind: 'status', status: 429 }]

/** Applies one fault to the daemon, and resolves when the daemon is available again. */
export async function doFault(world: World, fault: PlannedFault): Promise<void> {
  switch (fault.kind) {
    case 'kill':
      return world.restart('kill')
    case 'term':
      return world.restart('stop')
    case 'drop-indexes': {
      // The index process ends a moment after the daemon, and writes until then.
      const children = childrenOf(world.pid)
      return world.restart('kill', async () => {
        await until(() => children.every((pid) => !isAlive(pid)), CHILDREN_END_MS)
        world.dropIndexes()
      })
    }
    case 'pause':
      process.kill(world.pid, 'SIGSTOP')
      await sleep(PAUSE_MS * fault.pick)
      process.kill(world.pid, 'SIGCONT')
      return
    case 'kill-index':
      return killChild(world.pid, /index-child/)
    case 'kill-reader':
      return killChild(world.pid, /parse\/child/)
    case 'outage':
      return world.outage(OUTAGES[fault.after % OUTAGES.length] ?? { kind: 'reset' }, () =>
        sleep(OUTAGE_MS * fault.pick),
      )
    case 'clock':
      return world.moveClock(Math.round((fault.pick - 0.5) * CLOCK_MS))
    case 'full-disk':
      return world.trouble(async () => world.disk?.full(async () => sleep(PAUSE_MS * fault.pick)))
  }
}

/** Ends a child process of the daemon, if there is one. */
function killChild(parent: number, command: RegExp): void {
  for (const pid of childrenOf(parent)) {
    try {
      if (command.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))) process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // After the name, which may contain spaces: state, then the parent.
        return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1]) === parent
      } catch {
        return false
      }
    })
}
