import { formatCount } from '../../../lib/text/pluralize.js'
import { formatByteCount, ReadError } from '../limits.js'
import { destroyPix, type Pix, readPix, type TesseractCore } from '../ocr/core.js'
import { type Bitmap, MAX_PIXELS } from '../render/bitmap.js'

/** Maximal number of pixels: decoded, they would take 200 MB. */
const MAX_DECODED_PIXELS = 50_000_000
/** Maximal encoded size of one picture. */
const MAX_PACKED_BYTES = 128 * 1024 * 1024

/** @throws ReadError when a picture of this size must not be decoded */
export function checkSize({ width, height }: { width: number; height: number }, filename: string): void {
  if (!(width > 0 && height > 0)) throw new ReadError('malformed', `${filename} is a picture without pixels`)
  if (width * height <= MAX_DECODED_PIXELS) return
  throw new ReadError(
    'limit-exceeded',
    `${filename} is a picture of ${formatCount(width)} × ${formatCount(height)} pixels, more than the limit of ${formatCount(MAX_DECODED_PIXELS)} pixels`,
  )
}

/**
 * Decodes PNG, JPEG, GIF (first frame), BMP, WebP, PNM and most TIFF files to grey. Transparent pixels become white.
 * Pictures larger than `MAX_PIXELS` are reduced to a half, a third and so on.
 *
 * Leptonica decodes inside the memory of its WebAssembly, which a hostile file cannot leave.
 *
 * @returns undefined when the picture cannot be decoded
 */
export function decodeGrey(core: TesseractCore, bytes: Uint8Array, filename: string): Bitmap | undefined {
  if (bytes.length > MAX_PACKED_BYTES) {
    throw new ReadError(
      'limit-exceeded',
      `${filename} holds a picture of ${formatByteCount(bytes.length)}, more than the limit of ${formatByteCount(MAX_PACKED_BYTES)}`,
    )
  }
  const { program } = core
  checkSize(readHeaderSize(core, bytes) ?? { width: 1, height: 1 }, filename)
  const address = readPix(core, [bytes])
  if (address === 0) return undefined
  try {
    const pix = program.wrapPointer(address, program.Pix)
    checkSize({ width: pix.get_w(), height: pix.get_h() }, filename)
    return toGrey(core, pix)
  } finally {
    destroyPix(core, address)
  }
}

/**
 * Width and height from the header of the file, before anything is decoded; undefined when the header does not have
 * them.
 */
function readHeaderSize(core: TesseractCore, bytes: Uint8Array): { width: number; height: number } | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // Leptonica decodes a GIF to get its size, and returns no size for a PNG that it would not decode
  if (bytes[0] === 0x89 && bytes.length >= 24) return { width: view.getUint32(16), height: view.getUint32(20) }
  if (bytes[0] === 0x47 && bytes.length >= 10) {
    return { width: view.getUint16(6, true), height: view.getUint16(8, true) }
  }
  const packed = core.allocate(bytes.length)
  core.memory().set(bytes, packed)
  const factsAddress = core.allocate(24)
  try {
    const status = core.program._pixReadHeaderMem(
      packed,
      bytes.length,
      factsAddress,
      factsAddress + 4,
      factsAddress + 8,
      factsAddress + 12,
      factsAddress + 16,
      factsAddress + 20,
    )
    if (status !== 0) return undefined
    const facts = new DataView(core.memory().buffer)
    return { width: facts.getInt32(factsAddress + 4, true), height: facts.getInt32(factsAddress + 8, true) }
  } finally {
    core.program._free(packed)
    core.program._free(factsAddress)
  }
}

type GreyPixelReader = (row: number, x: number) => number

/** Averages squares of `step` × `step` pixels. */
function toGrey(core: TesseractCore, pix: Pix): Bitmap {
  const width = pix.get_w()
  const height = pix.get_h()
  const step = Math.ceil(Math.sqrt((width * height) / MAX_PIXELS))
  const target = { width: Math.max(1, Math.floor(width / step)), height: Math.max(1, Math.floor(height / step)) }
  const data = new Uint8Array(target.width * target.height)
  const read = createGreyReader(core, pix)
  const start = pix.get_data()
  const stride = pix.get_wpl() * 4
  const blockWidth = Math.min(step, width)
  const blockHeight = Math.min(step, height)
  for (let y = 0; y < target.height; y++) {
    for (let x = 0; x < target.width; x++) {
      let sum = 0
      for (let row = 0; row < blockHeight; row++) {
        const from = start + (y * step + row) * stride
        for (let column = 0; column < blockWidth; column++) sum += read(from, x * step + column)
      }
      data[y * target.width + x] = sum / (blockWidth * blockHeight)
    }
  }
  return { ...target, channels: 1, data }
}

/**
 * Creates a function that reads one pixel as grey. Leptonica stores pixels in 32-bit words, the first one in the
 * highest bits.
 */
function createGreyReader(core: TesseractCore, pix: Pix): GreyPixelReader {
  const memory = core.memory()
  const byteAt = (index: number): number => memory[index] ?? 0
  const depth = pix.get_d()
  if (depth === 32) {
    const hasAlpha = pix.get_spp() === 4
    return (row, x) => {
      const from = row + x * 4
      const grey = luminance(byteAt(from + 3), byteAt(from + 2), byteAt(from + 1))
      return hasAlpha ? overWhite(grey, byteAt(from)) : grey
    }
  }
  if (depth === 16) return (row, x) => byteAt(row + ((x * 2) ^ 2) + 1)
  const value: GreyPixelReader =
    depth === 8
      ? (row, x) => byteAt(row + (x ^ 3))
      : (row, x) => (byteAt(row + (((x * depth) >> 3) ^ 3)) >> (8 - depth - ((x * depth) & 7))) & ((1 << depth) - 1)
  const palette = readGreyPalette(core, pix)
  if (palette !== undefined) return (row, x) => palette[value(row, x)] ?? 0
  if (depth === 8) return value
  const maxValue = (1 << depth) - 1
  // one bit without a palette: a set bit is ink
  return depth === 1 ? (row, x) => (value(row, x) === 1 ? 0 : 255) : (row, x) => (value(row, x) * 255) / maxValue
}

/** The palette of a picture in grey; undefined when it has none. */
function readGreyPalette(core: TesseractCore, pix: Pix): Uint8Array | undefined {
  const map = core.program.getPointer(pix.get_colormap())
  if (map === 0) return undefined
  const view = new DataView(core.memory().buffer)
  const entries = view.getUint32(map, true)
  const count = Math.min(256, view.getInt32(map + 12, true))
  const grey = new Uint8Array(256)
  for (let i = 0; i < count; i++) {
    const from = entries + i * 4
    const opaque = luminance(view.getUint8(from + 2), view.getUint8(from + 1), view.getUint8(from))
    grey[i] = overWhite(opaque, view.getUint8(from + 3))
  }
  return grey
}

function luminance(red: number, green: number, blue: number): number {
  return 0.299 * red + 0.587 * green + 0.114 * blue
}

function overWhite(grey: number, alpha: number): number {
  return 255 - ((255 - grey) * alpha) / 255
}
