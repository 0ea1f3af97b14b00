import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { seededRandom } from '../crash/random.js'
import { integrityOf } from './rig/checks.js'
import { faultSeed, rounds } from './rig/rounds.js'
import { faultShim, type Rule, shimTrouble } from './rig/shim.js'
import { spread, steps } from './rig/sweep.js'

const seed = faultSeed()
const random = seededRandom(seed)
const ROUND_MS = 60_000

const homes: { remove(): void }[] = []
let daemon: BenchDaemon | undefined

afterEach(async () => {
  await daemon?.kill()
  daemon = undefined
  for (const home of homes.splice(0)) home.remove()
})

/** Starts a daemon that a rule kills, and then one without the rule. @returns the recorded steps */
async function startTwice(dataDir: string, rule: Rule): Promise<string[]> {
  const shim = faultShim(dataDir)
  shim.setRules(rule)
  // It dies before it is ready, or becomes ready because the step did not occur.
  daemon = await startDaemon(dataDir, shim.env).catch(() => undefined)
  await daemon?.kill()
  const hits = shim.hits()
  shim.remove()
  daemon = await startDaemon(dataDir).catch((error: unknown) => {
    throw new Error(`after ${hits.join()}, seed ${seed}: ${String(error)}`)
  })
  return hits
}

function emptyDir(name: string): string {
  const home = temporaryFolder(name)
  homes.push(home)
  const dataDir = join(home.path, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  return dataDir
}

const FIRST_KILLS = rounds(6)
test.skipIf(shimTrouble !== undefined)(
  'F04: after a first start that is killed at any step, the next start succeeds',
  { timeout: 60_000 + FIRST_KILLS * ROUND_MS },
  async () => {
    const noted = await startTwice(emptyDir('kill-start'), { on: 'change', effect: 'note' })
    await daemon?.kill()
    const places = spread(steps(noted), FIRST_KILLS, random)
    for (const skip of places) {
      const dataDir = emptyDir('kill-start')
      await startTwice(dataDir, { on: 'change', effect: 'kill', skip, count: 1 })
      const { id } = await daemon!.client.request('POST /knowledge-spaces', { body: { name: 'First', slug: 'first' } })
      expect(id).toBeTypeOf('string')
      await daemon!.stop()
      expect(integrityOf(join(dataDir, 'db', 'main.sqlite')), `killed at step ${skip}, seed ${seed}`).toBe('ok')
    }
    process.stdout.write(
      `FIGURE kill-in-first-start ${JSON.stringify({ seed, kills: places.length, steps: noted.length, failedToOpen: 0 })}\n`,
    )
  },
)
