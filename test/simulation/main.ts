import { randomInt } from 'node:crypto'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type SmallDisk, smallDisk } from '../helpers/small-disk.js'
import { simulate } from './run.js'
import { FAULTS } from './schedule.js'
import type { FullDisk } from './world.js'

/** of the disk that a run fills; a run needs a small part of it */
const DISK_MEGABYTES = 192

const USAGE = `npm run simulate -- [--seeds N | --minutes N] [--operations N] [--seed N]

  --seeds N        runs that many seeds (10 where nothing is said)
  --minutes N      runs seeds for that long
  --operations N   operations of a seed (500)
  --seed N         the first seed; the following ones count up (random)
`

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    operations: { type: 'string', default: '500' },
    seed: { type: 'string' },
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
  let seeds = 0
  let diverged = 0
  let faults = 0
  let answered = 0
  for (; seeds < count && (until === undefined || performance.now() < until); seeds++) {
    const seed = first + seeds
    const disk = smallDisk(`simulate-${seed}`, DISK_MEGABYTES)
    const started = performance.now()
    const result = await simulate({
      seed,
      operations,
      dataDir: join(disk.path, 'data'),
      faults: FAULTS,
      disk: fullDisk(disk),
    })
    const took = Math.round((performance.now() - started) / 1000)
    const sum = [...result.answered.values()].reduce((all, one) => all + one, 0)
    faults += result.faults
    answered += sum
    process.stdout.write(
      `seed ${seed}: ${sum} answers, ${result.faults} faults, ${result.divergences.length} divergences, ${took} s\n`,
    )
    if (result.divergences.length === 0) {
      disk.remove()
      continue
    }
    diverged++
    for (const { operation, expected, found } of result.divergences)
      process.stdout.write(
        `  DIVERGENCE seed ${seed}, operation ${operation}\n    expected: ${expected}\n    found:    ${found}\n`,
      )
    process.stdout.write(
      `  the data directory is left in ${keep(disk)}; npm run simulate -- --seed ${seed} --operations ${operations} repeats it\n`,
    )
  }
  process.stdout.write(
    `FIGURE simulation ${JSON.stringify({ seeds, operations, first, answered, faults, diverged })}\n`,
  )
  return diverged === 0 ? 0 : 1
}

/** Takes the room of a disk for as long as `work` takes; where none could be mounted, that fault is left out. */
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

/** @returns where the data directory is kept; a disk of its own takes memory, so it is copied */
function keep(disk: SmallDisk): string {
  if (!disk.isMounted) return disk.path
  const kept = mkdtempSync(join(tmpdir(), 'ks-diverged-'))
  cpSync(disk.path, kept, { recursive: true })
  disk.remove()
  return kept
}

function numberOf(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`${JSON.stringify(text)} is not a whole number above 0\n\n${USAGE}`)
  return number
}
