import { join } from 'node:path'
import { ROOT } from '../lib/daemon.js'
import { readJsonLines } from '../lib/datasets.js'
import type { Figure } from '../lib/report.js'
import { compileFile, judgeCell, type LabelledCell, type PageOfFile, tablesByPage } from './table-cells.js'

const SETS = ['tune', 'report', 'held-out A', 'held-out B', 'made', 'made later'] as const
/** The sets whose failures are printed; the others are reported without being looked at. */
const TUNED: readonly string[] = ['tune', 'report', 'held-out A']

function readLabels(): LabelledCell[] {
  return ['cells.jsonl', 'held-out.jsonl', 'made.jsonl'].flatMap((name) => readLines<LabelledCell>(name))
}

function resolvePath(folder: string, file: string): string {
  return file.startsWith('made/') ? join(ROOT, 'bench', 'reading', 'tables', file) : join(folder, file)
}

/**
 * Measures tables of PDFs: the fraction of cells that are found with the right heads of their row and column, for cells read by
 * hand, and the number of tables found on pages without any.
 *
 * @param folder the shared data
 * @param verbose whether failures of the tuned sets are printed
 */
export async function measureCells(folder: string, { verbose }: { verbose: boolean }): Promise<Figure[]> {
  const labels = readLabels()
  const without = readLines<PageOfFile>('without.jsonl')
  const files = [...new Set([...labels, ...without].map(({ file }) => file))]
  const figures: Figure[] = []
  const right = new Set<LabelledCell>()
  let tableCount = 0
  let falseTables = 0
  const before = process.cpuUsage()
  for (const file of files) {
    const tables = tablesByPage(await compileFile(resolvePath(folder, file)))
    for (const list of tables.values()) tableCount += list.length
    for (const page of without) {
      const wrong = page.file === file ? (tables.get(page.page0 + 1) ?? []) : []
      falseTables += wrong.length
      if (verbose)
        for (const table of wrong) printLine(`no table: ${file} ${page.page0}: ${JSON.stringify(table.rows[0])}`)
    }
    for (const label of labels.filter((one) => one.file === file)) {
      const verdict = judgeCell(label, tables.get(label.page0 + 1) ?? [])
      if (verdict === 'right') right.add(label)
      else if (verbose && TUNED.includes(label.half)) printLine(`${verdict}: ${JSON.stringify(label)}`)
    }
  }
  const { user, system } = process.cpuUsage(before)
  for (const half of SETS) {
    const setLabels = labels.filter((label) => label.half === half)
    const createFigure = (name: string, cells: readonly LabelledCell[]): Figure => ({
      name: `cells with the right heads, ${name}`,
      value: cells.filter((label) => right.has(label)).length / cells.length,
      unit: '',
      note: `${cells.length} cells of ${new Set(cells.map(getTableName)).size} tables`,
      bar: { atLeast: 0.85 },
    })
    const textLabels = setLabels.filter((label) => label.picture !== true)
    figures.push(createFigure(half, setLabels))
    if (textLabels.length < setLabels.length)
      figures.push(createFigure(`${half} without tables that are pictures`, textLabels))
  }
  figures.push({
    name: `tables on ${without.length} pages without any`,
    value: falseTables,
    unit: '',
    bar: { atMost: 2 },
  })
  figures.push({ name: 'tables found', value: tableCount, unit: '', note: `${files.length} files` })
  figures.push({ name: 'processor time', value: (user + system) / 1e6, unit: 's' })
  return figures
}

function getTableName({ file, page0, table }: LabelledCell): string {
  return `${file} ${page0} ${table}`
}

function readLines<T>(name: string): T[] {
  return readJsonLines(join(ROOT, 'bench', 'reading', 'tables', name))
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`)
}
