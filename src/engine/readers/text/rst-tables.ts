import type { CellSpan } from '../tables/cells.js'

/** A cell of a table in source form: its lines, its position in the grid and how much of the grid it covers. */
export interface RstCell {
  row: number
  column: number
  rows: number
  columns: number
  lines: string[]
}

export interface RstTable {
  cells: RstCell[]
  rowCount: number
  headerRows: number
  /** number of source lines */
  length: number
}

const GRID_TOP = /^\+-[-+]+-\+\s*$/
const GRID_HEAD = /^\+=[=+]+=\+\s*$/
const SIMPLE_BORDER = /^=+(?: +=+)+\s*$/
const SIMPLE_HEAD = /^=[= ]*$/
const SPAN_LINE = /^-[- ]*$/
/** Follows each character of double width, so that offsets are columns. */
const WIDTH_PAD = '\0'
const DOUBLE_WIDTH =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]/g
/** Largest grid, in base cells. */
const MAX_GRID_CELLS = 1_000_000

/** Whether a line may be the top border of a table. */
export function isTableTop(line: string): boolean {
  return GRID_TOP.test(line) || SIMPLE_BORDER.test(line)
}

/**
 * Reads the table that starts at a line (reStructuredText Markup Specification, "Grid Tables" and "Simple Tables").
 * Undefined where the borders do not fit together.
 */
export function readRstTable(lines: readonly string[], start: number): RstTable | undefined {
  return GRID_TOP.test(lines[start] ?? '') ? readGridTable(lines, start) : readSimpleTable(lines, start)
}

function padWidth(line: string): string {
  return line.replace(DOUBLE_WIDTH, `$&${WIDTH_PAD}`)
}

/** The columns of some lines without the pads, the common indentation and blank lines at the ends. */
function cutLines(lines: readonly string[], left: number, right?: number): string[] {
  const cut = lines.map((line) => line.slice(left, right).replaceAll(WIDTH_PAD, '').trimEnd())
  const indents = cut.filter((line) => line !== '').map((line) => line.length - line.trimStart().length)
  const indent = indents.reduce((min, value) => Math.min(min, value), Number.POSITIVE_INFINITY)
  return indents.length === 0 ? [] : cut.map((line) => line.slice(indent))
}

function readGridTable(lines: readonly string[], start: number): RstTable | undefined {
  const block: string[] = []
  for (let line = lines[start + block.length]; line !== undefined && /^[+|]/.test(line); ) {
    block.push(padWidth(line).trimEnd())
    line = lines[start + block.length]
  }
  while (block.length > 2 && !GRID_TOP.test(block.at(-1) ?? '')) block.pop()
  const width = block[0]?.length ?? 0
  if (block.length < 3 || block.some((line) => line.length !== width || !/[+|]$/.test(line))) return undefined
  const headLine = block.findIndex((line) => GRID_HEAD.test(line))
  if (headLine !== -1) block[headLine] = (block[headLine] ?? '').replaceAll('=', '-')
  const borders = findBorders(block)
  if ((borders.rows.length - 1) * (borders.columns.length - 1) > MAX_GRID_CELLS) return undefined
  const cells = findGridCells(block, borders)
  if (cells === undefined) return undefined
  return {
    cells,
    rowCount: borders.rows.length - 1,
    headerRows: Math.max(0, borders.rows.indexOf(headLine)),
    length: block.length,
  }
}

/** A border from one `+` to another, in one line or in one column of characters. */
interface BorderSegment {
  /** index of its line or column */
  fixed: number
  start: number
  end: number
}

interface GridBorders {
  /** lines and columns of characters with borders, in order */
  rows: number[]
  columns: number[]
  /** whether a border is to the right of the line and column, or below it */
  isHorizontal(line: number, column: number): boolean
  isVertical(line: number, column: number): boolean
}

