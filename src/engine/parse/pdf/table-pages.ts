import { getResolvedPDFJS } from 'unpdf'
import type { FoundTable } from './found-table.js'
import type { PdfPage } from './pdf-blocks.js'
import type { PdfLine, TextRun } from './pdf-lines.js'
import { findTables, mayHoldTables } from './table-find.js'
import { type Drawn, drawnOn, NOTHING_DRAWN } from './table-rules.js'

/** Reads the drawing operators of a page. */
type Operators = () => Promise<{ fnArray: unknown[]; argsArray: unknown[] }>

/** Maximal distance between the edges of matching columns, in points. */
const SAME_COLUMN = 14
/** Maximal number of lines between a table and the edge of its page: page numbers, running lines, notes on units. */
const EDGE_LINES = 4

/**
 * Finds the tables of a page. Its drawings are read only when its text is in columns: they cost as much as the text.
 */
export async function tablesOf(runs: readonly TextRun[], operators: Operators): Promise<FoundTable[]> {
  if (!mayHoldTables(runs)) return []
  return findTables(runs, await drawn(operators))
}

/** A page without readable operators still has its text. */
async function drawn(operators: Operators): Promise<Drawn> {
  try {
    const { OPS } = await getResolvedPDFJS()
    return drawnOn(await operators(), OPS)
  } catch {
    return NOTHING_DRAWN
  }
}

/** Converts an area to the page as it is shown, from its upper left corner; in points, rounded to a tenth. */
export function shownBox(
  box: FoundTable['box'],
  place: (x: number, y: number) => unknown,
): { x: number; y: number; width: number; height: number } {
  const [x1, y1] = pointOf(place(box.left, box.top))
  const [x2, y2] = pointOf(place(box.right, box.bottom))
  const tenth = (value: number): number => Math.round(value * 10) / 10
  return {
    x: tenth(Math.min(x1, x2)),
    y: tenth(Math.min(y1, y2)),
    width: tenth(Math.abs(x2 - x1)),
    height: tenth(Math.abs(y2 - y1)),
  }
}

function pointOf(value: unknown): [number, number] {
  const [x, y]: unknown[] = Array.isArray(value) ? value : []
  return [typeof x === 'number' && Number.isFinite(x) ? x : 0, typeof y === 'number' && Number.isFinite(y) ? y : 0]
}

/**
 * Links tables that continue over a page break as parts of one table: the last table of a page and the first of the
 * next, with only running lines between them, equal columns, and equal or missing headers. Each part stays on its page;
 * missing headers are copied to it.
 */
export function joinOverPages(pages: readonly PdfPage[]): void {
  let chain: FoundTable[] = []
  const close = (): void => {
    if (chain.length > 1)
      for (const [index, found] of chain.entries()) found.part = { part: index + 1, parts: chain.length }
    chain = []
  }
  for (const [index, page] of pages.entries()) {
    const first = edgeTable(page.lines, false)
    const before = pages[index - 1]
    const last = chain.at(-1)
    const near = before !== undefined && page.number === before.number + 1
    if (near && last !== undefined && first !== undefined && goesOn(last, first)) {
      chain.push(first)
      takeHeads(first, last)
    } else {
      close()
    }
    const end = edgeTable(page.lines, true)
    if (end !== undefined && end !== chain.at(-1)) {
      close()
      chain = [end]
    } else if (end === undefined) close()
  }
  close()
}

function edgeTable(lines: readonly PdfLine[], fromEnd: boolean): FoundTable | undefined {
  const edge = fromEnd ? [...lines.slice(-EDGE_LINES - 1)].reverse() : lines.slice(0, EDGE_LINES + 1)
  for (const { table, text } of edge) {
    if (table !== undefined) return table.found
    if (text.split(' ').length > 14) return undefined
  }
  return undefined
}

function goesOn(last: FoundTable, next: FoundTable): boolean {
  if (last.columns.length !== next.columns.length) return false
  const apart = last.columns.filter((column, index) => {
    const other = next.columns[index]
    if (other === undefined) return true
    return Math.min(Math.abs(column.left - other.left), Math.abs(column.right - other.right)) > SAME_COLUMN
  })
  if (apart.length > 0.2 * last.columns.length) return false
  return next.headerRows === 0 || headText(last) === headText(next)
}

function headText(found: FoundTable): string {
  return JSON.stringify(found.rows.slice(0, found.headerRows))
}

function takeHeads(next: FoundTable, last: FoundTable): void {
  if (next.caption === undefined && last.caption !== undefined) next.caption = last.caption
  if (next.headerRows > 0 || last.headerRows === 0) return
  const heads = last.rows.slice(0, last.headerRows)
  next.rows = [...heads.map((row) => [...row]), ...next.rows]
  const shifted = next.spans.map((span) => ({ ...span, row: span.row + heads.length }))
  next.spans = [...last.spans.filter((span) => span.row < heads.length), ...shifted]
  next.headerRows = last.headerRows
  next.headColumns = last.headColumns
}
