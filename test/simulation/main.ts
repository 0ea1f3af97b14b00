import { randomInt } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { faultShim, shimTrouble } from '../faults/rig/shim.js'
import { mountSmallDisk, type SmallDisk } from '../helpers/small-disk.js'
import { type Simulated, simulate } from './run.js'
import { FAULTS } from './schedule.js'
import type { FullDisk } from './world.js'

/** size of the disk of a run, which needs a small part of it */
const DISK_MEGABYTES = 192

const USAGE = `npm run simulate -- [--seeds N | --minutes N] [--operations N] [--seed N] [--parallel N]

  --seeds N        number of seeds (10)
  --minutes N      duration of the run
  --operations N   operations per seed (500)
  --seed N         first seed, then counting up (random)
  --parallel N     seeds to run concurrently (1)
`

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    operations: { type: 'string', default: '500' },
    seed: { type: 'string' },
    parallel: { type: 'string', default: '1' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

process.exitCode = values.help ? usage() : await run()

function usage(): number {
  process.stdout.write(USAGE)
  return 0
}

/** @returns the exit code: 1 when a seed diverged */
async function run(): Promise<number> {
  const operations = numberOf(values.operations)
  const first = values.seed === undefined ? randomInt(1, 2 ** 31 - 100_000) : numberOf(values.seed)
  const until = values.minutes === undefined ? undefined : performance.now() + numberOf(values.minutes) * 60_000
  const count =
    until === undefined ? numberOf(values.seeds ?? (values.seed === undefined ? '10' : '1')) : Number.POSITIVE_INFINITY
  const sum = { seeds: 0, answered: 0, faults: 0, diverged: 0 }
  const started = performance.now()
  let begun = 0
  const runner = async () => {
    while (begun < count && (until === undefined || performance.now() < until)) {
      begun++
      const result = await runSeed(first + begun - 1, operations)
      sum.seeds++
      sum.faults += result.faults
      sum.answered += answersOf(result)
      if (result.divergences.length > 0) sum.diverged++
    }
  }
  await Promise.all(Array.from({ length: numberOf(values.parallel) }, runner))
  const minutes = Number(((performance.now() - started) / 60_000).toFixed(1))
  process.stdout.write(`FIGURE simulation ${JSON.stringify({ operations, first, minutes, ...sum })}\n`)
  return sum.diverged === 0 ? 0 : 1
}

/** Runs one seed on a separate disk and prints the result. */
async function runSeed(seed: number, operations: number): Promise<Simulated> {
  const disk = mountSmallDisk(`simulate-${seed}`, DISK_MEGABYTES)
  const started = performance.now()
  const dataDir = join(disk.path, 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  const clock = shimTrouble === undefined ? faultShim(dataDir, { clock: true }) : undefined
  const result = await simulate({ seed, operations, dataDir, faults: FAULTS, disk: fullDisk(disk), clock })
  clock?.remove()
  const { divergences, faults } = result
  const took = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(
    `seed ${seed}: ${answersOf(result)} answers, ${faults} faults, ${divergences.length} divergences, ${took} s\n`,
  )
  if (divergences.length === 0) {
    disk.remove()
    return result
  }
  for (const { operation, expected, found } of divergences)
    process.stdout.write(
      `  DIVERGENCE seed ${seed}, operation ${operation}\n    expected: ${expected}\n    found:    ${found}\n`,
    )
  process.stdout.write(
    `  the data directory is left in ${keep(disk)}; npm run simulate -- --seed ${seed} --operations ${operations} repeats it\n`,
  )
  return result
}

function answersOf({ answered }: Simulated): number {
  return [...answered.values()].reduce((all, one) => all + one, 0)
}

/** Fills a disk while `work` runs; without a mounted disk this fault is omitted. */
function fullDisk(disk: SmallDisk): FullDisk | undefined {
  if (!disk.isMounted) return undefined
  return {
    async full(work) {
      disk.fill(0)
      try {
        await work()
      } finally {
        disk.free()
      }
    },
  }
}

/** @returns the folder of the kept data directory; it is copied, because the separate disk occupies memory */
function keep(disk: SmallDisk): string {
  if (!disk.isMounted) return disk.path
  const kept = mkdtempSync(join(tmpdir(), 'ks-diverged-'))
  // The socket of the daemon cannot be copied.
  cpSync(disk.path, kept, { recursive: true, filter: (path) => !statSync(path).isSocket() })
  disk.remove()
  return kept
}

function numberOf(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`${JSON.stringify(text)} is not a whole number above 0\n\n${USAGE}`)
  return number
}