/** The borders that are connected with the frame: drawings in cells are text. */
function findBorders(block: readonly string[]): GridBorders {
  const width = block[0]?.length ?? 0
  const horizontal = block.flatMap((line, fixed) =>
    findSegments((index) => line.charAt(index), width, { fixed, mark: '-' }),
  )
  const vertical: BorderSegment[] = []
  for (let fixed = 0; fixed < width; fixed++)
    vertical.push(...findSegments((index) => block[index]?.charAt(fixed) ?? '', block.length, { fixed, mark: '|' }))
  const byLine = groupSegments(horizontal)
  const byColumn = groupSegments(vertical)
  const pending = (byLine.get(0) ?? []).map((segment) => ({ segment, isLine: true }))
  const connected = new Set(pending.map(({ segment }) => segment))
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { segment, isLine } = next
    const crossing = isLine ? byColumn : byLine
    for (let offset = segment.start; offset <= segment.end; offset++) {
      const other = findSegment(crossing.get(offset), segment.fixed)
      if (other === undefined || connected.has(other)) continue
      connected.add(other)
      pending.push({ segment: other, isLine: !isLine })
    }
  }
  const covers = (segments: BorderSegment[] | undefined, offset: number): boolean => {
    const segment = findSegment(segments, offset)
    return segment !== undefined && segment.end > offset && connected.has(segment)
  }
  const listConnected = (groups: Map<number, BorderSegment[]>): number[] =>
    [...groups].filter(([, segments]) => segments.some((segment) => connected.has(segment))).map(([fixed]) => fixed)
  return {
    rows: listConnected(byLine),
    columns: listConnected(byColumn),
    isHorizontal: (line, column) => covers(byLine.get(line), column),
    isVertical: (line, column) => covers(byColumn.get(column), line),
  }
}

function findSegments(
  charAt: (index: number) => string,
  length: number,
  { fixed, mark }: { fixed: number; mark: string },
): BorderSegment[] {
  const segments: BorderSegment[] = []
  let start = -1
  let end = -1
  for (let index = 0; index <= length; index++) {
    const char = index < length ? charAt(index) : ''
    if (char === '+') {
      if (start === -1) start = index
      end = index
    } else if (char !== mark) {
      if (end > start) segments.push({ fixed, start, end })
      start = -1
      end = -1
    }
  }
  return segments
}

/** The segment of a line or column that contains an offset. */
function findSegment(segments: readonly BorderSegment[] = [], offset: number): BorderSegment | undefined {
  let low = 0
  let high = segments.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const segment = segments[middle]
    if (segment === undefined) return undefined
    if (segment.end < offset) low = middle + 1
    else if (segment.start > offset) high = middle - 1
    else return segment
  }
  return undefined
}

function groupSegments(segments: readonly BorderSegment[]): Map<number, BorderSegment[]> {
  const groups = new Map<number, BorderSegment[]>()
  for (const segment of segments) {
    const group = groups.get(segment.fixed)
    if (group === undefined) groups.set(segment.fixed, [segment])
    else group.push(segment)
  }
  return groups
}

/** Joins base cells without a border between them; undefined if the result is not made of rectangles. */
function findGridCells(block: readonly string[], borders: GridBorders): RstCell[] | undefined {
  const { rows, columns } = borders
  const cells: RstCell[] = []
  const taken = rows.map(() => new Array<boolean>(columns.length).fill(false))
  for (let row = 0; row < rows.length - 1; row++)
    for (let column = 0; column < columns.length - 1; column++) {
      if (taken[row]?.[column] === true) continue
      let right = column + 1
      while (right < columns.length - 1 && !borders.isVertical(rows[row] ?? 0, columns[right] ?? 0)) right++
      let bottom = row + 1
      while (bottom < rows.length - 1 && !borders.isHorizontal(rows[bottom] ?? 0, columns[column] ?? 0)) bottom++
      for (let y = row; y < bottom; y++)
        for (let x = column; x < right; x++) {
          const cellsOfRow = taken[y]
          if (cellsOfRow === undefined || cellsOfRow[x] === true) return undefined
          cellsOfRow[x] = true
        }
      const lines = block.slice((rows[row] ?? 0) + 1, rows[bottom])
      cells.push({
        row,
        column,
        rows: bottom - row,
        columns: right - column,
        lines: cutLines(lines, (columns[column] ?? 0) + 1, columns[right]),
      })
    }
  return cells
}

