import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_LIMITS } from '../../src/engine/parse/limits.js'
import type { RecognisedPage } from '../../src/engine/parse/ocr/pages-read.js'
import { compileBytes } from '../../src/engine/parse/read-document.js'
import type { TableCells } from '../../src/engine/parse/tables/cells.js'
import type { Figure } from './report.js'
import { mannerOf, scanOf } from './scan.js'
import { type LabelledCell, type PageOfFile, tablesByPage, verdictOf } from './table-cells.js'

/** Of these files, and of every second one made for it, cells that are wrong are looked at; of all others they are only counted. */
const LOOKED_AT = /ADOBE|BESTBUY|PFIZER|AMCOR|layout-parser/
/** processor time of one page, which no page of it needs */
const BUDGET_MS = 60_000

interface Options {
  pathOf: (file: string) => string
  /** keeps what was recognised, so that it is read once */
  kept?: string
  verbose: boolean
  /** the half that is looked at alone */
  tuneOnly: boolean
}

/** Pages with tables whose cells are known, and pages without any, scanned and read: the share of right cells, and false tables. */
export async function scannedTables(
  labels: readonly LabelledCell[],
  without: readonly PageOfFile[],
  { pathOf, kept, verbose, tuneOnly }: Options,
): Promise<Figure[]> {
  const made = [...new Set(labels.map(({ file }) => file))].filter((file) => file.startsWith('made/'))
  const isTune = (file: string): boolean => LOOKED_AT.test(file) || made.indexOf(file) % 2 === 0
  const known = labels.filter(
    ({ half, picture, file }) => half !== 'held-out B' && picture !== true && !/korean/.test(file),
  )
  const right = new Set<LabelledCell>()
  const before = process.cpuUsage()
  for (const [place, page] of pagesOf(known).entries()) {
    if (tuneOnly && !isTune(page.file)) continue
    const tables = await tablesOf(page, place, pathOf, kept)
    for (const label of known.filter((one) => one.file === page.file && one.page0 === page.page0)) {
      const verdict = verdictOf(label, tables)
      if (verdict === 'right') right.add(label)
      else if (verbose && isTune(page.file)) process.stdout.write(`${verdict}: ${JSON.stringify(label)}\n`)
    }
  }
  let falseOnes = 0
  let pagesWithout = 0
  for (const [place, page] of without.entries()) {
    if (tuneOnly && place % 2 === 1) continue
    const tables = await tablesOf(page, place, pathOf, kept)
    falseOnes += tables.length
    pagesWithout++
    if (!verbose || place % 2 === 1) continue
    for (const { rows } of tables)
      process.stdout.write(`no table: ${page.file} ${page.page0}: ${JSON.stringify(rows)}\n`)
  }
  const { user, system } = process.cpuUsage(before)
  const set = (name: string, cells: readonly LabelledCell[]): Figure => ({
    name: `cells of scans with the right heads, ${name}`,
    value: cells.filter((label) => right.has(label)).length / Math.max(1, cells.length),
    unit: '',
    note: `${cells.length} cells of ${pagesOf(cells).length} pages`,
    bar: { atLeast: 0.85 },
  })
  return [
    set(
      'looked at',
      known.filter(({ file }) => isTune(file)),
    ),
    ...(tuneOnly
      ? []
      : [
          set(
            'aside',
            known.filter(({ file }) => !isTune(file)),
          ),
        ]),
    { name: `tables on scans of ${pagesWithout} pages without any`, value: falseOnes, unit: '', bar: { atMost: 2 } },
    { name: 'processor time of scans', value: (user + system) / 1e6, unit: 's' },
  ]
}

function pagesOf(list: readonly PageOfFile[]): PageOfFile[] {
  const pages = new Map(list.map(({ file, page0 }) => [`${file} ${page0}`, { file, page0 }]))
  return [...pages.values()]
}

async function tablesOf(
  { file, page0 }: PageOfFile,
  place: number,
  pathOf: (file: string) => string,
  kept: string | undefined,
): Promise<TableCells[]> {
  const manner = mannerOf(page0 + place)
  const bytes = await scanOf(pathOf(file), page0, manner)
  const store = kept === undefined ? undefined : join(kept, `${file.replaceAll('/', '_')}-${page0}-${place}.json`)
  const known: RecognisedPage[] =
    store !== undefined && existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : []
  const ocr = { languages: { codes: ['eng'] }, budgetMs: BUDGET_MS, known }
  const compiled = await compileBytes(bytes, { filename: `scan.${manner.as}`, ocr }, DEFAULT_LIMITS)
  if (store !== undefined && known.length === 0) {
    mkdirSync(kept ?? '', { recursive: true })
    writeFileSync(store, JSON.stringify(compiled.recognised))
  }
  return [...tablesByPage(compiled.elements).values()].flat()
}
