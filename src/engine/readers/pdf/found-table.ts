import type { CellSpan } from '../tables/cells.js'

/** A column of a table: the horizontal range of its cells. */
export interface TableColumn {
  left: number
  right: number
  /** Number of cells from which it was derived. */
  support: number
  numeric: boolean
}

/** A table found on a page. Lengths in points, origin bottom left. */
export interface FoundTable {
  rows: string[][]
  headerRows: number
  /** Number of columns at the left that name the rows. */
  headColumns: number
  spans: CellSpan[]
  caption?: string
  columns: TableColumn[]
  box: { left: number; right: number; top: number; bottom: number }
  /** The box as it is shown: from the left and upper edge of the page, after rotation. */
  shown?: { x: number; y: number; width: number; height: number }
  /** Its number among the parts of a table that spans pages. */
  part?: { part: number; parts: number }
  size: number
  /** Confidence of its words in percent, when they were recognised in a picture. */
  confidence?: number
  /** Indexes of its runs among those of the page. */
  runs: number[]
}
