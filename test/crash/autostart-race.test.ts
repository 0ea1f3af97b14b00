import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { attachDaemon, runKs, temporaryFolder } from '../../bench/lib/daemon.js'

const CLIS = 20
/** A loser is a Node process that must still load and request the lock, on two busy cores. */
const LEAVE_MS = 15_000

const home = temporaryFolder('crash-race')

afterAll(async () => {
  const daemon = await attachDaemon(home.path).catch(() => undefined)
  await daemon?.kill()
  home.remove()
})

test(`F53: ${CLIS} simultaneous commands without a daemon start exactly one daemon, and all commands succeed`, async () => {
  const runs = await Promise.all(Array.from({ length: CLIS }, () => runKs(home.path, ['spaces', 'list', '--json'])))
  const failed = runs.filter((one) => one.code !== 0 || one.stdout.trim() !== '[]')
  const daemons = process.platform === 'linux' ? await remainingDaemons(home.path) : ['unknown']
  process.stdout.write(
    `FIGURE crash-race: commands ${CLIS}, succeeded ${CLIS - failed.length}, daemons ${daemons.length}, ` +
      `slowest ${Math.round(Math.max(...runs.map((one) => one.ms)))} ms\n`,
  )
  expect(failed).toEqual([])
  expect(daemons).toHaveLength(1)
})

/** Gives the processes that lost the race for the lock time to exit. */
async function remainingDaemons(dataDir: string): Promise<string[]> {
  const deadline = Date.now() + LEAVE_MS
  while (daemonsOf(dataDir).length > 1 && Date.now() < deadline) await sleep(100)
  return daemonsOf(dataDir)
}

/** Command lines of the running daemons of a data directory. */
function daemonsOf(dataDir: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      } catch {
        return []
      }
    })
    .filter((line) => line.includes('ksd.js') && line.includes(dataDir))
}
