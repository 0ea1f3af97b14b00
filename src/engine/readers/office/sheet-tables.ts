import { isNumeric } from '../tables/figures.js'

/** The filled cells of one row, by column. */
export type SheetRow = ReadonlyMap<number, string>

/** Consecutive filled cells of a row. */
interface CellRun {
  row: number
  first: number
  last: number
  /** run that represents all runs that touch each other */
  parent: CellRun | undefined
}

/** Cells that touch each other: rows by their index. */
interface CellGroup {
  firstRow: number
  rows: Map<number, Map<number, string>>
}

/** More groups are scattered cells, not tables. */
const MAX_GROUPS = 20

/**
 * Splits rows that contain several tables next to each other. Cells that touch at a side belong together. Groups of
 * cells are separate tables when each has a row of names, at different heights: an empty column alone may separate the
 * columns of one table.
 */
export function splitTables(rows: SheetRow[]): SheetRow[][] {
  const runs = joinRuns(rows)
  const groups = runs === undefined ? undefined : groupCells(rows, runs)
  if (groups === undefined || groups.length < 2) return [rows]
  const heights = new Set(groups.map(({ firstRow }) => firstRow))
  if (heights.size < groups.length || !groups.every(hasNames)) return [rows]
  return groups.map((group) => [...group.rows.values()])
}

/** The runs of all rows, those that touch joined; undefined when all belong together. */
function joinRuns(rows: readonly SheetRow[]): CellRun[] | undefined {
  const all: CellRun[] = []
  let above: CellRun[] = []
  for (const [row, cells] of rows.entries()) {
    const runs = listRuns(cells, row)
    let index = 0
    for (const run of runs) {
      while (index < above.length && (above[index]?.last ?? 0) < run.first) index++
      for (let next = index; next < above.length; next++) {
        const upper = above[next]
        if (upper === undefined || upper.first > run.last) break
        const [root, upperRoot] = [findRoot(run), findRoot(upper)]
        if (root !== upperRoot) root.parent = upperRoot
      }
      all.push(run)
    }
    above = runs
  }
  const first = all[0]
  return first === undefined || all.every((run) => findRoot(run) === findRoot(first)) ? undefined : all
}

function listRuns(cells: SheetRow, row: number): CellRun[] {
  const runs: CellRun[] = []
  let run: CellRun | undefined
  for (const column of [...cells.keys()].sort((a, b) => a - b)) {
    if (run?.last === column - 1) run.last = column
    else {
      run = { row, first: column, last: column, parent: undefined }
      runs.push(run)
    }
  }
  return runs
}

/** Shortens the way to the root for the next search. */
function findRoot(run: CellRun): CellRun {
  let root = run
  while (root.parent !== undefined) {
    if (root.parent.parent !== undefined) root.parent = root.parent.parent
    root = root.parent
  }
  return root
}

/** The groups in the order of their first rows; undefined when there are too many. */
function groupCells(rows: readonly SheetRow[], runs: readonly CellRun[]): CellGroup[] | undefined {
  const groups = new Map<CellRun, CellGroup>()
  for (const run of runs) {
    const root = findRoot(run)
    const group = groups.get(root) ?? { firstRow: run.row, rows: new Map<number, Map<number, string>>() }
    groups.set(root, group)
    if (groups.size > MAX_GROUPS) return undefined
    const cells = group.rows.get(run.row) ?? new Map<number, string>()
    group.rows.set(run.row, cells)
    for (let column = run.first; column <= run.last; column++) {
      const text = rows[run.row]?.get(column)
      if (text !== undefined) cells.set(column, text)
    }
  }
  return [...groups.values()]
}

/** Whether several rows begin with one of at least two names. */
function hasNames({ rows }: CellGroup): boolean {
  const [first] = rows.values()
  return rows.size > 1 && first !== undefined && first.size > 1 && ![...first.values()].some(isNumeric)
}
