/**
 * `npm run bench`: the bars of speed and memory in one table. Each part is a bench of its own, run as a program of its
 * own, one after the other. `--stored` runs none and takes what the last run of each left in `bench/results/`.
 * `table [PART …] [--quick] [--large] [--stored] [--before CHECKOUT] [--stores FOLDER] [--json FILE]`
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { execaSync } from 'execa'
import { ROOT, temporaryFolder } from './lib/daemon.js'
import { countBars, oneTable, type Part } from './lib/one-table.js'
import { costPlot, pointsOf } from './lib/plot.js'
import { load, type Stored, storedOf } from './lib/report.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    stored: { type: 'boolean', default: false },
    before: { type: 'string' },
    stores: { type: 'string' },
    json: { type: 'string' },
  },
})
const { quick, large, stored, before, stores } = values
const kept = stores === undefined ? [] : ['--stores', stores]

/** Arguments of each part. */
const PARTS: Record<string, string[]> = {
  startup: quick ? ['3'] : [],
  query: quick
    ? ['500', '1000', '--rounds', '1']
    : ['10000', '20000', '100000', ...(large ? ['1000000'] : []), ...kept],
  ingest: quick ? ['500', '1'] : [],
  neighbours: quick ? ['500', '300', '1'] : [],
  stalls: quick ? ['markdown:0.3,csv:0.3,text:0.5', '1'] : ['markdown:8,csv:11,text:50', '3'],
  listing: quick ? ['500'] : [],
  ...(before === undefined
    ? {}
    : { before: [before, quick ? '500' : '100000', ...(quick ? [] : (stores ?? []))].flat() }),
}
const PLOT = join(ROOT, 'docs', 'cost-against-size.svg')
const GIGABYTE = 1e9

const unknown = positionals.find((name) => PARTS[name] === undefined)
if (unknown !== undefined) throw new Error(`${unknown} is no part; there are ${Object.keys(PARTS).join(', ')}`)
const chosen = positionals.length > 0 ? positionals : Object.keys(PARTS)
const home = temporaryFolder('bench-table')
const today = new Date().toISOString()
const machine = `node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / GIGABYTE)} GB`
const loads: string[] = stored ? [] : [`before: ${load()}`]
try {
  const parts = chosen.filter(isThere).map(stored ? storedPart : runPart)
  const { bars, missed } = countBars(parts)
  process.stdout.write(`\n${day(today)}, ${machine}\nload of the machine (1, 5, 15 min): ${loads.join('; ')}\n\n`)
  process.stdout.write(oneTable(parts, !quick))
  const missing = chosen.filter((name) => !isThere(name))
  if (missing.length > 0)
    process.stdout.write(`\nnot measured, since this checkout has no such bench: ${missing.join(', ')}\n`)
  const failed = parts.some((part) => 'failure' in part)
  if (quick) process.stdout.write('\n--quick: small sizes, the bars do not count\n')
  else process.stdout.write(`\n${bars - missed} of ${bars} bars held\n`)
  if (failed || (!quick && missed > 0)) process.exitCode = 1
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ at: today, machine, loads, quick, parts }, null, 2)}\n`)
  const figures = parts.flatMap((part) => ('failure' in part ? [] : part.figures))
  const last = stored ? storedOf('query') : undefined
  const foot = `npm run bench, ${day(last?.at ?? today)}, ${machine}, load when it ended (1, 5, 15 min): ${last?.load ?? load()}`
  if (!quick && pointsOf(figures, 'p50').length > 1) writeFileSync(PLOT, costPlot(figures, foot))
} finally {
  home.remove()
}

function isThere(name: string): boolean {
  return existsSync(programOf(name))
}

function programOf(name: string): string {
  return join(ROOT, 'dist-bench', 'bench', `${name}.js`)
}

/** Runs one part; what it prints goes to standard error, its figures into the table. */
function runPart(name: string): Part {
  const file = join(home.path, `${name}.json`)
  process.stderr.write(`\n${name} ${PARTS[name]?.join(' ')}\n`)
  const { exitCode, signal } = execaSync(process.execPath, [programOf(name), ...(PARTS[name] ?? [])], {
    env: { KS_BENCH_FIGURES: file, ...(quick ? { KS_BENCH_QUICK: '1' } : {}) },
    stdio: ['ignore', 2, 2],
    reject: false,
  })
  loads.push(`after ${name}: ${load()}`)
  if (!existsSync(file)) return { name, failure: `ended with ${exitCode ?? signal} before it had figures` }
  const { figures }: Stored = JSON.parse(readFileSync(file, 'utf8'))
  return { name, figures }
}

/** What the last run of a part found. */
function storedPart(name: string): Part {
  const last = storedOf(name)
  if (last === undefined) return { name, failure: 'was not run here yet' }
  const earlier = last.figures.flatMap(({ at }) => at ?? []).sort()[0]
  const since = earlier === undefined ? '' : `, some since ${minute(earlier)}`
  loads.push(`${name}, ${minute(last.at)}${since}: ${last.load ?? 'unknown'}`)
  return { name, figures: last.figures }
}

function day(at: string): string {
  return at.slice(0, 10)
}

function minute(at: string): string {
  return at.slice(0, 16).replace('T', ' ')
}
