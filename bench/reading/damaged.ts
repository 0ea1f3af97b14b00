import { readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { globSync } from 'tinyglobby'
import { temporaryFolder } from '../lib/daemon.js'
import { type Sample, sampleFiles } from '../lib/hostile/files.js'
import { type Outcome, readDamaged } from '../lib/hostile/read-damaged.js'
import type { Figure } from '../lib/report.js'

const COPIES = 200
const SEED = 20261
const MAX_FILES_OF_ENDING = 2
/** Larger files take long even undamaged. */
const MAX_BYTES = 300_000

/**
 * Reads damaged copies of a sample of each format in the reading process and counts the files that end the process, hang, or fail
 * without a reason.
 *
 * @param each copies of each sample
 * @param seed the same copies for the same seed
 * @param folder further files: the smallest of each ending
 */
export async function measureDamaged(each = COPIES, seed = SEED, folder?: string): Promise<Figure[]> {
  const scratch = temporaryFolder('damaged')
  const samples = [...(await sampleFiles()), ...(folder === undefined ? [] : filesOf(folder))]
  const outcomes = await readDamaged(samples, { each, seed, folder: scratch.path }, (outcome) => {
    const bad = badOf(outcome)
    process.stderr.write(`${outcome.name}: ${outcome.read} read, ${outcome.told} rejected, ${bad.length} others\n`)
    for (const [what, reason] of bad) process.stderr.write(`  ${what}: ${reason}\n`)
  })
  scratch.remove()
  const count = (of: (outcome: Outcome) => unknown[]) => outcomes.reduce((sum, outcome) => sum + of(outcome).length, 0)
  const none = { bar: { atMost: 0 }, unit: '' }
  return [
    { name: 'damaged files', value: outcomes.length * each, unit: '' },
    { name: 'unexpected failures', value: count(({ unforeseen }) => unforeseen), unit: '' },
    { name: 'files that ended the reading process', value: count(({ crashed }) => crashed), ...none },
    { name: 'files that exceeded their time or memory', value: count(({ ranOut }) => ranOut), ...none },
    { name: 'files that failed without a reason', value: count(({ untold }) => untold), ...none },
  ]
}

function badOf({ unforeseen, crashed, ranOut, untold }: Outcome): [string, string][] {
  const all = { unforeseen, crashed, ranOut, untold }
  return Object.entries(all).flatMap(([what, list]) => list.map((reason): [string, string] => [what, reason]))
}

function filesOf(folder: string): Sample[] {
  const counts = new Map<string, number>()
  return globSync('**/*', { cwd: folder })
    .map((path) => ({ path, size: statSync(join(folder, path)).size }))
    .filter(({ size }) => size > 0 && size <= MAX_BYTES)
    .sort((a, b) => a.size - b.size)
    .flatMap(({ path }) => {
      const ending = extname(path)
      const count = counts.get(ending) ?? 0
      counts.set(ending, count + 1)
      const name = path.slice(path.lastIndexOf('/') + 1)
      return count < MAX_FILES_OF_ENDING ? [{ name, bytes: readFileSync(join(folder, path)) }] : []
    })
}
