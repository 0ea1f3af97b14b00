/**
 * A picture in memory: rows from the top, without gaps. Grey has one byte a pixel; colour has four (red, green, blue,
 * alpha).
 */
export interface Bitmap {
  width: number
  height: number
  channels: 1 | 4
  data: Uint8Array
}

/** Maximal number of pixels of a bitmap: a sheet of A4 at 400 dpi. */
export const MAX_PIXELS = 16_000_000
