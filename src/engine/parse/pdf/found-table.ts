import type { Span } from '../tables/cells.js'

/** A column of a table: the stretch across the page that its cells take. */
export interface Column {
  left: number
  right: number
  /** cells that it was made of */
  support: number
  numeric: boolean
}

/** A table found on a page. Lengths in points, origin bottom left. */
export interface FoundTable {
  rows: string[][]
  headerRows: number
  /** columns at the left that name the rows */
  headColumns: number
  spans: Span[]
  caption?: string
  columns: Column[]
  box: { left: number; right: number; top: number; bottom: number }
  /** the same as it is shown: from the left and the upper edge of the page, however the page is turned */
  shown?: { x: number; y: number; width: number; height: number }
  /** its place among the parts of one table that goes over pages */
  part?: { part: number; parts: number }
  size: number
  /** of its words, in per cent, where they were read in a picture */
  confidence?: number
  /** places of its runs among those of the page */
  runs: number[]
}
