import type { Bitmap } from '../render/bitmap.js'

/** Rotates a grey bitmap clockwise by 90, 180 or 270 degrees. */
export function rotateBitmap(bitmap: Bitmap, degrees: number): Bitmap {
  const { width, height, data } = bitmap
  if (degrees % 360 === 0) return bitmap
  const isSideways = degrees % 180 !== 0
  const out = new Uint8Array(data.length)
  const across = isSideways ? height : width
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const value = data[y * width + x] ?? 0
      if (degrees === 90) out[x * across + (height - 1 - y)] = value
      else if (degrees === 180) out[(height - 1 - y) * across + (width - 1 - x)] = value
      else out[(width - 1 - x) * across + y] = value
    }
  }
  return { width: across, height: isSideways ? width : height, channels: 1, data: out }
}

/** Mirrors a grey bitmap horizontally. */
function mirrorBitmap(bitmap: Bitmap): Bitmap {
  const { width, height, data } = bitmap
  const out = new Uint8Array(data.length)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) out[y * width + x] = data[(y + 1) * width - 1 - x] ?? 0
  }
  return { width, height, channels: 1, data: out }
}

interface PixelBox {
  left: number
  top: number
  width: number
  height: number
}

/** Copies a rectangle of a grey bitmap. */
export function cropBitmap(bitmap: Bitmap, { left, top, width, height }: PixelBox): Bitmap {
  const out = new Uint8Array(width * height)
  for (let y = 0; y < height; y++) {
    const from = (top + y) * bitmap.width + left
    out.set(bitmap.data.subarray(from, from + width), y * width)
  }
  return { width, height, channels: 1, data: out }
}

/** Scales a grey bitmap by linear interpolation. To shrink to less than half, see `decodeGrey`. */
export function scaleBitmap(bitmap: Bitmap, factor: number): Bitmap {
  const width = Math.max(1, Math.round(bitmap.width * factor))
  const height = Math.max(1, Math.round(bitmap.height * factor))
  const out = new Uint8Array(width * height)
  const columns = computeWeights(width, bitmap.width)
  const rows = computeWeights(height, bitmap.height)
  const { data } = bitmap
  for (let y = 0; y < height; y++) {
    const above = (rows.first[y] ?? 0) * bitmap.width
    const below = (rows.second[y] ?? 0) * bitmap.width
    const down = rows.secondWeights[y] ?? 0
    for (let x = 0; x < width; x++) {
      const left = columns.first[x] ?? 0
      const right = columns.second[x] ?? 0
      const fraction = columns.secondWeights[x] ?? 0
      const top = (data[above + left] ?? 0) * (1 - fraction) + (data[above + right] ?? 0) * fraction
      const bottom = (data[below + left] ?? 0) * (1 - fraction) + (data[below + right] ?? 0) * fraction
      out[y * width + x] = top * (1 - down) + bottom * down + 0.5
    }
  }
  return { width, height, channels: 1, data: out }
}

interface InterpolationWeights {
  first: Int32Array
  second: Int32Array
  secondWeights: Float32Array
}

/** For each target pixel of a line its two source neighbours, and the weight of the second. */
function computeWeights(targetLength: number, sourceLength: number): InterpolationWeights {
  const first = new Int32Array(targetLength)
  const second = new Int32Array(targetLength)
  const secondWeights = new Float32Array(targetLength)
  for (let i = 0; i < targetLength; i++) {
    const position = Math.min(sourceLength - 1, Math.max(0, ((i + 0.5) * sourceLength) / targetLength - 0.5))
    first[i] = Math.floor(position)
    second[i] = Math.min(sourceLength - 1, Math.floor(position) + 1)
    secondWeights[i] = position - Math.floor(position)
  }
  return { first, second, secondWeights }
}

/** Converts from the orientation of the camera (EXIF, 1 to 8) to upright. */
export function toUpright(bitmap: Bitmap, orientation: number): Bitmap {
  if (orientation === 2) return mirrorBitmap(bitmap)
  if (orientation === 3) return rotateBitmap(bitmap, 180)
  if (orientation === 4) return rotateBitmap(mirrorBitmap(bitmap), 180)
  if (orientation === 5) return rotateBitmap(mirrorBitmap(bitmap), 270)
  if (orientation === 6) return rotateBitmap(bitmap, 90)
  if (orientation === 7) return rotateBitmap(mirrorBitmap(bitmap), 90)
  if (orientation === 8) return rotateBitmap(bitmap, 270)
  return bitmap
}
