import { detectHeads } from '../tables/heads.js'
import type { FoundTable } from './found-table.js'
import type { TextRun } from './pdf-lines.js'
import { createDraft, type TableDraft } from './table-build.js'
import { findTableCaption } from './table-captions.js'
import { joinContinuedBlocks } from './table-continuation.js'
import { isTable } from './table-judge.js'
import { findBlocks, splitRegions } from './table-regions.js'
import { fillGrid, findGrids, hasSharedColumns, type RuledGrid, splitBands, trimGrid } from './table-ruled.js'
import type { PageDrawings } from './table-rules.js'
import { splitSideBySide } from './table-side-by-side.js'
import { buildRows, type SegmentRow, type TextSegment } from './table-words.js'

/** A page with more runs of text is a drawing; its tables are not detected. */
const MAX_RUNS = 60_000
/** Maximal mean length of ruled cells, in characters; longer content is framed text. */
const MAX_MEAN_CELL_LENGTH = 400
/** A column that names every row is filled in at least this fraction of the rows. */
const MIN_FULL_FRACTION = 0.7
/**
 * In a grid of few rows, text lines that cover several columns are separate rows: minimal number of such lines, and
 * maximal number of rows.
 */
const MIN_SHARED_LINES = 3
const MAX_BANDS = 3

/** Whether rows of a page are in columns, so that reading its drawings is worth the cost. */
export function mayContainTables(runs: readonly TextRun[]): boolean {
  if (runs.length > MAX_RUNS) return false
  const { rows } = buildRows(runs, [])
  return splitRegions(rows).some((region) => findBlocks(region).some((block) => block.rows.length >= 2))
}

/** Finds the tables of a page, ruled ones first. */
export function findTables(runs: readonly TextRun[], drawn: PageDrawings): FoundTable[] {
  if (runs.length > MAX_RUNS) return []
  const grids = findGrids(drawn)
  const { rows, sideways } = buildRows(
    runs,
    grids.flatMap((grid) => grid.upright),
  )
  const tables: FoundTable[] = []
  let rest = rows
  if (!sideways) {
    for (const grid of grids) {
      const table = buildRuledTable(grid, rest, runs)
      if (table === undefined) continue
      tables.push(table)
      rest = removeUsed(rest, new Set(table.runs))
    }
  }
  const usedDrawings: PageDrawings = sideways ? { level: [], upright: [], stripes: [] } : drawn
  for (const region of splitRegions(rest)) {
    for (const block of joinContinuedBlocks(findBlocks(region), usedDrawings).flatMap(splitSideBySide)) {
      const draft = createDraft(block, usedDrawings)
      if (draft === undefined || !isTable(draft, usedDrawings)) continue
      tables.push(toFoundTable(draft, runs))
    }
  }
  return tables
}

function removeUsed(rows: readonly SegmentRow[], used: ReadonlySet<number>): SegmentRow[] {
  return rows.flatMap((row) => {
    const segments = row.segments.filter((one) => !one.runs.some((run) => used.has(run)))
    return segments.length === 0 ? [] : [{ ...row, segments }]
  })
}

function buildRuledTable(
  drawn: RuledGrid,
  rows: readonly SegmentRow[],
  runs: readonly TextRun[],
): FoundTable | undefined {
  const framed = selectInside(drawn, rows)
  const trimmed = trimGrid(drawn, framed)
  const segments = selectInside(trimmed, rows)
  const grid = splitBands(trimmed, segments)
  if (hasRowsWithinBands(grid, segments) || hasSharedColumns(grid, segments)) return undefined
  const [left = 0, right = 0] = [grid.xs[0], grid.xs.at(-1)]
  const [top = 0, bottom = 0] = [grid.ys[0], grid.ys.at(-1)]
  const filled = fillGrid(grid, segments)
  const cells = filled.rows.flatMap((row) => row.filter((cell) => cell !== ''))
  const length = cells.reduce((sum, cell) => sum + cell.length, 0)
  const rowsWithCells = filled.rows.filter((row) => row.filter((cell) => cell !== '').length >= 2)
  if (rowsWithCells.length < 2 || cells.length < 4 || length > MAX_MEAN_CELL_LENGTH * cells.length) return undefined
  const above = rows.filter((row) => row.y >= top && row.segments.some((one) => one.right > left && one.left < right))
  const below = rows.filter(
    (row) => row.y <= bottom && row.segments.some((one) => one.right > left && one.left < right),
  )
  const caption = findTableCaption({ above: above.slice(-6), below: below.slice(0, 4), top, bottom })
  return {
    ...removeEmpty(filled.rows, filled.spans),
    ...(caption === undefined ? {} : { caption }),
    columns: grid.xs.slice(1).map((x, index) => ({ left: grid.xs[index] ?? 0, right: x, support: 1, numeric: false })),
    box: computeBox(runs, filled.used),
    size: segments[0]?.size ?? 10,
    runs: filled.used.flatMap((one) => one.runs),
  }
}

