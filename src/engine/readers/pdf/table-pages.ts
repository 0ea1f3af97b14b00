import { getResolvedPDFJS } from 'unpdf'
import { roundToTenths } from '../render/points.js'
import type { FoundTable } from './found-table.js'
import type { PdfPage } from './pdf-blocks.js'
import type { PdfLine, TextRun } from './pdf-lines.js'
import { findTables, mayContainTables } from './table-find.js'
import { mirrorDrawings, NO_DRAWINGS, type PageDrawings, readDrawings } from './table-rules.js'

/** Reads the drawing operators of a page. */
type Operators = () => Promise<{ fnArray: unknown[]; argsArray: unknown[] }>

/** Maximal distance between the edges of matching columns, in points. */
const MAX_COLUMN_DISTANCE_PT = 14
/** Maximal number of lines between a table and the edge of its page: page numbers, running lines, notes on units. */
const EDGE_LINES = 4

/**
 * Finds the tables of a page. Its drawings are read only when its text is in columns: they cost as much as the text.
 *
 * @param isMirrored the runs are those of the page in a mirror
 */
export async function findPageTables(
  runs: readonly TextRun[],
  operators: Operators,
  isMirrored: boolean,
): Promise<FoundTable[]> {
  if (!mayContainTables(runs)) return []
  const drawings = await loadDrawings(operators)
  return findTables(runs, isMirrored ? mirrorDrawings(drawings) : drawings)
}

/** A page without readable operators still has its text. */
async function loadDrawings(operators: Operators): Promise<PageDrawings> {
  try {
    const { OPS } = await getResolvedPDFJS()
    return readDrawings(await operators(), OPS)
  } catch {
    return NO_DRAWINGS
  }
}

/** Converts an area to the page as it is shown, from its upper left corner; in points, rounded to a tenth. */
export function toShownBox(
  box: FoundTable['box'],
  toViewport: (x: number, y: number) => unknown,
): { x: number; y: number; width: number; height: number } {
  const [x1, y1] = toPoint(toViewport(box.left, box.top))
  const [x2, y2] = toPoint(toViewport(box.right, box.bottom))
  return {
    x: roundToTenths(Math.min(x1, x2)),
    y: roundToTenths(Math.min(y1, y2)),
    width: roundToTenths(Math.abs(x2 - x1)),
    height: roundToTenths(Math.abs(y2 - y1)),
  }
}

function toPoint(value: unknown): [number, number] {
  const [x, y]: unknown[] = Array.isArray(value) ? value : []
  return [typeof x === 'number' && Number.isFinite(x) ? x : 0, typeof y === 'number' && Number.isFinite(y) ? y : 0]
}

/**
 * Links tables that continue over a page break as parts of one table: the last table of a page and the first of the
 * next, with only running lines between them, equal columns, and equal or missing headers. Each part stays on its page;
 * missing headers are copied to it.
 */
export function joinTablesAcrossPages(pages: readonly PdfPage[]): void {
  let chain: FoundTable[] = []
  const closeChain = (): void => {
    if (chain.length > 1)
      for (const [index, found] of chain.entries()) found.part = { part: index + 1, parts: chain.length }
    chain = []
  }
  for (const [index, page] of pages.entries()) {
    const first = findEdgeTable(page.lines, 'start')
    const previousPage = pages[index - 1]
    const last = chain.at(-1)
    const isAdjacent = previousPage !== undefined && page.number === previousPage.number + 1
    if (isAdjacent && last !== undefined && first !== undefined && continuesTable(last, first)) {
      chain.push(first)
      inheritHeaders(first, last)
    } else {
      closeChain()
    }
    const lastTable = findEdgeTable(page.lines, 'end')
    if (lastTable !== undefined && lastTable !== chain.at(-1)) {
      closeChain()
      chain = [lastTable]
    } else if (lastTable === undefined) closeChain()
  }
  closeChain()
}

/** The table at the start or end of a page; only short lines may be between it and the edge. */
function findEdgeTable(lines: readonly PdfLine[], edge: 'start' | 'end'): FoundTable | undefined {
  const edgeLines = edge === 'end' ? [...lines.slice(-EDGE_LINES - 1)].reverse() : lines.slice(0, EDGE_LINES + 1)
  for (const { table, text } of edgeLines) {
    if (table !== undefined) return table.found
    if (text.split(' ').length > 14) return undefined
  }
  return undefined
}

function continuesTable(last: FoundTable, next: FoundTable): boolean {
  if (last.columns.length !== next.columns.length) return false
  const differing = last.columns.filter((column, index) => {
    const other = next.columns[index]
    if (other === undefined) return true
    return Math.min(Math.abs(column.left - other.left), Math.abs(column.right - other.right)) > MAX_COLUMN_DISTANCE_PT
  })
  if (differing.length > 0.2 * last.columns.length) return false
  return next.headerRows === 0 || toHeaderKey(last) === toHeaderKey(next)
}

function toHeaderKey(found: FoundTable): string {
  return JSON.stringify(found.rows.slice(0, found.headerRows))
}

function inheritHeaders(next: FoundTable, last: FoundTable): void {
  if (next.caption === undefined && last.caption !== undefined) next.caption = last.caption
  if (next.headerRows > 0 || last.headerRows === 0) return
  const headers = last.rows.slice(0, last.headerRows)
  next.rows = [...headers.map((row) => [...row]), ...next.rows]
  const shifted = next.spans.map((span) => ({ ...span, row: span.row + headers.length }))
  next.spans = [...last.spans.filter((span) => span.row < headers.length), ...shifted]
  next.headerRows = last.headerRows
  next.headColumns = last.headColumns
}
