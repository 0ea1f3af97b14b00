import { disableTypes, imageSize } from 'image-size'

/** Pixels of a picture, as its own header claims them. */
export interface PixelSize {
  width: number
  height: number
}

/** What can be drawn again at another size; the size of anything else is nobody's concern. */
const MEASURED = new Set(['png', 'jpg', 'gif', 'webp', 'bmp', 'tiff'])

// those readers walk through containers of boxes, which is more than a header
disableTypes([
  'heif',
  'jxl',
  'jxl-stream',
  'icns',
  'jp2',
  'svg',
  'psd',
  'ktx',
  'pnm',
  'dds',
  'cur',
  'ico',
  'tga',
  'j2c',
])

/** The pixels that a picture says it has; nothing for what is no picture of a known kind. Nothing is decoded. */
export function sizeOfPicture(bytes: Uint8Array): PixelSize | undefined {
  try {
    const { width, height, type } = imageSize(bytes)
    if (type === undefined || !MEASURED.has(type)) return undefined
    if (!Number.isInteger(width) || !Number.isInteger(height) || width < 1 || height < 1) return undefined
    return { width, height }
  } catch {
    return undefined
  }
}
