import { headsOf } from '../tables/heads.js'
import type { FoundTable } from './found-table.js'
import type { TextRun } from './pdf-lines.js'
import { besideEachOther } from './table-beside.js'
import { type Draft, draftOf } from './table-build.js'
import { captionOf, isNamed } from './table-captions.js'
import { joinParts } from './table-goes-on.js'
import { isTable } from './table-judge.js'
import { blocksOf, regionsOf } from './table-regions.js'
import { fillGrid, type Grid, gridsOf } from './table-ruled.js'
import type { Drawn } from './table-rules.js'
import { type Row, rowsOf, type Segment } from './table-words.js'

/** A page with more runs of text is a drawing; its tables are not detected. */
const MAX_RUNS = 60_000
/** Maximal mean length of ruled cells, in characters; longer content is framed text. */
const MAX_CELL = 400
/** A column that names every row is filled in at least this fraction of the rows. */
const FULL_COLUMN = 0.7
/**
 * In a grid of few rows, text lines that cover several columns are separate rows: minimal number of such lines, and
 * maximal number of rows.
 */
const SHARED_LINES = 3
const FEW_BANDS = 3

/** Whether rows of a page are in columns, so that reading its drawings is worth the cost. */
export function mayHoldTables(runs: readonly TextRun[]): boolean {
  if (runs.length > MAX_RUNS) return false
  const { rows } = rowsOf(runs, [])
  return regionsOf(rows).some((region) => blocksOf(region).some((block) => block.rows.length >= 2))
}

/** Finds the tables of a page, ruled ones first. */
export function findTables(runs: readonly TextRun[], drawn: Drawn): FoundTable[] {
  if (runs.length > MAX_RUNS) return []
  const grids = gridsOf(drawn)
  const { rows, sideways } = rowsOf(runs, sidewaysFree(grids))
  const tables: FoundTable[] = []
  let rest = rows
  if (!sideways) {
    for (const grid of grids) {
      const table = ruledTable(grid, rest, runs)
      if (table === undefined) continue
      tables.push(table)
      const used = new Set(table.runs)
      rest = without(rest, used)
    }
  }
  const seen: Drawn = sideways ? { level: [], upright: [], stripes: [] } : drawn
  for (const region of regionsOf(rest)) {
    for (const block of joinParts(blocksOf(region), seen).flatMap(besideEachOther)) {
      const draft = draftOf(block, seen)
      if (draft === undefined || !isTable(draft, seen, isNamed(draft))) continue
      tables.push(finished(draft, runs))
    }
  }
  return tables
}

function sidewaysFree(grids: readonly Grid[]): Grid['upright'] {
  return grids.flatMap((grid) => grid.upright)
}

function without(rows: readonly Row[], used: ReadonlySet<number>): Row[] {
  return rows.flatMap((row) => {
    const segments = row.segments.filter((one) => !one.runs.some((run) => used.has(run)))
    return segments.length === 0 ? [] : [{ ...row, segments }]
  })
}

function ruledTable(grid: Grid, rows: readonly Row[], runs: readonly TextRun[]): FoundTable | undefined {
  const [left = 0, right = 0] = [grid.xs[0], grid.xs.at(-1)]
  const [top = 0, bottom = 0] = [grid.ys[0], grid.ys.at(-1)]
  const inside = (one: Segment): boolean =>
    one.y < top && one.y > bottom - 1 && one.left > left - 4 && (one.left + one.right) / 2 < right
  const segments = rows.flatMap((row) => row.segments.filter(inside))
  if (hasRowsWithin(grid, segments)) return undefined
  const filled = fillGrid(grid, segments)
  const cells = filled.rows.flatMap((row) => row.filter((cell) => cell !== ''))
  const length = cells.reduce((sum, cell) => sum + cell.length, 0)
  const wide = filled.rows.filter((row) => row.filter((cell) => cell !== '').length >= 2)
  if (wide.length < 2 || cells.length < 4 || length > MAX_CELL * cells.length) return undefined
  const above = rows.filter((row) => row.y >= top && row.segments.some((one) => one.right > left && one.left < right))
  const below = rows.filter(
    (row) => row.y <= bottom && row.segments.some((one) => one.right > left && one.left < right),
  )
  const caption = captionOf({ above: above.slice(-6), below: below.slice(0, 4), top, bottom })
  return {
    ...withoutEmpty(filled.rows, filled.spans),
    ...(caption === undefined ? {} : { caption }),
    columns: grid.xs.slice(1).map((x, index) => ({ left: grid.xs[index] ?? 0, right: x, support: 1, numeric: false })),
    box: boxOf(runs, filled.used),
    size: segments[0]?.size ?? 10,
    runs: filled.used.flatMap((one) => one.runs),
  }
}

