/**
 * Damaged files of each format, read in the reading process: `npm run bench:hostile -- [EACH] [SEED] [--of FOLDER] [--in FOLDER]`.
 * Counts those that end the process, hang, or fail without a reason. EACH copies (200) of each sample, the same ones for a SEED;
 * with `--of`, of the smallest files of each ending in a folder, too; with `--in`, the damaged files are kept in a folder, so that they
 * can be ingested.
 */
import { readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { globSync } from 'tinyglobby'
import { temporaryFolder } from './lib/daemon.js'
import { type Sample, sampleFiles } from './lib/hostile/files.js'
import { type Outcome, readDamaged } from './lib/hostile/read-damaged.js'
import { printTable, report } from './lib/report.js'

const EACH = 200
const SEED = 20261
/** of one ending in a folder */
const MOST_OF_ENDING = 2
/** Larger ones take their time without being damaged. */
const MOST_BYTES = 300_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { of: { type: 'string' }, in: { type: 'string' } },
})
const each = Number(positionals[0] ?? EACH)
const seed = Number(positionals[1] ?? SEED)
const scratch = values.in === undefined ? temporaryFolder('hostile') : undefined
const samples = [...(await sampleFiles()), ...(values.of === undefined ? [] : filesOf(values.of))]

const outcomes = await readDamaged(samples, { each, seed, folder: values.in ?? scratch?.path ?? '' }, (outcome) => {
  const bad = badOf(outcome)
  process.stderr.write(`${outcome.name}: ${outcome.read} read, ${outcome.told} told, ${bad.length} others\n`)
  for (const [what, said] of bad) process.stderr.write(`  ${what}: ${said}\n`)
})
scratch?.remove()
printTable(
  ['file', 'seed', 'read', 'told', 'unforeseen', 'process ended', 'ran out', 'untold'],
  outcomes.map(({ name, seed: own, read, told, unforeseen, crashed, ranOut, untold }) =>
    [name, own, read, told, unforeseen.length, crashed.length, ranOut.length, untold.length].map(String),
  ),
)
const count = (of: (outcome: Outcome) => unknown[]) => outcomes.reduce((sum, outcome) => sum + of(outcome).length, 0)
const none = { bar: { atMost: 0 }, unit: '' }
report('hostile', [
  { name: 'damaged files', value: outcomes.length * each, unit: '' },
  { name: 'failures that nobody foresaw', value: count(({ unforeseen }) => unforeseen), unit: '' },
  { name: 'files that ended the reading process', value: count(({ crashed }) => crashed), ...none },
  { name: 'files that ran out of time or memory', value: count(({ ranOut }) => ranOut), ...none },
  { name: 'files that failed without a reason', value: count(({ untold }) => untold), ...none },
])

function badOf({ unforeseen, crashed, ranOut, untold }: Outcome): [string, string][] {
  const all = { unforeseen, crashed, ranOut, untold }
  return Object.entries(all).flatMap(([what, list]) => list.map((said): [string, string] => [what, said]))
}

function filesOf(folder: string): Sample[] {
  const counts = new Map<string, number>()
  return globSync('**/*', { cwd: folder })
    .map((path) => ({ path, size: statSync(join(folder, path)).size }))
    .filter(({ size }) => size > 0 && size <= MOST_BYTES)
    .sort((a, b) => a.size - b.size)
    .flatMap(({ path }) => {
      const ending = extname(path)
      const count = counts.get(ending) ?? 0
      counts.set(ending, count + 1)
      const name = path.slice(path.lastIndexOf('/') + 1)
      return count < MOST_OF_ENDING ? [{ name, bytes: readFileSync(join(folder, path)) }] : []
    })
}