function selectInside({ xs, ys }: RuledGrid, rows: readonly SegmentRow[]): TextSegment[] {
  const [left = 0, right = 0] = [xs[0], xs.at(-1)]
  const [top = 0, bottom = 0] = [ys[0], ys.at(-1)]
  const isInside = (one: TextSegment): boolean =>
    one.y < top && one.y > bottom - 1 && one.left > left - 4 && (one.left + one.right) / 2 < right
  return rows.flatMap((row) => row.segments.filter(isInside))
}

/** Whether the rules of a grid separate its columns but not its rows, so that several rows are between two rules. */
function hasRowsWithinBands(grid: RuledGrid, segments: readonly TextSegment[]): boolean {
  if (grid.ys.length - 1 > MAX_BANDS) return false
  return grid.ys.slice(1).some((bottom, index) => {
    const top = grid.ys[index] ?? 0
    const counts = new Map<number, number>()
    for (const one of segments) {
      if (one.y >= top || one.y < bottom || one.text.split(' ').length > 8) continue
      const line = Math.round(one.y)
      counts.set(line, (counts.get(line) ?? 0) + 1)
    }
    return [...counts.values()].filter((count) => count >= 2).length >= MIN_SHARED_LINES
  })
}

/** Removes empty rows and columns of a grid and detects its headers. */
function removeEmpty(
  rows: readonly string[][],
  spans: FoundTable['spans'],
): Pick<FoundTable, 'rows' | 'spans' | 'headerRows' | 'headColumns'> {
  const width = rows[0]?.length ?? 0
  const columns = Array.from({ length: width }, (_, column) => column).filter((c) => rows.some((row) => row[c] !== ''))
  const keptRowIndexes = rows.flatMap((row, index) => (row.some((cell) => cell !== '') ? [index] : []))
  const keptRows = keptRowIndexes.map((index) => columns.map((column) => rows[index]?.[column] ?? ''))
  const countInside = (start: number, count: number, indexes: readonly number[]): number =>
    indexes.filter((at) => at >= start && at < start + count).length
  const keptSpans = spans.flatMap((span) => {
    const row = keptRowIndexes.indexOf(span.row)
    const column = columns.indexOf(span.column)
    const keptSpan = {
      row,
      column,
      rows: countInside(span.row, span.rows, keptRowIndexes),
      columns: countInside(span.column, span.columns, columns),
    }
    return row === -1 || column === -1 || keptSpan.rows * keptSpan.columns <= 1 ? [] : [keptSpan]
  })
  return { rows: keptRows, spans: keptSpans, ...detectHeads(keptRows, keptSpans) }
}

function toFoundTable(draft: TableDraft, runs: readonly TextRun[]): FoundTable {
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
  const caption = findTableCaption({ above: draft.above, below: draft.below, top, bottom })
  return {
    rows,
    headerRows: draft.headerRows,
    headColumns: countHeadColumns(draft),
    spans,
    ...(caption === undefined ? {} : { caption }),
    columns: draft.columns,
    box: computeBox(runs, segments),
    size: draft.lines[0]?.size ?? 10,
    runs: segments.flatMap((one) => one.runs),
  }
}

/**
 * Counts the columns that name rows. Normally the first one; when it only names groups of rows, all columns up to the
 * first full one.
 */
function countHeadColumns({ lines, headerRows, columns, stub }: TableDraft): number {
  if (stub === 0) return headerRows > 0 && columns.length > 1 ? 1 : 0
  const body = lines.slice(headerRows).filter((line) => line.cells.some((cell) => cell.from >= stub))
  for (let column = 0; column < stub - 1; column++) {
    const filled = body.filter((line) => line.cells.some((cell) => cell.from <= column && column <= cell.to))
    if (filled.length > MIN_FULL_FRACTION * body.length) return column + 1
  }
  return stub
}

/** The area of runs on the page, in whichever direction they are set. */
function computeBox(runs: readonly TextRun[], segments: readonly TextSegment[]): FoundTable['box'] {
  const box = { left: Infinity, right: -Infinity, top: -Infinity, bottom: Infinity }
  for (const index of segments.flatMap((one) => one.runs)) {
    const run = runs[index]
    if (run === undefined) continue
    const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = run.transform
    const length = Math.hypot(a, b) || 1
    const corners = [0, run.width / length].flatMap((t) =>
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
