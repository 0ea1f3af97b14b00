import { readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { globSync } from 'tinyglobby'
import { temporaryFolder } from '../lib/daemon.js'
import { createSampleFiles, type Sample } from '../lib/hostile/files.js'
import { type Outcome, readDamaged } from '../lib/hostile/read-damaged.js'
import type { Figure } from '../lib/report.js'

const COPIES = 200
const SEED = 20261
const MAX_FILES_OF_ENDING = 2
/** Larger files take long even undamaged. */
const MAX_BYTES = 300_000

/**
 * Reads damaged copies of samples of each format and counts those that end the reading process, exceed its limits, or fail
 * without a reason.
 *
 * @param copies of each sample
 * @param folder further samples: the smallest files of each extension
 */
export async function measureDamaged(copies = COPIES, seed = SEED, folder?: string): Promise<Figure[]> {
  const scratch = temporaryFolder('damaged')
  const samples = [...(await createSampleFiles()), ...(folder === undefined ? [] : loadFiles(folder))]
  const outcomes = await readDamaged(samples, { copies, seed, folder: scratch.path }, (outcome) => {
    const bad = listBad(outcome)
    process.stderr.write(`${outcome.name}: ${outcome.read} read, ${outcome.rejected} rejected, ${bad.length} others\n`)
    for (const [kind, reason] of bad) process.stderr.write(`  ${kind}: ${reason}\n`)
  })
  scratch.remove()
  const count = (of: (outcome: Outcome) => unknown[]) => outcomes.reduce((sum, outcome) => sum + of(outcome).length, 0)
  const none = { bar: { atMost: 0 }, unit: '' }
  return [
    { name: 'damaged files', value: outcomes.length * copies, unit: '' },
    { name: 'unexpected failures', value: count(({ unexpected }) => unexpected), unit: '' },
    { name: 'files that ended the reading process', value: count(({ crashed }) => crashed), ...none },
    { name: 'files that exceeded their time or memory', value: count(({ overLimit }) => overLimit), ...none },
    { name: 'files that failed without a reason', value: count(({ unexplained }) => unexplained), ...none },
  ]
}

function listBad({ unexpected, crashed, overLimit, unexplained }: Outcome): [string, string][] {
  const all = { unexpected, crashed, overLimit, unexplained }
  return Object.entries(all).flatMap(([kind, list]) => list.map((reason): [string, string] => [kind, reason]))
}

function loadFiles(folder: string): Sample[] {
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
