/**
 * Tables of PDFs. `cells`: which share of cells read by hand (`tables/cells.jsonl`) is found with the right heads of its
 * row and its column, of those that rules were made with, of those held out (`held-out.jsonl`: its tables in turn are of half A, which was looked at later, and B, which is blind)
 * and of PDFs made for it
 * (`made.jsonl`); and how many tables are found on pages that hold none (`tables/without.jsonl`). `rows`: FinanceBench questions whose answer stands in a table,
 * asked of a daemon: in how many does the evidence hold the row. Run with `node scripts/bench.js tables [cells|rows]`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './lib/daemon.js'
import { dataFolder } from './lib/datasets.js'
import { type Figure, report } from './lib/report.js'
import { scannedTables } from './lib/scanned-tables.js'
import { compileFile, type LabelledCell, type PageOfFile, tablesByPage, verdictOf } from './lib/table-cells.js'
import { tableQuestions } from './lib/table-questions.js'

const SETS = ['tune', 'report', 'held-out A', 'held-out B', 'made', 'made later'] as const
/** What is wrong is told of these; of the others only with `--everything`. */
const TUNED: readonly string[] = ['tune', 'report', 'held-out A']
const everything = process.argv.includes('--everything')
const verbose = everything || process.argv.includes('--verbose')
const part = process.argv.slice(2).find((one) => ['cells', 'scans', 'rows'].includes(one))
const data = dataFolder()
if (data === undefined) process.stdout.write('skipped: no ../shared/data and no KS_SHARED_DATA\n')
else {
  const figures: Figure[] = []
  if (part === undefined || part === 'cells') figures.push(...(await cells(data)))
  if (part === undefined || part === 'scans') figures.push(...(await scans(data)))
  if (part === undefined || part === 'rows') figures.push(...(await tableQuestions(data, verbose)))
  report('tables', figures)
}

/** @param folder where shared files are */
async function scans(folder: string): Promise<Figure[]> {
  const stores = process.argv.indexOf('--stores')
  return await scannedTables(allLabels(), lines<PageOfFile>('without.jsonl'), {
    pathOf: (file) => pathOf(folder, file),
    ...(stores === -1 ? {} : { kept: process.argv[stores + 1] ?? '.' }),
    verbose,
    tuneOnly: process.argv.includes('--tune'),
  })
}

function allLabels(): LabelledCell[] {
  return ['cells.jsonl', 'held-out.jsonl', 'made.jsonl'].flatMap((name) => lines<LabelledCell>(name))
}

function pathOf(folder: string, file: string): string {
  return file.startsWith('made/') ? join(ROOT, 'bench', 'tables', file) : join(folder, file)
}

async function cells(folder: string): Promise<Figure[]> {
  const labels = allLabels()
  const without = lines<PageOfFile>('without.jsonl')
  const files = [...new Set([...labels, ...without].map(({ file }) => file))]
  const figures: Figure[] = []
  const right = new Set<LabelledCell>()
  let found = 0
  let falseOnes = 0
  const before = process.cpuUsage()
  for (const file of files) {
    const tables = tablesByPage(await compileFile(pathOf(folder, file)))
    for (const list of tables.values()) found += list.length
    for (const page of without) {
      const wrong = page.file === file ? (tables.get(page.page0 + 1) ?? []) : []
      falseOnes += wrong.length
      if (verbose) for (const table of wrong) tell(`no table: ${file} ${page.page0}: ${JSON.stringify(table.rows[0])}`)
    }
    for (const label of labels.filter((one) => one.file === file)) {
      const verdict = verdictOf(label, tables.get(label.page0 + 1) ?? [])
      if (verdict === 'right') right.add(label)
      else if (verbose && (everything || TUNED.includes(label.half))) tell(`${verdict}: ${JSON.stringify(label)}`)
    }
  }
  const { user, system } = process.cpuUsage(before)
  for (const half of SETS) {
    const own = labels.filter((label) => label.half === half)
    const set = (name: string, cells: readonly LabelledCell[]): Figure => ({
      name: `cells with the right heads, ${name}`,
      value: cells.filter((label) => right.has(label)).length / cells.length,
      unit: '',
      note: `${cells.length} cells of ${new Set(cells.map(tableName)).size} tables`,
      bar: { atLeast: 0.85 },
    })
    const written = own.filter((label) => label.picture !== true)
    figures.push(set(half, own))
    if (written.length < own.length) figures.push(set(`${half} without tables that are pictures`, written))
  }
  figures.push({
    name: `tables on ${without.length} pages without any`,
    value: falseOnes,
    unit: '',
    bar: { atMost: 2 },
  })
  figures.push({ name: 'tables found', value: found, unit: '', note: `${files.length} files` })
  figures.push({ name: 'processor time', value: (user + system) / 1e6, unit: 's' })
  return figures
}

function tableName({ file, page0, table }: LabelledCell): string {
  return `${file} ${page0} ${table}`
}

function lines<T>(name: string): T[] {
  const text = readFileSync(join(ROOT, 'bench', 'tables', name), 'utf8')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`)
}
