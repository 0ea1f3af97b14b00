import { disableTypes, imageSize } from 'image-size'

/** Size of a picture in pixels, as its header claims it. */
export interface PixelSize {
  width: number
  height: number
}

/** Types that can be drawn at another size; the size of other types is not needed. */
const MEASURED_TYPES = new Set(['png', 'jpg', 'gif', 'webp', 'bmp', 'tiff'])

// the readers of these types walk nested containers, more than a header
// biome-ignore format: one line
disableTypes(['heif', 'jxl', 'jxl-stream', 'icns', 'jp2', 'svg', 'psd', 'ktx', 'pnm', 'dds', 'cur', 'ico', 'tga', 'j2c'])

/** Reads the size of a picture from its header, without decoding it; undefined for unknown types. */
export function readPixelSize(bytes: Uint8Array): PixelSize | undefined {
  try {
    const { width, height, type } = imageSize(bytes)
    if (type === undefined || !MEASURED_TYPES.has(type)) return undefined
    if (!Number.isInteger(width) || !Number.isInteger(height) || width < 1 || height < 1) return undefined
    return { width, height }
  } catch {
    return undefined
  }
}
