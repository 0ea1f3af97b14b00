import { ReadError, type ReadLimits } from '../limits.js'
import type { Block } from '../parsed.js'
import { isNumeric } from '../tables/figures.js'
import { detectHeads } from '../tables/heads.js'
import { buildTableBlocks, tidyRows } from '../tables.js'
import { type SheetRow, splitTables } from './sheet-tables.js'

/** A sheet with its filled cells; empty cells have no cost. */
export interface Sheet {
  name: string
  /** Filled rows by row number, in ascending order. */
  rows: ReadonlyMap<number, SheetRow>
  /** Content other than cells: charts, pictures, text boxes, comments. */
  extras?: Block[]
  isHidden?: boolean
}

/** A cell that is merged over several rows of its column. */
export interface MergedRows {
  column: number
  first: number
  last: number
}

/** The maximal length of a cell's text in spreadsheet programs. */
const MAX_CELL_LENGTH = 32_767
/** Maximal number of merged ranges of one sheet. */
const MAX_MERGES = 10_000
/** Maximal total length of all texts of a workbook, in characters: cells of a small file may share one long text. */
const MAX_TEXT_LENGTH = 64 * 1024 * 1024
/** A region with more grid positions per filled cell is scattered notes, not a table. */
const MAX_SPARSITY = 20
/** Up to this many positions, gaps do not matter. */
const SMALL_GRID_SIZE = 2000
/** Up to this many lines in one column are a note, more are a list of values. */
const MAX_NOTE_LINES = 20

/** Maximal number of rows of column names above a table. */
const MAX_NAME_ROWS = 3

/** Default sheet names of spreadsheet programs. */
const DEFAULT_SHEET_NAME =
  /^(?:sheet|tabelle|blatt|feuil(?:le)?|hoja|foglio|planilha|blad|arkusz|лист|シート)[ _]?\d*$/i

/** Counts the cells and characters of a workbook, so that no file is read beyond the limits. */
export class SheetBudget {
  readonly #filename: string
  readonly #limits: ReadLimits
  #cells = 0
  #characters = 0

  constructor(filename: string, limits: ReadLimits) {
    this.#filename = filename
    this.#limits = limits
  }

  /** @throws ReadError `limit-exceeded` when there are too many cells */
  cells(count: number): void {
    this.#cells += count
    if (this.#cells <= this.#limits.maxCells) return
    const maxCells = this.#limits.maxCells.toLocaleString('en-US')
    throw new ReadError('limit-exceeded', `${this.#filename} has more cells than the limit of ${maxCells}`)
  }

  /**
   * Truncates the text of a cell.
   *
   * @throws ReadError `limit-exceeded` when all texts together are too long
   */
  text(text: string): string {
    const truncated = text.length > MAX_CELL_LENGTH ? text.slice(0, MAX_CELL_LENGTH) : text
    this.#characters += truncated.length
    if (this.#characters <= MAX_TEXT_LENGTH) return truncated
    throw new ReadError('limit-exceeded', `${this.#filename} holds more text than the limit of 64 million characters`)
  }
}

/** Copies a cell that is merged over several rows to each of them, so that every row is complete. */
export function fillDown(
  rows: Map<number, Map<number, string>>,
  merges: readonly MergedRows[],
  budget: SheetBudget,
): void {
  for (const { column, first, last } of merges.slice(0, MAX_MERGES)) {
    const text = rows.get(first)?.get(column)
    if (text === undefined) continue
    // rows without other cells stay empty, so stop at the first gap
    for (let number = first + 1; number <= last; number++) {
      const row = rows.get(number)
      if (row === undefined) break
      if (row.has(column)) continue
      budget.cells(1)
      row.set(column, budget.text(text))
    }
  }
}

/** Converts a workbook to sections of tables and notes; the metadata of the blocks contain the sheet name. */
export function sheetBlocks(sheets: readonly Sheet[]): Block[] {
  const filled = sheets.filter((sheet) => sheet.rows.size > 0 || (sheet.extras?.length ?? 0) > 0)
  return filled.flatMap((sheet) => {
    const silent = DEFAULT_SHEET_NAME.test(sheet.name.trim())
    const heading: Block = {
      type: 'heading',
      text: sheet.name,
      level: 1,
      tocSource: 'sheet',
      ...(silent ? { silent } : {}),
    }
    const extras = (sheet.extras ?? []).map((block) => ({
      ...block,
      metadata: { ...block.metadata, sheet: sheet.name },
    }))
    return [
      heading,
      ...splitRegions(sheet.rows)
        .flatMap(splitTables)
        .flatMap((rows) => toRegionBlocks(rows, sheet.name)),
      ...extras,
    ]
  })
}

/** Groups rows without an empty row between them; column names also belong to the rows after one empty row. */
function splitRegions(rows: ReadonlyMap<number, SheetRow>): SheetRow[][] {
  const regions: SheetRow[][] = []
  let last = -2
  for (const [number, row] of rows) {
    if (row.size === 0) continue
    const region = regions.at(-1)
    const isJoined =
      number === last + 1 || (number === last + 2 && region !== undefined && areNames(region) && hasNumber(row))
    if (region !== undefined && isJoined) region.push(row)
    else regions.push([row])
    last = number
  }
  return regions
}

/** A few rows of words without a number, the last of them with several cells. */
function areNames(rows: SheetRow[]): boolean {
  return rows.length <= MAX_NAME_ROWS && (rows.at(-1)?.size ?? 0) > 2 && !rows.some(hasNumber)
}

function hasNumber(row: SheetRow): boolean {
  for (const text of row.values()) if (isNumeric(text)) return true
  return false
}

function toRegionBlocks(rows: SheetRow[], sheet: string): Block[] {
  let first = 0
  while (first < rows.length && rows[first]?.size === 1) first++
  // lines above a table describe it
  const notes = rows.slice(0, first).map((row) => [...row.values()].join(' '))
  const head: Block[] = toNoteBlocks(notes, sheet)
  const table = rows.slice(first)
  if (table.length === 0) return head
  const texts = toGrid(table)
  return [...head, ...buildTableBlocks(texts, detectHeads(texts), { sheet })]
}

function toNoteBlocks(lines: string[], sheet: string): Block[] {
  if (lines.length === 0) return []
  if (lines.length <= MAX_NOTE_LINES) return [{ type: 'paragraph', text: lines.join('\n'), metadata: { sheet } }]
  return buildTableBlocks(
    lines.map((line) => [line]),
    false,
    { sheet },
  )
}

/** Rows of equal width without empty columns; for scattered cells only the filled ones. */
function toGrid(rows: SheetRow[]): string[][] {
  const used = new Set<number>()
  let cells = 0
  for (const row of rows) {
    cells += row.size
    for (const column of row.keys()) used.add(column)
  }
  const gridSize = rows.length * used.size
  if (gridSize > SMALL_GRID_SIZE && gridSize > cells * MAX_SPARSITY)
    return rows.map((row) => sortCells(row).map(([, text]) => text))
  const columns = [...used].sort((a, b) => a - b)
  return tidyRows(rows.map((row) => columns.map((column) => row.get(column) ?? '')))
}

function sortCells(row: SheetRow): [number, string][] {
  return [...row].sort(([a], [b]) => a - b)
}
