import type { Bitmap } from '../render/bitmap.js'

/** Rotates a grey bitmap clockwise by 90, 180 or 270 degrees. */
export function turned(bitmap: Bitmap, degrees: number): Bitmap {
  const { width, height, data } = bitmap
  if (degrees % 360 === 0) return bitmap
  const sideways = degrees % 180 !== 0
  const out = new Uint8Array(data.length)
  const across = sideways ? height : width
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const value = data[y * width + x] ?? 0
      if (degrees === 90) out[x * across + (height - 1 - y)] = value
      else if (degrees === 180) out[(height - 1 - y) * across + (width - 1 - x)] = value
      else out[(width - 1 - x) * across + y] = value
    }
  }
  return { width: across, height: sideways ? width : height, channels: 1, data: out }
}

/** Mirrors a grey bitmap horizontally. */
export function mirrored(bitmap: Bitmap): Bitmap {
  const { width, height, data } = bitmap
  const out = new Uint8Array(data.length)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) out[y * width + x] = data[(y + 1) * width - 1 - x] ?? 0
  }
  return { width, height, channels: 1, data: out }
}

/** Copies a rectangle of a grey bitmap. */
export function cropped(bitmap: Bitmap, left: number, top: number, width: number, height: number): Bitmap {
  const out = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    const from = (top + y) * bitmap.width + left
    out.set(bitmap.data.subarray(from, from + width), y * width)
  }
  return { width, height, channels: 1, data: out }
}

/** Scales a grey bitmap by linear interpolation. To shrink to less than half, see `decodeGrey`. */
export function scaled(bitmap: Bitmap, factor: number): Bitmap {
  const width = Math.max(1, Math.round(bitmap.width * factor))
  const height = Math.max(1, Math.round(bitmap.height * factor))
  const out = new Uint8Array(width * height)
  const columns = weights(width, bitmap.width)
  const rows = weights(height, bitmap.height)
  const { data } = bitmap
  for (let y = 0; y < height; y++) {
    const above = (rows.first[y] ?? 0) * bitmap.width
    const below = (rows.second[y] ?? 0) * bitmap.width
    const down = rows.share[y] ?? 0
    for (let x = 0; x < width; x++) {
      const left = columns.first[x] ?? 0
      const right = columns.second[x] ?? 0
      const share = columns.share[x] ?? 0
      const top = (data[above + left] ?? 0) * (1 - share) + (data[above + right] ?? 0) * share
      const bottom = (data[below + left] ?? 0) * (1 - share) + (data[below + right] ?? 0) * share
      out[y * width + x] = top * (1 - down) + bottom * down + 0.5
    }
  }
  return { width, height, channels: 1, data: out }
}

interface Weights {
  first: Int32Array
  second: Int32Array
  share: Float32Array
}

/** For each target pixel of a line its two source neighbours, and the weight of the second. */
function weights(to: number, from: number): Weights {
  const first = new Int32Array(to)
  const second = new Int32Array(to)
  const share = new Float32Array(to)
  for (let i = 0; i < to; i++) {
    const place = Math.min(from - 1, Math.max(0, ((i + 0.5) * from) / to - 0.5))
    first[i] = Math.floor(place)
    second[i] = Math.min(from - 1, Math.floor(place) + 1)
    share[i] = place - Math.floor(place)
  }
  return { first, second, share }
}

/** Converts from the orientation of the camera (EXIF, 1 to 8) to upright. */
export function upright(bitmap: Bitmap, orientation: number): Bitmap {
  if (orientation === 2) return mirrored(bitmap)
  if (orientation === 3) return turned(bitmap, 180)
  if (orientation === 4) return turned(mirrored(bitmap), 180)
  if (orientation === 5) return turned(mirrored(bitmap), 270)
  if (orientation === 6) return turned(bitmap, 90)
  if (orientation === 7) return turned(mirrored(bitmap), 90)
  if (orientation === 8) return turned(bitmap, 270)
  return bitmap
}