/** Whether the rules of a grid separate its columns but not its rows, so that several rows are between two rules. */
function hasRowsWithin(grid: Grid, segments: readonly Segment[]): boolean {
  if (grid.ys.length - 1 > FEW_BANDS) return false
  return grid.ys.slice(1).some((bottom, index) => {
    const top = grid.ys[index] ?? 0
    const counts = new Map<number, number>()
    for (const one of segments) {
      if (one.y >= top || one.y < bottom || one.text.split(' ').length > 8) continue
      const line = Math.round(one.y)
      counts.set(line, (counts.get(line) ?? 0) + 1)
    }
    return [...counts.values()].filter((count) => count >= 2).length >= SHARED_LINES
  })
}

/** Removes empty rows and columns of a grid and detects its headers. */
function withoutEmpty(
  rows: readonly string[][],
  spans: FoundTable['spans'],
): Pick<FoundTable, 'rows' | 'spans' | 'headerRows' | 'headColumns'> {
  const width = rows[0]?.length ?? 0
  const columns = Array.from({ length: width }, (_, column) => column).filter((c) => rows.some((row) => row[c] !== ''))
  const kept = rows.flatMap((row, index) => (row.some((cell) => cell !== '') ? [index] : []))
  const tidy = kept.map((index) => columns.map((column) => rows[index]?.[column] ?? ''))
  const inside = (from: number, count: number, of: readonly number[]): number =>
    of.filter((at) => at >= from && at < from + count).length
  const left = spans.flatMap((span) => {
    const row = kept.indexOf(span.row)
    const column = columns.indexOf(span.column)
    const own = {
      row,
      column,
      rows: inside(span.row, span.rows, kept),
      columns: inside(span.column, span.columns, columns),
    }
    return row === -1 || column === -1 || own.rows * own.columns <= 1 ? [] : [own]
  })
  return { rows: tidy, spans: left, ...headsOf(tidy, left) }
}

function finished(draft: Draft, runs: readonly TextRun[]): FoundTable {
  const rows: string[][] = []
  const spans: FoundTable['spans'] = []
  for (const [index, line] of draft.lines.entries()) {
    const row = new Array<string>(draft.columns.length).fill('')
    for (const cell of line.cells) {
      row[cell.from] = cell.text
      if (cell.to > cell.from) spans.push({ row: index, column: cell.from, rows: 1, columns: cell.to - cell.from + 1 })
    }
    rows.push(row)
  }
  const segments = draft.used.flatMap((row) => row.segments)
  const top = draft.used[0]?.y ?? 0
  const bottom = draft.used.at(-1)?.y ?? 0
  const caption = captionOf({ above: draft.above, below: draft.below, top, bottom })
  return {
    rows,
    headerRows: draft.headerRows,
    headColumns: headColumnsOf(draft),
    spans,
    ...(caption === undefined ? {} : { caption }),
    columns: draft.columns,
    box: boxOf(runs, segments),
    size: draft.lines[0]?.size ?? 10,
    runs: segments.flatMap((one) => one.runs),
  }
}

/**
 * Counts the columns that name rows. Normally the first one; when it only names groups of rows, all columns up to the
 * first full one.
 */
function headColumnsOf({ lines, headerRows, columns, stub }: Draft): number {
  if (stub === 0) return headerRows > 0 && columns.length > 1 ? 1 : 0
  const body = lines.slice(headerRows).filter((line) => line.cells.some((cell) => cell.from >= stub))
  for (let column = 0; column < stub - 1; column++) {
    const filled = body.filter((line) => line.cells.some((cell) => cell.from <= column && column <= cell.to))
    if (filled.length > FULL_COLUMN * body.length) return column + 1
  }
  return stub
}

/** The area of runs on the page, in whichever direction they are set. */
function boxOf(runs: readonly TextRun[], segments: readonly Segment[]): FoundTable['box'] {
  const box = { left: Infinity, right: -Infinity, top: -Infinity, bottom: Infinity }
  for (const index of segments.flatMap((one) => one.runs)) {
    const run = runs[index]
    if (run === undefined) continue
    const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = run.transform
    const along = Math.hypot(a, b) || 1
    const corners = [0, run.width / along].flatMap((t) =>
      [-0.2, 0.8].map((u) => [e + a * t + c * u, f + b * t + d * u] as const),
    )
    for (const [x, y] of corners) {
      box.left = Math.min(box.left, x)
      box.right = Math.max(box.right, x)
      box.bottom = Math.min(box.bottom, y)
      box.top = Math.max(box.top, y)
    }
  }
  return box
}
