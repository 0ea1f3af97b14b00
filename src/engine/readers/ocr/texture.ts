import type { Bitmap } from '../render/bitmap.js'

/**
 * Changes between dark and light from one pixel to the next, across and down, as a fraction of all pixels. Pages of
 * small print have up to a quarter. Weaves, scales, screens and noise have more, and OCR of one takes minutes.
 */
const MAX_CHANGE_FRACTION = 0.5

/** Whether a grey picture is a pattern so fine that it cannot contain letters. */
export function isTexture({ width, height, channels, data }: Bitmap): boolean {
  if (channels !== 1 || width < 2 || height < 2) return false
  const threshold = findThreshold(data)
  let changes = 0
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const index = y * width + x
      const isLight = (data[index] ?? 0) > threshold
      if (x > 0 && (data[index - 1] ?? 0) > threshold !== isLight) changes++
      if (y > 0 && (data[index - width] ?? 0) > threshold !== isLight) changes++
    }
  }
  return changes > width * height * MAX_CHANGE_FRACTION
}

/**
 * The grey between ink and paper: the middle between the means of the darker and the lighter pixels (Ridler & Calvard
 * 1978).
 */
function findThreshold(data: Uint8Array): number {
  const counts = new Uint32Array(256)
  for (const value of data) counts[value] = (counts[value] ?? 0) + 1
  const mean = (from: number, to: number): number => {
    let sum = 0
    let count = 0
    for (let value = from; value < to; value++) {
      sum += value * (counts[value] ?? 0)
      count += counts[value] ?? 0
    }
    return count === 0 ? from : sum / count
  }
  const darkest = counts.findIndex((count) => count > 0)
  const lightest = counts.findLastIndex((count) => count > 0)
  let threshold = (darkest + lightest) / 2
  for (let round = 0; round < 8; round++) {
    const split = Math.floor(threshold) + 1
    threshold = (mean(0, split) + mean(split, 256)) / 2
  }
  return threshold
}
