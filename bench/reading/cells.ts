import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../lib/daemon.js'
import type { Figure } from '../lib/report.js'
import { compileFile, type LabelledCell, type PageOfFile, tablesByPage, verdictOf } from './table-cells.js'

const SETS = ['tune', 'report', 'held-out A', 'held-out B', 'made', 'made later'] as const
/** The sets whose failures are printed; the others are reported without being looked at. */
const TUNED: readonly string[] = ['tune', 'report', 'held-out A']

function allLabels(): LabelledCell[] {
  return ['cells.jsonl', 'held-out.jsonl', 'made.jsonl'].flatMap((name) => lines<LabelledCell>(name))
}

function pathOf(folder: string, file: string): string {
  return file.startsWith('made/') ? join(ROOT, 'bench', 'reading', 'tables', file) : join(folder, file)
}

/**
 * Measures tables of PDFs: the fraction of cells that are found with the right heads of their row and column, for cells read by
 * hand, and the number of tables found on pages without any.
 *
 * @param folder the shared data
 * @param verbose whether failures of the tuned sets are printed
 */
export async function measureCells(folder: string, verbose: boolean): Promise<Figure[]> {
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
      else if (verbose && TUNED.includes(label.half)) tell(`${verdict}: ${JSON.stringify(label)}`)
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
  const text = readFileSync(join(ROOT, 'bench', 'reading', 'tables', name), 'utf8')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

function tell(line: string): void {
  process.stdout.write(`${line}\n`)
}
