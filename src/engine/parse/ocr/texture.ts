import type { Bitmap } from '../render/bitmap.js'

/**
 * Changes between dark and light from a pixel to the next, across and down, as shares of all pixels. Pages of small print
 * have up to a quarter of both together; weaves, scales, screens and noise have more, and reading one takes minutes.
 */
const MOST_CHANGES = 0.5

/** Whether a picture in grey is of a pattern so fine that no letters can be in it. */
export function isTexture({ width, height, channels, data }: Bitmap): boolean {
  if (channels !== 1 || width < 2 || height < 2) return false
  let sum = 0
  for (let at = 0; at < width * height; at++) sum += data[at] ?? 0
  const mean = sum / (width * height)
  let changes = 0
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * width + x
      const isLight = (data[at] ?? 0) > mean
      if (x > 0 && (data[at - 1] ?? 0) > mean !== isLight) changes++
      if (y > 0 && (data[at - width] ?? 0) > mean !== isLight) changes++
    }
  }
  return changes > width * height * MOST_CHANGES
}
