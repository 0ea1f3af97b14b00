import UTIF from 'utif2'
import { ReadError } from '../limits.js'
import { type Bitmap, MAX_PIXELS } from '../render/bitmap.js'
import type { TiffPage } from './tiff.js'

/** Old and new JPEG, and Deflate: the Leptonica of Tesseract is compiled without them for TIFF. */
const OTHER_COMPRESSIONS = [6, 7, 8, 32_946]

/** Whether the compression of a page needs `decodeWithUtif`. */
export function needsUtif({ compression }: TiffPage): boolean {
  return OTHER_COMPRESSIONS.includes(compression)
}

/**
 * Decodes the only page of a TIFF to grey. Pages larger than `MAX_PIXELS` are reduced to a half, a third and so on.
 *
 * @throws ReadError when it cannot be decoded
 */
export function decodeWithUtif(bytes: Uint8Array, page: TiffPage, filename: string): Bitmap {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [directory] = UTIF.decode(buffer)
  if (directory === undefined) throw new ReadError('malformed', `${filename} has a page that cannot be decoded`)
  UTIF.decodeImage(buffer, directory)
  const colours = UTIF.toRGBA8(directory)
  const { width, height } = directory
  if (!(width > 0 && height > 0) || colours.length < width * height * 4 || width * height > page.width * page.height) {
    throw new ReadError('malformed', `${filename} has a page that cannot be decoded`)
  }
  const step = Math.ceil(Math.sqrt((width * height) / MAX_PIXELS))
  const target = { width: Math.floor(width / step), height: Math.floor(height / step) }
  const data = new Uint8Array(target.width * target.height)
  for (let y = 0; y < target.height; y++) {
    for (let x = 0; x < target.width; x++) {
      const offset = (y * step * width + x * step) * 4
      const alpha = (colours[offset + 3] ?? 255) / 255
      const grey =
        0.299 * (colours[offset] ?? 0) + 0.587 * (colours[offset + 1] ?? 0) + 0.114 * (colours[offset + 2] ?? 0)
      data[y * target.width + x] = 255 - (255 - grey) * alpha
    }
  }
  return { ...target, channels: 1, data }
}
