import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { MIGRATIONS } from '../../src/engine/storage/schema.js'
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

const UPGRADE_KILLS = rounds(4)
test.skipIf(shimTrouble !== undefined)(
  'F04: after a schema upgrade that is killed before or after any sync, the next start completes it without losing a row',
  { timeout: 60_000 + UPGRADE_KILLS * ROUND_MS },
  async () => {
    for (let round = 0; round < UPGRADE_KILLS; round++) {
      const dataDir = emptyDir('kill-upgrade')
      daemon = await startDaemon(dataDir)
      const { id } = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Old', slug: 'old' } })
      await daemon.stop()
      downgrade(dataDir)
      const skip = Math.floor(random() * (MIGRATIONS.length + 4))
      await startTwice(dataDir, {
        on: 'fsync',
        effect: round % 2 === 0 ? 'kill' : 'kill-after',
        skip,
        count: 1,
        path: '/db/',
      })
      const { items } = await daemon.client.request('GET /knowledge-spaces', { query: {} })
      expect(
        items.map((space) => space.id),
        `killed at sync ${skip}, seed ${seed}`,
      ).toEqual([id])
      await daemon.stop()
      expect(integrityOf(join(dataDir, 'db', 'main.sqlite'))).toBe('ok')
    }
    process.stdout.write(
      `FIGURE kill-in-migration ${JSON.stringify({ seed, kills: UPGRADE_KILLS, migrations: MIGRATIONS.length - 1, failedToOpen: 0, rowsLost: 0 })}\n`,
    )
  },
)

/** Turns a database into one of the first schema with its spaces. */
function downgrade(dataDir: string): void {
  const path = join(dataDir, 'db', 'main.sqlite')
  const old = `${path}.old`
  const sqlite = new Sqlite(old)
  sqlite.exec(MIGRATIONS[0]!)
  sqlite.pragma('user_version = 1')
  sqlite.exec(`ATTACH '${path}' AS present`)
  for (const table of ['spaces', 'retrieval_profiles']) {
    const columns = sqlite.prepare(`SELECT group_concat(name) FROM pragma_table_info('${table}')`).pluck().get()
    sqlite.exec(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM present.${table}`)
  }
  sqlite.exec('DETACH present')
  sqlite.close()
  rmSync(path)
  const moved = new Sqlite(old)
  moved.exec(`VACUUM INTO '${path}'`)
  moved.close()
  rmSync(old)
}
