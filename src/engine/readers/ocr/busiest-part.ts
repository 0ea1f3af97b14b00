import { cropBitmap } from '../picture/transform.js'
import type { Bitmap } from '../render/bitmap.js'

const CELL_PX = 64
/** Difference in grey between neighbouring pixels that counts as an edge, as letters have them. */
const MIN_EDGE_CONTRAST = 64

/**
 * Finds the part of a grey picture with the most edges, the likeliest place of text.
 *
 * @param side width and height of the part in pixels; a picture that is not much larger is returned unchanged
 */
export function findBusiestPart(bitmap: Bitmap, side: number): Bitmap {
  const { width, height } = bitmap
  if (width <= side * 1.5 && height <= side * 1.5) return bitmap
  const columns = Math.ceil(width / CELL_PX)
  const rows = Math.ceil(height / CELL_PX)
  const edges = countEdges(bitmap, columns, rows)
  const across = Math.min(columns, Math.ceil(side / CELL_PX))
  const down = Math.min(rows, Math.ceil(side / CELL_PX))
  let best = { column: (columns - across) >> 1, row: (rows - down) >> 1, sum: 0 }
  for (let row = 0; row + down <= rows; row++) {
    for (let column = 0; column + across <= columns; column++) {
      let sum = 0
      for (let y = row; y < row + down; y++) {
        for (let x = column; x < column + across; x++) sum += edges[y * columns + x] ?? 0
      }
      if (sum > best.sum) best = { column, row, sum }
    }
  }
  const left = best.column * CELL_PX
  const top = best.row * CELL_PX
  return cropBitmap(bitmap, {
    left,
    top,
    width: Math.min(across * CELL_PX, width - left),
    height: Math.min(down * CELL_PX, height - top),
  })
}

/** Counts edges in each cell, on every second row of pixels. */
function countEdges({ width, height, data }: Bitmap, columns: number, rows: number): Uint32Array {
  const edges = new Uint32Array(columns * rows)
  for (let y = 0; y < height; y += 2) {
    const cells = Math.floor(y / CELL_PX) * columns
    const from = y * width
    for (let x = 1; x < width; x++) {
      if (Math.abs((data[from + x] ?? 0) - (data[from + x - 1] ?? 0)) < MIN_EDGE_CONTRAST) continue
      const cell = cells + Math.floor(x / CELL_PX)
      edges[cell] = (edges[cell] ?? 0) + 1
    }
  }
  return edges
}