/** The columns of characters of a table, or of one of its rows with spans. */
type ColumnRange = readonly [start: number, end: number]

function readSimpleTable(lines: readonly string[], start: number): RstTable | undefined {
  const length = findSimpleEnd(lines, start)
  if (length === undefined) return undefined
  const block = lines.slice(start, start + length).map(padWidth)
  const columns = findColumns(block[0] ?? '', '=')
  const reader = new SimpleTableReader(columns)
  let headerRows = 0
  let first = 1
  let hasText = false
  for (let offset = 1; offset < block.length; offset++) {
    const line = block[offset] ?? ''
    const isBorder = SIMPLE_HEAD.test(line)
    if (isBorder || SPAN_LINE.test(line)) {
      const spans = findColumns(line, isBorder ? '=' : '-')
      // A border below a row that a line of spans has ended ends nothing.
      if (offset > first || !isBorder) if (!reader.addRow(block.slice(first, offset), spans)) return undefined
      if (isBorder && offset < block.length - 1) headerRows = reader.rowCount
      first = offset + 1
      hasText = false
    } else if (line.slice(columns[0]?.[0], columns[0]?.[1]).trim() !== '') {
      if (hasText && !reader.addRow(block.slice(first, offset), columns)) return undefined
      first = offset
      hasText = true
    } else if (!hasText) first = offset + 1
  }
  return { cells: reader.cells, rowCount: reader.rowCount, headerRows, length }
}

/** Number of lines up to the second border, or the first one before a blank line. */
function findSimpleEnd(lines: readonly string[], start: number): number | undefined {
  const width = (lines[start] ?? '').trimEnd().length
  let found = 0
  for (let index = start + 1; index < lines.length; index++) {
    const line = lines[index] ?? ''
    if (!SIMPLE_BORDER.test(line)) continue
    if (line.trimEnd().length !== width) return undefined
    found++
    if (found === 2 || (lines[index + 1] ?? '').trim() === '') return index - start + 1
  }
  return undefined
}

function findColumns(line: string, mark: string): ColumnRange[] {
  const runs = line.matchAll(mark === '=' ? /=+/g : /-+/g)
  return [...runs].map(({ index, 0: run }) => [index, index + run.length])
}

class SimpleTableReader {
  readonly cells: RstCell[] = []
  rowCount = 0
  readonly #columns: readonly ColumnRange[]

  constructor(columns: readonly ColumnRange[]) {
    this.#columns = columns
  }

  /** Adds a row; returns false if the table is malformed. */
  addRow(lines: readonly string[], ranges: readonly ColumnRange[]): boolean {
    let column = 0
    for (const [index, [left, right]] of ranges.entries()) {
      if (left !== this.#columns[column]?.[0]) return false
      const first = column
      while (column < this.#columns.length && this.#columns[column]?.[1] !== right) column++
      if (column === this.#columns.length) return false
      column++
      const next = ranges[index + 1]?.[0]
      if (next !== undefined && lines.some((line) => line.slice(right, next).replaceAll(WIDTH_PAD, '').trim() !== ''))
        return false
      this.cells.push({
        row: this.rowCount,
        column: first,
        rows: 1,
        columns: column - first,
        lines: cutLines(lines, left, next === undefined ? undefined : right),
      })
    }
    this.rowCount++
    return true
  }
}

/** Rows of texts and the spans of a table, for `buildTableBlocks`. @param toText the text of the lines of a cell */
export function fillTable(
  { cells, rowCount }: RstTable,
  toText: (lines: readonly string[]) => string,
): { rows: string[][]; spans: CellSpan[] } {
  const width = cells.reduce((max, cell) => Math.max(max, cell.column + cell.columns), 0)
  const rows = Array.from({ length: rowCount }, () => new Array<string>(width).fill(''))
  const spans: CellSpan[] = []
  for (const { lines, ...span } of cells) {
    const row = rows[span.row]
    if (row !== undefined) row[span.column] = toText(lines)
    if (span.rows > 1 || span.columns > 1) spans.push(span)
  }
  return { rows, spans }
}
